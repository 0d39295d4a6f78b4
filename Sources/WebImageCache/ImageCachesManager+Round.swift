extension ImageCachesManager {
    /// Asks caches one after the other or all at once, until one has an answer or none is left.
    ///
    /// A cache may answer on any thread, also before the call that asked it has returned: then the thread that asks goes on with
    /// the next one by itself, so that many such caches do not make a deep stack. A second answer of one cache is ignored.
    final class Round<Answer: Sendable>: ImageLoaderOperation {
        typealias Asking =
            @Sendable (
                _ cache: any ImageCaching,
                _ priority: LoadPriority,
                _ answer: @escaping @Sendable (Answer?) -> Void
            ) -> (any WebImageOperation)?

        typealias Completion = @Sendable (Answer?) -> Void

        private struct State {
            /// Nil when the round is over.
            var completion: Completion?
            /// How many caches have been asked.
            var askedCount = 0
            /// Those that were asked and have not answered, and what can be given up of them.
            var pending: [Int: (any WebImageOperation)?] = [:]
            /// Whether a thread is busy asking; it sees what changes meanwhile.
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

        /// Asks the first cache, or all; without any the round is over at once.
        func start() {
            if caches.isEmpty { end(with: nil) } else { askMore() }
        }

        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        /// Ends the round without an answer, and gives up what the caches have under way.
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
                // Two threads may get here in either order; what was said last is to hold.
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
            // An answer that has come already makes the cancel one of something finished: no harm.
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

        /// Ends the round, if it is not over yet and `isDecided` says so. Whether it did.
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
