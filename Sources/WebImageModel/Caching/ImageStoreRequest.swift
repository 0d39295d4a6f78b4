public import FoundationEssentials

/// A request to a cache to store an image.
public struct ImageStoreRequest: Sendable {
    /// The image, for memory; encoded for disk if there is no ``data``.
    public var image: Image?
    /// The encoded bytes, for disk.
    public var data: Data?
    /// User data that is stored with the entry on disk; nil means that of the image.
    public var extendedData: Data?
    /// The validators that the server sent, for revalidation; stored with the entry on disk.
    public var validators: CacheValidators?
    /// The XXH3 of ``data`` if it is known; never 0. Remembered with the validators.
    package var dataHash: UInt64?
    /// The image in about 25 bytes, for a placeholder; stored with the entry on disk.
    public var thumbHash: ThumbHash?
    /// True to leave room in the entry on disk for a record of the images of other sizes that are made from it.
    package var keepsVariants = false
    /// The key.
    public var key: String
    /// The levels to store to.
    public var cacheType: ImageCacheType = .all
    /// The group of loads on all machines that may share the entry: those of managers with an equal ``SourcePolicy``, as far as it decides
    /// what may be loaded. Nil if the entry must not leave this process and its disk: the response is for this user or this network, was
    /// requested with credentials or cookies, changed by a hook, or is of unknown origin.
    public var sharingScope: String?
    /// The time in seconds for which the entry can be used without asking the server, or stale; nil if it does not end.
    public var lifetime: Double?
    /// The options for encoding, if the image must be encoded.
    public var encodeOptions = ImageEncodeOptions()
    /// The coder that encodes, if the image must be encoded; nil means ``ImageCodersManager/shared``.
    public var coder: (any ImageCoder)?

    /// Creates a request to store at all levels.
    public init(key: String, image: Image? = nil, data: Data? = nil) {
        self.key = key
        self.image = image
        self.data = data
    }
}
