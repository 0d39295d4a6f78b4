public import FoundationEssentials

/// Where a loader leaves what it has of a picture that is still arriving, for whoever wants to see it before it is whole.
///
/// Leaving bytes costs nothing but a look when nobody wants them. May be used from any thread, one at a time.
public final class PartialImageData: @unchecked Sendable {
    // Sendable because one lock guards the attempts of all: each download has one of these, and hardly any is told anything.

    /// What was left last.
    package struct Snapshot: Sendable {
        /// All bytes so far.
        package var data: Data
        /// How many there will be; nil when that is not known.
        package var expectedByteCount: Int64?
        /// Tells beginnings apart, of all loads: bytes of another one are another picture.
        package var attempt: Int
    }

    private static let lastAttempt = Lock(0)
    /// 0 until it is asked for.
    private var attempt = 0
    private let wanted: @Sendable () -> Bool
    private let receive: @Sendable (Snapshot) -> Void

    package init(isWanted: @escaping @Sendable () -> Bool, receive: @escaping @Sendable (Snapshot) -> Void) {
        wanted = isWanted
        self.receive = receive
    }

    /// Whether anybody wants to see it; may change at any time.
    public var isWanted: Bool { wanted() }

    /// Says that the picture begins anew: what was left so far is not part of it.
    public func begin() {
        receive(Snapshot(data: Data(), expectedByteCount: nil, attempt: currentAttempt(isNew: true)))
    }

    private func currentAttempt(isNew: Bool) -> Int {
        Self.lastAttempt.withLock { last in
            if isNew || attempt == 0 {
                last += 1
                attempt = last
            }
            return attempt
        }
    }

    /// Leaves all bytes that are there so far. They must not change any more.
    ///
    /// - Parameters:
    ///   - data: from the first byte on.
    ///   - expectedByteCount: how many there will be, if that is known.
    public func update(_ data: Data, expectedByteCount: Int64?) {
        receive(Snapshot(data: data, expectedByteCount: expectedByteCount, attempt: currentAttempt(isNew: false)))
    }
}
