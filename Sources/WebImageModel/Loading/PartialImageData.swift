public import FoundationEssentials

/// The data of an image that is still downloading, which a loader provides for previews.
///
/// Providing data costs only a check if no previews are wanted. May be used from any thread, one at a time.
public final class PartialImageData: @unchecked Sendable {
    // Sendable because one lock guards the attempts of all instances: each download has an instance, and hardly any receives data.

    /// The latest state of the data.
    package struct Snapshot: Sendable {
        /// All bytes so far.
        package var data: Data
        /// The total number of bytes; nil if not known.
        package var expectedByteCount: Int64?
        /// The number of the attempt, unique across all loads: data of another attempt belongs to another image.
        package var attempt: Int
    }

    private static let lastAttempt = Lock(0)
    /// 0 until it is first requested.
    private var attempt = 0
    private let wanted: @Sendable () -> Bool
    private let receive: @Sendable (Snapshot) -> Void

    package init(isWanted: @escaping @Sendable () -> Bool, receive: @escaping @Sendable (Snapshot) -> Void) {
        wanted = isWanted
        self.receive = receive
    }

    /// Indicates whether previews are wanted; may change at any time.
    public var isWanted: Bool { wanted() }

    /// Notifies that the download starts again: data provided so far is not part of it.
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

    /// Provides all bytes received so far. They must not change any more.
    ///
    /// - Parameters:
    ///   - data: from the first byte on.
    ///   - expectedByteCount: the total number of bytes, if known.
    public func update(_ data: Data, expectedByteCount: Int64?) {
        receive(Snapshot(data: data, expectedByteCount: expectedByteCount, attempt: currentAttempt(isNew: false)))
    }
}
