/// A job of a queue that runs when a memory budget admits it (admission control). While it waits it does not occupy a thread.
///
/// It runs first to find out its cost; if the budget has room, it continues at once.
final class BudgetedJob: RunningWork {
    private let queue: WorkQueue
    private let budget: DecodedMemoryBudget
    private let cost: MemoryCost
    /// Indicates whether it continues with pixels that it holds.
    private let isBegun: Bool
    private let patience: WaitAllowance
    private let result: PendingResult<Result<ImageDecodeOptions?, WebImageError>>
    private let priority: Lock<LoadPriority>
    /// The reservation that it continues from; ended once it has requested its own.
    private let former: Lock<MemoryReservation?>

    fileprivate init(
        _ cost: MemoryCost,
        queue: WorkQueue,
        budget: DecodedMemoryBudget,
        priority: LoadPriority,
        isBegun: Bool,
        former: MemoryReservation?,
        body: @escaping WorkQueue.AdmittedBody
    ) {
        self.cost = cost
        self.queue = queue
        self.budget = budget
        self.priority = Lock(priority)
        self.isBegun = isBegun
        patience = former?.patience ?? WaitAllowance()
        self.former = Lock(former)
        result = PendingResult(body)
    }

    fileprivate func start() { enqueue(stage: 0) { [self] in ask(cost.options, attempt: 0) } }

    /// Cancels the job, unless it already runs.
    func cancel() {
        _ = result.cancel()
        withExtendedLifetime(former.withLock { $0.take() }) {}
    }

    /// Changes the priority. Takes only the locks of the queue and the budget, and calls no closures.
    func setPriority(_ priority: LoadPriority) {
        self.priority.withLock { $0 = priority }
        result.setPriority(priority)
    }

    // MARK: On its way

    private func enqueue(stage: Int, _ body: @escaping @Sendable () -> Void) {
        result.attach(queue.submit(priority: priority.withLock { $0 }, body), stage: stage)
    }

    /// - Parameter attempt: the number of times the image was already made smaller.
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
        // Not before: in between, other requests would be refused, as there would be nothing to wait for.
        former.withLock { $0.take() }?.end()
        switch outcome {
        case .answered(let answer): take(answer, options, attempt)
        // Does nothing if it has been answered in the meantime.
        case .waiting(let id): result.attach(Request(id: id, budget: budget), stage: 2 * attempt + 1)
        }
    }

    private struct Request: RunningWork {
        let id: UInt64
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
    /// Called once on a thread of the queue, unless the job is cancelled first, with the options of a decode: the requested ones,
    /// or some that make a smaller image. When it returns, the reservation is released.
    package typealias AdmittedBody = @Sendable (Result<ImageDecodeOptions?, WebImageError>) -> Void

    /// Runs `body` on one of the threads, once a budget admits its cost; like any job while the budget is off. Work that workers
    /// decode runs on the threads of their pool instead (``WorkerPool/queue``).
    ///
    /// The job reports its results with ``DecodedMemoryBudget/made(_:for:)``.
    ///
    /// - Parameter image: the image that the job continues with. Then it goes before jobs that have not begun; and the remainder of
    ///   the calling job's reservation for the image is taken over, or released once the job has requested its own.
    package func submit(
        cost: MemoryCost,
        of budget: DecodedMemoryBudget,
        after image: Image? = nil,
        priority: LoadPriority = .normal,
        _ body: @escaping AdmittedBody
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
