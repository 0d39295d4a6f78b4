/// Calls a caller's progress closure on background threads, so that it may take its time: the threads that find out about progress
/// have others to serve.
///
/// Readings arrive in order, one at a time, and none after the end, which waits for those that are on their way. A closure that
/// cannot keep up misses some.
final class ProgressRelay: Sendable {
    private struct State {
        var body: (@Sendable (LoadProgress) -> Void)?
        var pending: [LoadProgress] = []
        var isRunning = false
        var isOver = false
        var end: (@Sendable () -> Void)?
    }

    /// Readings that wait for the closure; after that many, the latest takes the place of the one before.
    static let capacity = 64

    private let queue: CallbackQueue
    private let state: Lock<State>

    /// A relay to a closure.
    init(queue: CallbackQueue = .global, _ body: @escaping @Sendable (LoadProgress) -> Void) {
        self.queue = queue
        state = Lock(State(body: body))
    }

    /// Leaves readings.
    var receiver: @Sendable (LoadProgress) -> Void { { self.post($0) } }

    /// Leaves a reading. Calls nobody.
    func post(_ progress: LoadProgress) {
        let mustRun = state.withLock { state -> Bool in
            guard !state.isOver else { return false }
            if state.pending.count == Self.capacity { state.pending.removeLast() }
            state.pending.append(progress)
            guard !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        if mustRun { queue.async { self.run() } }
    }

    /// Takes no more readings, and calls `body` after those that are on their way: at once when there are none.
    ///
    /// - Parameter drops: whether readings that have not been delivered are dropped.
    func end(drops: Bool = false, _ body: @escaping @Sendable () -> Void = {}) {
        let (isNow, former) = state.withLock { state -> (Bool, (@Sendable (LoadProgress) -> Void)?) in
            guard !state.isOver else { return (false, nil) }
            state.isOver = true
            if drops { state.pending = [] }
            guard state.isRunning else {
                defer { state.body = nil }
                return (true, state.body)
            }
            state.end = body
            return (false, nil)
        }
        withExtendedLifetime(former) {}
        if isNow { body() }
    }

    private enum Turn {
        case reading(LoadProgress, @Sendable (LoadProgress) -> Void)
        case end((@Sendable () -> Void)?, (@Sendable (LoadProgress) -> Void)?)
        case pause
    }

    private func run() {
        while true {
            switch state.withLock({ Self.turn(&$0) }) {
            case .reading(let progress, let body): body(progress)
            case .end(let end, let body):
                withExtendedLifetime(body) {}
                end?()
                return
            case .pause: return
            }
        }
    }

    private static func turn(_ state: inout State) -> Turn {
        if !state.pending.isEmpty, let body = state.body { return .reading(state.pending.removeFirst(), body) }
        state.isRunning = false
        guard state.isOver else { return .pause }
        defer { (state.end, state.body) = (nil, nil) }
        return .end(state.end, state.body)
    }
}

extension ProgressRelay? {
    /// Ends the relay, if there is one, and calls `completion` after the readings that are on their way. A cancel drops those.
    func end<Value>(_ result: Result<Value, WebImageError>, _ completion: @escaping @Sendable () -> Void) {
        guard let self else { return completion() }
        var isCancelled = false
        if case .failure(let error) = result { isCancelled = error.code == .cancelled }
        self.end(drops: isCancelled, completion)
    }
}
