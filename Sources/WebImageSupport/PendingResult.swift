/// A completion that is called exactly once, by the result or after a cancel, whichever is first.
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

    /// Indicates whether neither the result nor a cancel has arrived yet.
    package var isWanted: Bool { state.withLock { $0.completion != nil } }

    /// Indicates whether the cancel was first.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Delivers the result on the calling thread, unless it was cancelled or delivered before.
    package func finish(_ value: Value) {
        let (completion, work) = state.withLock { $0.end() }
        withExtendedLifetime(work) { completion?(value) }
    }

    /// Cancels the work and returns the completion, which the caller then calls; nil if it was called before.
    package func cancel() -> Completion? {
        let (completion, work) = state.withLock { state in
            if state.completion != nil { state.isCancelled = true }
            return state.end()
        }
        work?.cancel()
        return completion
    }

    /// Changes the priority of the work, if it has not begun.
    package func setPriority(_ priority: LoadPriority) {
        state.withLock { $0.priority = priority }
        applyPriority()
    }

    /// Remembers the work that produces the result. Work of a later stage is kept, in whichever order the calls arrive.
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

    /// Two threads may get here in either order: the priority that was set last wins.
    private func applyPriority() {
        while true {
            let (work, priority) = state.withLock { ($0.work, $0.priority) }
            guard let work, let priority else { return }
            work.setPriority(priority)
            if state.withLock({ $0.priority }) == priority { return }
        }
    }
}
