extension ImageCachesManager {
    /// Queries caches one after the other or all at once, until one has an answer or none is left.
    ///
    /// A cache may answer on any thread, even before the call that queried it has returned: the querying thread then continues with
    /// the next cache in its loop, so that many such caches do not deepen the stack. A second answer of one cache is ignored.
    final class Round<Answer: Sendable>: ImageLoaderOperation {
        typealias Asking =
            @Sendable (
                _ cache: any ImageCaching,
                _ priority: LoadPriority,
                _ answer: @escaping @Sendable (Answer?) -> Void
            ) -> (any WebImageOperation)?

        typealias Completion = @Sendable (Answer?) -> Void

        private struct State {
            /// Nil after the end of the round.
            var completion: Completion?
            /// The number of caches that were queried.
            var askedCount = 0
            /// The queries without an answer, and their operations for cancellation.
            var pending: [Int: (any WebImageOperation)?] = [:]
            /// True while a thread runs the query loop; it sees concurrent changes.
            var isAsking = false
            var isCancelled = false
            var priority: LoadPriority
        }

        private let caches: [any ImageCaching]
        private let width: Int
        private let ask: Asking
        private let state: Lock<State>

        init(
            _ selection: Selection,
            priority: LoadPriority = .normal,
            completion: @escaping Completion,
            asking: @escaping Asking
        ) {
            caches = selection.caches.reversed()
            width = selection.isConcurrent ? .max : 1
            ask = asking
            state = Lock(State(completion: completion, priority: priority))
        }

        /// Queries the first cache, or all; without caches, the round ends at once.
        func start() {
            if caches.isEmpty { end(with: nil) } else { askMore() }
        }

        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        /// Ends the round without an answer, and cancels the running queries.
        func cancel() {
            end(with: nil) { state in
                state.isCancelled = true
                return true
            }
        }

        func setPriority(_ priority: LoadPriority) {
            state.withLock { $0.priority = priority }
            while true {
                let (priority, operations) = state.withLock { ($0.priority, $0.pending.values.compactMap { $0 }) }
                for case let operation as any ImageLoaderOperation in operations { operation.setPriority(priority) }
                // Two threads may get here in either order; the latest priority must win.
                if state.withLock({ $0.priority }) == priority { return }
            }
        }

        private func askMore() {
            let isBusy = state.withLock { state -> Bool in
                defer { state.isAsking = true }
                return state.isAsking
            }
            guard !isBusy else { return }
            while true {
                let next = state.withLock { state -> (Int, LoadPriority)? in
                    guard state.completion != nil, state.askedCount < caches.count, state.pending.count < width else {
                        state.isAsking = false
                        return nil
                    }
                    defer { state.askedCount += 1 }
                    state.pending[state.askedCount] = .some(nil)
                    return (state.askedCount, state.priority)
                }
                guard let (number, priority) = next else { return }
                let operation = ask(caches[number], priority) { [self] in take($0, from: number) }
                if let operation { keep(operation, of: number, priority) }
            }
        }

        private func keep(_ operation: any WebImageOperation, of number: Int, _ priority: LoadPriority) {
            let (isOver, latest) = state.withLock { state -> (Bool, LoadPriority) in
                if state.completion != nil, state.pending[number] != nil { state.pending[number] = operation }
                return (state.completion == nil, state.priority)
            }
            // If the answer is already there, this cancels a finished operation, which has no effect.
            if isOver { return operation.cancel() }
            if latest != priority { setPriority(latest) }
        }

        private func take(_ answer: Answer?, from number: Int) {
            // Released after the lock.
            var operation: (any WebImageOperation)??
            let isOver = end(with: answer) { state in
                operation = state.pending.removeValue(forKey: number)
                let isLast = state.pending.isEmpty && state.askedCount == caches.count
                return operation != nil && (answer != nil || isLast)
            }
            if !isOver { askMore() }
        }

        /// Ends the round, if it has not ended and `isDecided` returns true. Returns whether this call ended it.
        @discardableResult
        private func end(with answer: Answer?, if isDecided: (inout State) -> Bool = { _ in true }) -> Bool {
            let (completion, losers) = state.withLock { state -> (Completion?, [any WebImageOperation]) in
                guard state.completion != nil, isDecided(&state) else { return (nil, []) }
                defer { (state.completion, state.pending) = (nil, [:]) }
                return (state.completion, state.pending.values.compactMap { $0 })
            }
            completion?(answer)
            for loser in losers { loser.cancel() }
            return completion != nil
        }
    }
}
