/// Counts pending writes and notifies waiters of their end.
final class StoreGroup: Sendable {
    private struct State {
        var pending = 0
        var waiters: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// Adds a pending write.
    func enter() { state.withLock { $0.pending += 1 } }

    /// Ends a pending write.
    func leave() {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.pending -= 1
            guard state.pending == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in ready { waiter() }
    }

    /// Calls `body` when no write is pending: at once, or on the thread that ends the last one.
    func whenDone(_ body: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state -> Bool in
            guard state.pending > 0 else { return true }
            state.waiters.append(body)
            return false
        }
        if isDone { body() }
    }
}

/// The contents of original bytes that are to be stored.
struct StoreContents: Sendable {
    /// The full image of the bytes; nil if less was decoded.
    var image: Image?
    /// The coder for an image without bytes, and its options.
    var coder: any ImageCoder
    var encodeOptions: ImageEncodeOptions
    /// The decoded image, at any size, for a ``ThumbHash``.
    var seen: Image?
}

/// Stores the original bytes once, however many decodes use them.
final class StoreOnce: Sendable {
    typealias Body = @Sendable (StoreContents, StoreGroup) -> Void

    private struct State {
        /// Nil once the first caller has it.
        var body: Body?
        var isStarted = false
    }

    private let state: Lock<State>
    private let group = StoreGroup()

    /// - Parameter body: Starts the write, and ends it with `leave()` of the group, which was entered for it.
    init(_ body: @escaping Body) { state = Lock(State(body: body)) }

    /// Starts the write unless another caller has begun to.
    ///
    /// - Parameter note: Called before, if it is started.
    func start(_ contents: StoreContents, noting note: () -> Void) {
        let first = state.withLock { state -> Body? in
            guard let body = state.body else { return nil }
            state.body = nil
            group.enter()
            return body
        }
        guard let first else { return }
        note()
        first(contents, group)
        state.withLock { $0.isStarted = true }
    }

    /// True once the write is started, so that the cache finds the bytes. A caller of ``start(_:noting:)`` that was not the first may return
    /// before: a serializer may take its time.
    var isStarted: Bool { state.withLock { $0.isStarted } }

    /// Calls `body` when the write, if started, has ended.
    func whenDone(_ body: @escaping @Sendable () -> Void) { group.whenDone(body) }
}
