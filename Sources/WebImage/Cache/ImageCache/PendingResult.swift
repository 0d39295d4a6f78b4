/// A completion that is called exactly once, by the result or by a cancel, whichever comes first.
final class PendingResult<Value: Sendable>: Sendable {
    typealias Completion = @Sendable (Value) -> Void

    private struct State {
        var completion: Completion?
        var handle: WorkHandle?
        var stage = 0
        var priority: LoadPriority?
        var isCancelled = false
    }

    private let state: Lock<State>

    init(_ completion: @escaping Completion) { state = Lock(State(completion: completion)) }

    /// Whether neither the result nor a cancel has come yet.
    var isWanted: Bool { state.withLock { $0.completion != nil } }

    /// Whether the cancel came first.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Delivers on the calling thread, if the completion is still there.
    func finish(_ value: Value) {
        let completion = state.withLock { state in
            defer { (state.completion, state.handle) = (nil, nil) }
            return state.completion
        }
        completion?(value)
    }

    /// Takes the work out of its queue and the completion away, which the caller then calls.
    func cancel() -> Completion? {
        let (completion, handle) = state.withLock { state in
            defer { (state.completion, state.handle) = (nil, nil) }
            if state.completion != nil { state.isCancelled = true }
            return (state.completion, state.handle)
        }
        handle?.cancel()
        return completion
    }

    /// Makes the work more or less urgent, as far as it has not begun.
    func setPriority(_ priority: LoadPriority) {
        state.withLock { state in
            state.priority = priority
            state.handle?.setPriority(priority)
        }
    }

    /// Remembers the work that makes the result. That of a later stage stays, whichever comes first.
    func attach(_ handle: WorkHandle, stage: Int = 0) {
        let isLate = state.withLock { state in
            guard state.completion != nil else { return state.isCancelled }
            guard stage >= state.stage else { return false }
            state.handle = handle
            state.stage = stage
            if let priority = state.priority { handle.setPriority(priority) }
            return false
        }
        if isLate { handle.cancel() }
    }

    /// Remembers the job that makes the result.
    func attach(_ item: WorkItem) { attach(WorkHandle(item)) }
}
