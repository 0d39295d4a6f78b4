/// What a server said of bytes that are kept nowhere, held by the images in memory that were made of them.
///
/// All images that come of one decode share it, so that an answer that renews one renews them all.
final class HeldValidators: Sendable {
    private let value: Lock<CacheValidators?>

    /// - Parameter validators: with the hash of what was received.
    init(_ validators: CacheValidators?) { value = Lock(validators) }

    /// What the latest answer said.
    var validators: CacheValidators? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
