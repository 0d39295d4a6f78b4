/// A job of a queue that runs when a budget has room for it. While it waits for that it holds no thread.
///
/// First it runs to find out what it needs; if there is room, it goes on at once.
package final class BudgetedJob: RunningWork {
    /// Called once on a thread of the queue, unless the job is cancelled first, with the options of a decode: those that were asked for, or
    /// some that make less of the picture. When it returns, what was reserved is given back.
    package typealias Body = @Sendable (Result<ImageDecodeOptions?, WebImageError>) -> Void

    private let queue: WorkQueue
    private let budget: DecodedMemoryBudget
    private let cost: MemoryCost
    /// Whether it goes on with pixels that it holds.
    private let isBegun: Bool
    private let patience: MemoryPatience
    private let result: PendingResult<Result<ImageDecodeOptions?, WebImageError>>
    private let priority: Lock<LoadPriority>
    /// What it goes on from; ended once it has asked for more.
    private let former: Lock<MemoryReservation?>

    fileprivate init(
        _ cost: MemoryCost,
        queue: WorkQueue,
        budget: DecodedMemoryBudget,
        priority: LoadPriority,
        isBegun: Bool,
        former: MemoryReservation?,
        body: @escaping Body
    ) {
        self.cost = cost
        self.queue = queue
        self.budget = budget
        self.priority = Lock(priority)
        self.isBegun = isBegun
        patience = former?.patience ?? MemoryPatience()
        self.former = Lock(former)
        result = PendingResult(body)
    }

    fileprivate func start() { enqueue(stage: 0) { [self] in ask(cost.options, attempt: 0) } }

    /// It does not run any more, unless it does already.
    package func cancel() {
        _ = result.cancel()
        withExtendedLifetime(former.withLock { $0.take() }) {}
    }

    /// Takes no lock but those of the queue and the budget, and calls nobody.
    package func setPriority(_ priority: LoadPriority) {
        self.priority.withLock { $0 = priority }
        result.setPriority(priority)
    }

    // MARK: On its way

    private func enqueue(stage: Int, _ body: @escaping @Sendable () -> Void) {
        result.attach(queue.submit(priority: priority.withLock { $0 }, body), stage: stage)
    }

    /// - Parameter attempt: how often it was told to make less of the picture.
    private func ask(_ options: ImageDecodeOptions?, attempt: Int) {
        guard result.isWanted else { return }
        let need: Int
        do throws(WebImageError) { need = try cost.need(options) } catch { return result.finish(.failure(error)) }
        let outcome = budget.request(
            need,
            priority: priority.withLock { $0 },
            domain: cost.domain,
            mayShrink: cost.fixedByteCount == nil,
            isBegun: isBegun,
            patience: patience
        ) { [self] answer in
            enqueue(stage: 2 * attempt + 2) { [self] in take(answer, options, attempt) }
        }
        // Not before: in between others would be told that there is nothing to wait for.
        former.withLock { $0.take() }?.end()
        switch outcome {
        case .answered(let answer): take(answer, options, attempt)
        // If it was answered by now, nothing happens.
        case .waiting(let id): result.attach(Request(id: id, budget: budget), stage: 2 * attempt + 1)
        }
    }

    private struct Request: RunningWork {
        package let id: UInt64
        let budget: DecodedMemoryBudget

        func cancel() { budget.cancel(id) }
        func setPriority(_ priority: LoadPriority) { budget.setPriority(priority, of: id) }
    }

    private func take(_ answer: DecodedMemoryBudget.Answer, _ options: ImageDecodeOptions?, _ attempt: Int) {
        switch answer {
        case .admitted(let reservation): reservation.perform { result.finish(.success(options)) }
        case .refused(let error): result.finish(.failure(error))
        case .smaller(let room):
            let smaller: ImageDecodeOptions
            do throws(WebImageError) {
                smaller = try cost.options(within: room, from: options, attempt: attempt + 1)
            } catch {
                return result.finish(.failure(error))
            }
            ask(smaller, attempt: attempt + 1)
        }
    }
}

extension WorkQueue {
    /// Runs `body` on one of the threads, once a budget has room for what it costs; as any job while the budget is off. What workers decode
    /// runs on the threads of their pool instead (``WorkerPool/queue``).
    ///
    /// What the job makes it tells by ``DecodedMemoryBudget/made(_:for:)``.
    ///
    /// - Parameter image: what it goes on with. Then it comes before what has not begun; and what the job that calls this has left of what
    ///   was reserved for the image is taken over, or given back once it has asked for more.
    package func submit(
        cost: MemoryCost,
        of budget: DecodedMemoryBudget,
        after image: Image? = nil,
        priority: LoadPriority = .normal,
        _ body: @escaping BudgetedJob.Body
    ) -> any RunningWork {
        let queue = cost.queue(else: self)
        guard budget.isOn else {
            let options = cost.options
            return queue.submit(priority: priority) { body(.success(options)) }
        }
        let current = image == nil ? nil : MemoryReservation.current(of: budget)
        if let need = cost.fixedByteCount {
            if let there = current?.handOver(atLeast: need, of: image) {
                return queue.submit(priority: priority) { there.perform { body(.success(nil)) } }
            }
            if case .nothing = cost { return queue.submit(priority: priority) { body(.success(nil)) } }
        }
        let job = BudgetedJob(
            cost,
            queue: queue,
            budget: budget,
            priority: priority,
            isBegun: image != nil,
            former: current?.handOver(of: image),
            body: body
        )
        job.start()
        return job
    }
}
