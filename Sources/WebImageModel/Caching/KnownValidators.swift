/// What a cache knows of an entry on disk beside its picture: enough to judge whether a picture in memory still serves.
public struct KnownValidators: Sendable, Hashable {
    /// What the server gave with the picture; nil when there is an entry, and nothing was given with it.
    public var validators: CacheValidators?
    /// The XXH3 of the bytes as they were received (as `ImageMetadata.sourceHash`); nil when it is not known.
    package var contentHash: UInt64?

    /// What is known of an entry.
    ///
    /// - Parameter validators: what the server gave with it; nil for nothing.
    public init(validators: CacheValidators?) { self.init(validators: validators, contentHash: nil) }

    /// - Parameter contentHash: of the bytes that are stored; those that were received count, where they were others.
    package init(validators: CacheValidators?, contentHash: UInt64?) {
        self.validators = validators
        self.contentHash = validators?.receivedHash ?? contentHash
    }

    /// What an entry that was read tells.
    package init(_ entry: CachedImageData) {
        self.init(validators: entry.validators, contentHash: entry.dataHash.value)
    }
}
