/// A job of a queue that runs when a budget has room for it. While it waits for that it holds no thread.
///
/// First it runs to find out what it needs; if there is room, it goes on at once.
final class BudgetedJob: Sendable {
    /// Called once on a thread of the queue, unless the job is cancelled first, with the options of a decode: those that were asked for, or
    /// some that make less of the picture. When it returns, what was reserved is given back.
    typealias Body = @Sendable (Result<ImageDecodeOptions?, WebImageError>) -> Void

    private struct State {
        /// Nil once it was called, or never will be: it owns what waits for this.
        var body: Body?
        var item: WorkItem?
        var request: UInt64?
        var priority: LoadPriority
        var isOver = false
        var attempts = 0
        /// What it goes on from; ended once it has asked for more.
        var former: MemoryReservation?
    }

    private let queue: WorkQueue
    private let budget: DecodedMemoryBudget
    private let cost: MemoryCost
    /// Whether it goes on with pixels that it holds.
    private let isBegun: Bool
    private let patience: MemoryPatience
    private let state: Lock<State>

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
        self.isBegun = isBegun
        patience = former?.patience ?? MemoryPatience()
        state = Lock(State(body: body, priority: priority, former: former))
    }

    fileprivate func start() { enqueue { [self] in ask(cost.options) } }

    /// It does not run any more, unless it does already.
    func cancel() {
        let (item, request, owned) = state.withLock { state in
            state.isOver = true
            defer { (state.item, state.request, state.body, state.former) = (nil, nil, nil, nil) }
            return (state.item, state.request, (state.body, state.former))
        }
        // What it owns is let go of outside the lock.
        withExtendedLifetime(owned) {}
        item?.cancel()
        if let request { budget.cancel(request) }
    }

    /// Takes no lock but those of the queue and the budget, and calls nobody.
    func setPriority(_ priority: LoadPriority) {
        let (item, request) = state.withLock { state in
            state.priority = priority
            return (state.item, state.request)
        }
        item?.setPriority(priority)
        if let request { budget.setPriority(priority, of: request) }
    }

    // MARK: On its way

    private func enqueue(_ body: @escaping @Sendable () -> Void) {
        let priority = state.withLock { $0.priority }
        let item = queue.submit(priority: priority, body)
        let (isOver, latest) = state.withLock { state in
            if !state.isOver { state.item = item }
            return (state.isOver, state.priority)
        }
        if isOver { item.cancel() } else if latest != priority { item.setPriority(latest) }
    }

    private func ask(_ options: ImageDecodeOptions?) {
        guard !state.withLock({ $0.isOver }) else { return }
        let need: Int
        do throws(WebImageError) { need = try cost.need(options) } catch { return run(.failure(error)) }
        let priority = state.withLock { $0.priority }
        let outcome = budget.request(
            need,
            priority: priority,
            domain: cost.domain,
            mayShrink: cost.fixedByteCount == nil,
            isBegun: isBegun,
            patience: patience
        ) { [self] answer in
            enqueue { [self] in take(answer, options) }
        }
        // Not before: in between others would be told that there is nothing to wait for.
        state.withLock { $0.former.take() }?.end()
        switch outcome {
        case .answered(let answer): take(answer, options)
        case .waiting(let request):
            // If it was answered by now, nothing happens.
            let (isOver, latest) = state.withLock { state in
                if !state.isOver { state.request = request }
                return (state.isOver, state.priority)
            }
            if isOver { budget.cancel(request) } else if latest != priority { budget.setPriority(latest, of: request) }
        }
    }

    private func take(_ answer: DecodedMemoryBudget.Answer, _ options: ImageDecodeOptions?) {
        switch answer {
        case .admitted(let reservation): reservation.perform { run(.success(options)) }
        case .refused(let error): run(.failure(error))
        case .smaller(let room):
            let attempt = state.withLock { state in
                state.attempts += 1
                return state.attempts
            }
            let smaller: ImageDecodeOptions
            do throws(WebImageError) {
                smaller = try cost.options(within: room, from: options, attempt: attempt)
            } catch {
                return run(.failure(error))
            }
            ask(smaller)
        }
    }

    private func run(_ result: Result<ImageDecodeOptions?, WebImageError>) {
        let body = state.withLock { state -> Body? in
            defer { (state.isOver, state.body) = (true, nil) }
            return state.isOver ? nil : state.body
        }
        body?(result)
    }
}

/// Work that was given to a queue, by way of a budget if one is on.
enum BudgetedItem: RunningWork {
    case plain(WorkItem)
    case budgeted(BudgetedJob)

    func cancel() {
        switch self {
        case .plain(let item): item.cancel()
        case .budgeted(let job): job.cancel()
        }
    }

    func setPriority(_ priority: LoadPriority) {
        switch self {
        case .plain(let item): item.setPriority(priority)
        case .budgeted(let job): job.setPriority(priority)
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
    func submit(
        cost: MemoryCost,
        of budget: DecodedMemoryBudget,
        after image: Image? = nil,
        priority: LoadPriority = .normal,
        _ body: @escaping BudgetedJob.Body
    ) -> BudgetedItem {
        let queue = cost.queue(else: self)
        guard budget.isOn else {
            let options = cost.options
            return .plain(queue.submit(priority: priority) { body(.success(options)) })
        }
        let current = image == nil ? nil : MemoryReservation.current(of: budget)
        if let need = cost.fixedByteCount {
            if let there = current?.handOver(atLeast: need, of: image) {
                return .plain(queue.submit(priority: priority) { there.perform { body(.success(nil)) } })
            }
            if case .nothing = cost { return .plain(queue.submit(priority: priority) { body(.success(nil)) }) }
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
        return .budgeted(job)
    }
}
