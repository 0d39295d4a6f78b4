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

    private let body: Lock<Body?>
    private let group = StoreGroup()

    /// - Parameter body: Starts the write, and ends it with `leave()` of the group, which was entered for it.
    init(_ body: @escaping Body) { self.body = Lock(body) }

    /// Starts the write unless it was started before.
    func start(_ contents: StoreContents) {
        let first = body.withLock { body -> Body? in
            defer { body = nil }
            return body
        }
        guard let first else { return }
        group.enter()
        first(contents, group)
    }

    /// True until the write is started.
    var isPending: Bool { body.withLock { $0 != nil } }

    /// Calls `body` when the write, if started, has ended.
    func whenDone(_ body: @escaping @Sendable () -> Void) { group.whenDone(body) }
}
