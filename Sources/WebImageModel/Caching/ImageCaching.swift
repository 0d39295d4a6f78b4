public import FoundationEssentials

/// What a disk cache holds for a key.
public struct CachedImageData: Sendable, Hashable {
    /// The encoded picture, byte for byte as it was stored.
    public var data: Data { didSet { dataHash.value = nil } }
    /// The XXH3 of the bytes where somebody has computed it, never 0; nil when it is not known.
    package var dataHash = Uncompared<UInt64?>(value: nil)
    /// Bytes of the user's that were stored with it.
    public var extendedData: Data?
    /// What the server gave to ask it later for a newer picture.
    public var validators: CacheValidators?
    /// The picture in about 25 bytes, for a placeholder; nil when none was made.
    public var thumbHash: ThumbHash?

    /// An entry's content.
    public init(
        data: Data,
        extendedData: Data? = nil,
        validators: CacheValidators? = nil,
        thumbHash: ThumbHash? = nil
    ) {
        self.thumbHash = thumbHash
        self.data = data
        self.extendedData = extendedData
        self.validators = validators
    }
}

/// A cache that the manager can work with; ``ImageCache`` is the library's own.
///
/// Completions run on a thread of the cache's choosing, exactly once, also after a cancel and also when nothing was there.
public protocol ImageCaching: AnyObject, Sendable {
    /// The image in memory. Called on any thread, the main one included: must neither block nor take long.
    func memoryImage(forKey key: String) -> Image?

    /// Reads the entry on disk, away from the caller's thread; nil when there is none. A cancelled query that has not
    /// started answers nil. A returned operation that is an ``ImageLoaderOperation`` is told of changes of the priority.
    @discardableResult
    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation

    /// Reads the entry on disk on the caller's thread.
    func diskEntry(forKey key: String) -> CachedImageData?

    /// Stores. Memory is written before the call returns. For disk, the request's data is written if given, else the image is
    /// encoded by the request's coder (in its own format if that can be written, else PNG with alpha and JPEG without).
    /// `completion` is called when everything asked for has been stored or given up; a failed write is not an error, the entry
    /// is just not there.
    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?)

    /// Puts other validators to the entry on disk, in place of what was there, away from the caller's thread; nil takes them
    /// away. Bytes and times of the entry stay. Has no effect without an entry. By default nothing is done: the entry is
    /// then refreshed with the validators that it has.
    func amend(validators: CacheValidators?, forKey key: String)

    /// What is known of the entry on disk without looking there; nil when nothing is. Called on any thread, the main one
    /// included: must neither block nor take long. By default nothing is known.
    func knownValidators(forKey key: String) -> KnownValidators?

    /// Reads what is stored with the entry on disk, away from the caller's thread; nil when there is no entry. A cancelled query
    /// that has not started answers nil. By default the whole entry is read.
    @discardableResult
    func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (KnownValidators?) -> Void
    ) -> any WebImageOperation

    /// Removes one entry.
    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?)

    /// Returns the first level, memory or disk, that has the key.
    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    )

    /// Removes everything.
    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?)
}

extension ImageCaching {
    /// Stores an image, its encoded bytes, or both; see ``store(_:completion:)``. ``ImageCodersManager/shared`` encodes, unless a
    /// coder is given.
    public func store(
        _ image: Image?,
        data: Data?,
        forKey key: String,
        to cacheType: ImageCacheType,
        encodeOptions: ImageEncodeOptions,
        coder: (any ImageCoder)? = nil,
        completion: (@Sendable () -> Void)?
    ) {
        var request = ImageStoreRequest(key: key, image: image, data: data)
        request.cacheType = cacheType
        request.encodeOptions = encodeOptions
        request.coder = coder
        store(request, completion: completion)
    }

    /// Does nothing.
    public func amend(validators: CacheValidators?, forKey key: String) {}

    /// Nil.
    public func knownValidators(forKey key: String) -> KnownValidators? { nil }

    /// Reads the whole entry.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (KnownValidators?) -> Void
    ) -> any WebImageOperation {
        queryDisk(forKey: key, priority: priority) { completion($0.map { KnownValidators($0) }) }
    }
}
