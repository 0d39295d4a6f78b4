public import FoundationEssentials

/// What a cache is asked to store.
public struct ImageStoreRequest: Sendable {
    /// The image, for memory; encoded for disk when there is no ``data``.
    public var image: Image?
    /// The encoded bytes, for disk.
    public var data: Data?
    /// Bytes of the user's that are stored with the entry on disk; nil means those of the image.
    public var extendedData: Data?
    /// What the server gave to ask it later for a newer picture; stored with the entry on disk.
    public var validators: CacheValidators?
    /// The XXH3 of ``data``, where it is known; never 0. It is remembered with the validators.
    package var dataHash: UInt64?
    /// The picture in about 25 bytes, for a placeholder; stored with the entry on disk.
    public var thumbHash: ThumbHash?
    /// The key.
    public var key: String
    /// The levels to store to.
    public var cacheType: ImageCacheType = .all
    /// How to encode, if that is needed.
    public var encodeOptions = ImageEncodeOptions()
    /// What encodes, if that is needed; nil means ``ImageCodersManager/shared``.
    public var coder: (any ImageCoder)?

    /// A request to store at all levels.
    public init(key: String, image: Image? = nil, data: Data? = nil) {
        self.key = key
        self.image = image
        self.data = data
    }
}
