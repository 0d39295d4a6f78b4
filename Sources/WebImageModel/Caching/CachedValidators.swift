/// The metadata of an entry on disk, without its image: enough to decide whether an image in memory can still be used.
public struct CachedValidators: Sendable, Hashable {
    /// The validators that the server sent with the image; nil if there is an entry, but no validators.
    public var validators: CacheValidators?
    /// The XXH3 of the bytes as received (as `ImageMetadata.sourceHash`); nil if it is not known.
    package var contentHash: UInt64?

    /// Creates the metadata of an entry.
    ///
    /// - Parameter validators: the validators that the server sent; nil for none.
    public init(validators: CacheValidators?) { self.init(validators: validators, contentHash: nil) }

    /// - Parameter contentHash: the hash of the stored bytes; replaced by that of the received bytes if those were different.
    package init(validators: CacheValidators?, contentHash: UInt64?) {
        self.validators = validators
        self.contentHash = validators?.receivedHash ?? contentHash
    }

    /// Creates the metadata of an entry that was read.
    package init(_ entry: CachedImageData) {
        self.init(validators: entry.validators, contentHash: entry.dataHash.value)
    }
}
