/// Counts writes that are under way and tells those who want to wait for them.
final class StoreGroup: Sendable {
    private struct State {
        var pending = 0
        var waiters: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// One more write.
    func enter() { state.withLock { $0.pending += 1 } }

    /// One write has ended.
    func leave() {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.pending -= 1
            guard state.pending == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in ready { waiter() }
    }

    /// Calls `body` when no write is under way: at once, or on the thread that ends the last.
    func whenDone(_ body: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state -> Bool in
            guard state.pending > 0 else { return true }
            state.waiters.append(body)
            return false
        }
        if isDone { body() }
    }
}

/// What is known of original bytes when they are to be stored.
struct StoreContents: Sendable {
    /// The whole picture that the bytes are; nil when less than that was decoded.
    var image: Image?
    /// What encodes a picture that has no bytes, and how.
    var coder: any ImageCoder
    var encodeOptions: ImageEncodeOptions
    /// What was decoded of the bytes, at whatever size, for a ``ThumbHash``.
    var seen: Image?
}

/// Stores the original bytes the first time it is asked to, however many decodes they go through.
final class StoreOnce: Sendable {
    typealias Body = @Sendable (StoreContents, StoreGroup) -> Void

    private let body: Lock<Body?>
    private let group = StoreGroup()

    /// - Parameter body: starts the write of what the bytes were decoded to, and ends it with `leave()` of the group, which has
    ///   been entered for it.
    init(_ body: @escaping Body) { self.body = Lock(body) }

    /// Starts the write if it has not been started.
    func start(_ contents: StoreContents) {
        let first = body.withLock { body -> Body? in
            defer { body = nil }
            return body
        }
        guard let first else { return }
        group.enter()
        first(contents, group)
    }

    /// Whether nobody has started the write.
    var isPending: Bool { body.withLock { $0 != nil } }

    /// Calls `body` when the write, if it was started, has ended.
    func whenDone(_ body: @escaping @Sendable () -> Void) { group.whenDone(body) }
}
