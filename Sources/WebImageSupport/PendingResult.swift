/// A completion that is called exactly once, by the result or by a cancel, whichever comes first.
package final class PendingResult<Value: Sendable>: Sendable {
    package typealias Completion = @Sendable (Value) -> Void

    private struct State {
        var completion: Completion?
        var work: (any RunningWork)?
        var stage = 0
        var priority: LoadPriority?
        var isCancelled = false

        /// Both are released outside the lock.
        mutating func end() -> (Completion?, (any RunningWork)?) {
            defer { (completion, work) = (nil, nil) }
            return (completion, work)
        }
    }

    private let state: Lock<State>

    package init(_ completion: @escaping Completion) { state = Lock(State(completion: completion)) }

    /// Whether neither the result nor a cancel has come yet.
    package var isWanted: Bool { state.withLock { $0.completion != nil } }

    /// Whether the cancel came first.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Delivers on the calling thread, if the completion is still there.
    package func finish(_ value: Value) {
        let (completion, work) = state.withLock { $0.end() }
        withExtendedLifetime(work) { completion?(value) }
    }

    /// Cancels the work and takes the completion away, which the caller then calls.
    package func cancel() -> Completion? {
        let (completion, work) = state.withLock { state in
            if state.completion != nil { state.isCancelled = true }
            return state.end()
        }
        work?.cancel()
        return completion
    }

    /// Makes the work more or less urgent, as far as it has not begun.
    package func setPriority(_ priority: LoadPriority) {
        state.withLock { $0.priority = priority }
        applyPriority()
    }

    /// Remembers the work that makes the result. That of a later stage stays, whichever comes first.
    package func attach(_ work: any RunningWork, stage: Int = 0) {
        let (isLate, former) = state.withLock { state -> (Bool, (any RunningWork)?) in
            guard state.completion != nil else { return (state.isCancelled, nil) }
            guard stage >= state.stage else { return (false, nil) }
            defer { (state.work, state.stage) = (work, stage) }
            return (false, state.work)
        }
        withExtendedLifetime(former) {}
        if isLate { work.cancel() } else { applyPriority() }
    }

    /// Two threads may get here in either order: the priority that was set last is the one that holds.
    private func applyPriority() {
        while true {
            let (work, priority) = state.withLock { ($0.work, $0.priority) }
            guard let work, let priority else { return }
            work.setPriority(priority)
            if state.withLock({ $0.priority }) == priority { return }
        }
    }
}
