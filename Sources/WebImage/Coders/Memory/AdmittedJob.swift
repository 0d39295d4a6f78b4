/// What a budget has let in.
struct DecodeAdmission: Sendable {
    /// Those that were asked for, or some that make less of the picture.
    var options: ImageDecodeOptions
    /// Nil when no budget is on.
    var reservation: MemoryReservation?
}

/// A job of a queue that runs when a budget has room for it. While it waits for that it holds no thread.
///
/// First it runs to find out what it needs; if there is room, it goes on at once.
final class AdmittedJob: Sendable {
    /// Called once on a thread of the queue, unless the job is cancelled first.
    typealias Body = @Sendable (Result<DecodeAdmission, WebImageError>) -> Void

    private struct State {
        /// Nil once it was called, or never will be: it owns what waits for this.
        var body: Body?
        var item: WorkItem?
        var request: UInt64?
        var priority: LoadPriority
        var isOver = false
        /// Whether a thread is just asking, to which an answer is left.
        var isAsking = false
        var answer: DecodedMemoryBudget.Answer?
        var attempts = 0
        /// What it goes on from; ended once it has asked for more.
        var former: MemoryReservation?
    }

    /// How often something smaller is tried: each time there may be less room.
    private static let mostAttempts = 8

    private let queue: WorkQueue
    private let budget: DecodedMemoryBudget
    private let demand: MemoryDemand
    /// Whether it goes on with pixels that it holds.
    private let isBegun: Bool
    private let patience: MemoryPatience
    private let state: Lock<State>

    init(
        _ demand: MemoryDemand,
        queue: WorkQueue,
        budget: DecodedMemoryBudget,
        priority: LoadPriority,
        isBegun: Bool,
        former: MemoryReservation?,
        body: @escaping Body
    ) {
        self.demand = demand
        self.queue = queue
        self.budget = budget
        self.isBegun = isBegun
        patience = former?.patience ?? MemoryPatience()
        state = Lock(State(body: body, priority: priority, former: former))
    }

    func start() { enqueue { [self] in ask(demand.options) } }

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

    private func ask(_ options: ImageDecodeOptions) {
        guard !state.withLock({ $0.isOver }) else { return }
        let need: Int
        do throws(WebImageError) { need = try demand.need(options) } catch { return end(.failure(error)) }
        let priority = state.withLock { state in
            state.isAsking = true
            return state.priority
        }
        let request = budget.request(
            need,
            priority: priority,
            domain: demand.domain,
            mayShrink: demand.mayShrink,
            isBegun: isBegun,
            patience: patience
        ) { [self] answer in
            answered(answer, options)
        }
        // Not before: in between others would be told that there is nothing to wait for.
        state.withLock { $0.former.take() }?.end()
        let (answer, isOver, latest) = state.withLock { state in
            state.isAsking = false
            defer { state.answer = nil }
            if state.answer == nil, !state.isOver { state.request = request }
            return (state.answer, state.isOver, state.priority)
        }
        if let answer {
            take(answer, options)
        } else if isOver {
            budget.cancel(request)
        } else if latest != priority {
            budget.setPriority(latest, of: request)
        }
    }

    private func answered(_ answer: DecodedMemoryBudget.Answer, _ options: ImageDecodeOptions) {
        let isLeft = state.withLock { state in
            state.request = nil
            if state.isAsking { state.answer = answer }
            return state.isAsking
        }
        if !isLeft { enqueue { [self] in take(answer, options) } }
    }

    private func take(_ answer: DecodedMemoryBudget.Answer, _ options: ImageDecodeOptions) {
        let attempts = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        switch answer {
        case .admitted(let reservation): end(.success(DecodeAdmission(options: options, reservation: reservation)))
        case .refused(let error): end(.failure(error))
        case .smaller(let room):
            if attempts < Self.mostAttempts, let smaller = demand.options(within: room, from: options) {
                return ask(smaller)
            }
            let need = (try? demand.need(demand.options)) ?? .max
            end(.failure(.memoryBudgetExceeded(allowed: room, required: need)))
        }
    }

    private func end(_ result: Result<DecodeAdmission, WebImageError>) {
        let body = state.withLock { state -> Body? in
            defer { (state.isOver, state.body) = (true, nil) }
            return state.isOver ? nil : state.body
        }
        body?(result)
    }
}

/// Work that was given to a queue, by way of a budget if one is on.
enum AdmittedItem: RunningWork {
    case plain(WorkItem)
    case admitted(AdmittedJob)

    func cancel() {
        switch self {
        case .plain(let item): item.cancel()
        case .admitted(let job): job.cancel()
        }
    }

    func setPriority(_ priority: LoadPriority) {
        switch self {
        case .plain(let item): item.setPriority(priority)
        case .admitted(let job): job.setPriority(priority)
        }
    }
}

extension WorkQueue {
    /// Runs `body` on one of the threads, once the budget has room for it; as any job when the budget is off. What workers decode runs on
    /// the threads of their pool instead (``WorkerPool/queue``).
    ///
    /// - Parameters:
    ///   - isBegun: whether it goes on with pixels that it holds, so that it comes before what has not begun.
    ///   - former: what it has of the budget, which is ended once it has asked.
    func submit(
        _ demand: MemoryDemand,
        to budget: DecodedMemoryBudget,
        priority: LoadPriority = .normal,
        isBegun: Bool = false,
        former: MemoryReservation? = nil,
        _ body: @escaping AdmittedJob.Body
    ) -> AdmittedItem {
        let queue = demand.queue(else: self)
        if budget.isOn, !demand.isNothing {
            let job = AdmittedJob(
                demand,
                queue: queue,
                budget: budget,
                priority: priority,
                isBegun: isBegun,
                former: former,
                body: body
            )
            job.start()
            return .admitted(job)
        }
        former?.end()
        let options = demand.options
        return .plain(queue.submit(priority: priority) { body(.success(DecodeAdmission(options: options))) })
    }
}
