public import FoundationEssentials

/// Where a loader leaves what it has of a picture that is still arriving, for whoever wants to see it before it is whole.
///
/// Leaving bytes costs nothing but a look when nobody wants them. May be used from any thread, one at a time.
public final class PartialImageData: Sendable {
    /// What was left last.
    struct Snapshot: Sendable {
        /// All bytes so far.
        var data: Data
        /// How many there will be; nil when that is not known.
        var expectedByteCount: Int64?
        /// Tells beginnings apart, of all loads: bytes of another one are another picture.
        var attempt: Int
    }

    private static let lastAttempt = Counter()
    private let attempt = Lock(PartialImageData.lastAttempt.add())
    private let wanted: @Sendable () -> Bool
    private let receive: @Sendable (Snapshot) -> Void

    init(isWanted: @escaping @Sendable () -> Bool, receive: @escaping @Sendable (Snapshot) -> Void) {
        wanted = isWanted
        self.receive = receive
    }

    /// Whether anybody wants to see it; may change at any time.
    public var isWanted: Bool { wanted() }

    /// Says that the picture begins anew: what was left so far is not part of it.
    public func begin() {
        let attempt = Self.lastAttempt.add()
        self.attempt.withLock { $0 = attempt }
        receive(Snapshot(data: Data(), expectedByteCount: nil, attempt: attempt))
    }

    /// Leaves all bytes that are there so far. They must not change any more.
    ///
    /// - Parameters:
    ///   - data: from the first byte on.
    ///   - expectedByteCount: how many there will be, if that is known.
    public func update(_ data: Data, expectedByteCount: Int64?) {
        receive(Snapshot(data: data, expectedByteCount: expectedByteCount, attempt: attempt.withLock { $0 }))
    }
}
