public import FoundationEssentials

/// The content of a disk cache entry.
public struct CachedImageData: Sendable, Hashable {
    /// The encoded image, byte for byte as it was stored.
    public var data: Data { didSet { dataHash.value = nil } }
    /// The XXH3 of the bytes if it has been computed, never 0; nil if it is not known.
    package var dataHash = IgnoredInEquality<UInt64?>(value: nil)
    /// User data that was stored with the image.
    public var extendedData: Data?
    /// The validators that the server sent, for revalidation.
    public var validators: CacheValidators?
    /// The image in about 25 bytes, for a placeholder; nil if none was made.
    public var thumbHash: ThumbHash?
    /// The images of other sizes on disk that were made from this one, the oldest first; nil if the entry has no room for them.
    package var variants = IgnoredInEquality<[StoredVariant]?>(value: nil)

    /// Creates the content of an entry.
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

/// A cache that the manager can use; ``ImageCache`` is the library's implementation.
///
/// Completions run on a thread that the cache chooses, exactly once, also after a cancel and also if there was no entry.
public protocol ImageCaching: AnyObject, Sendable {
    /// Returns the image in memory. Called on any thread, including the main one: must neither block nor take long.
    func memoryImage(forKey key: String) -> Image?

    /// Reads the entry on disk, off the caller's thread; nil if there is none. A query that is cancelled before it starts completes
    /// with nil. If the returned operation is an ``ImageLoaderOperation``, it is notified of priority changes.
    @discardableResult
    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation

    /// Reads the entry on disk on the caller's thread.
    func diskEntry(forKey key: String) -> CachedImageData?

    /// Stores an image. Memory is written before the call returns. For disk, the request's data is written if given, else the image
    /// is encoded by the request's coder (in its own format if that can be written, else PNG with alpha and JPEG without).
    /// `completion` is called when everything requested has been stored or abandoned; a failed write is not an error, the entry is
    /// just missing.
    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?)

    /// Replaces the validators of the entry on disk, off the caller's thread; nil removes them. The bytes and times of the entry
    /// stay. Has no effect without an entry. The default implementation does nothing: the entry is then revalidated with the
    /// validators that it has.
    func amend(validators: CacheValidators?, forKey key: String)

    /// Replaces the validators of the entry on disk, as ``amend(validators:forKey:)`` does, after a server has confirmed the entry. The
    /// request has the validators, and with ``ImageStoreRequest/sharingScope`` and ``ImageStoreRequest/lifetime`` whether other machines may
    /// have them; it has no image. The default implementation calls that method.
    func amend(_ request: ImageStoreRequest)

    /// Returns what is known of the entry on disk without reading the disk; nil if nothing is. Called on any thread, including the
    /// main one: must neither block nor take long. The default implementation returns nil.
    func knownValidators(forKey key: String) -> CachedValidators?

    /// Reads the metadata of the entry on disk, off the caller's thread; nil if there is no entry. A query that is cancelled before
    /// it starts completes with nil. The default implementation reads the whole entry.
    @discardableResult
    func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation

    /// Reads the entry on disk for a load; the same as ``queryDisk(forKey:priority:completion:)``, with more about the load. The default
    /// implementation calls that one.
    @discardableResult
    func queryDisk(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation

    /// Reads the metadata of the entry on disk for a load; the same as ``queryValidators(forKey:priority:completion:)``, with more about
    /// the load. The default implementation calls that one.
    @discardableResult
    func queryValidators(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation

    /// Called when a load has ended that asked with ``ImageCacheQuery/isFollowedByLoad``. If it has not stored the entry before, it will
    /// not: the load failed, or its image is not for others. Other machines that wait may go on. The default implementation does nothing.
    func loadEndedWithoutStore(forKey key: String)

    /// Called when such a load was cancelled, or received something that is not an image. If nothing was stored before, another machine may
    /// load the entry. The default implementation does nothing.
    func loadWasCancelled(forKey key: String)

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

    /// Replaces the validators of the entry on disk.
    public func amend(_ request: ImageStoreRequest) { amend(validators: request.validators, forKey: request.key) }

    /// Returns nil.
    public func knownValidators(forKey key: String) -> CachedValidators? { nil }

    /// Reads the whole entry.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        queryDisk(forKey: key, priority: priority) { completion($0.map { CachedValidators($0) }) }
    }

    /// Reads the entry of the key.
    @discardableResult
    public func queryDisk(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        queryDisk(forKey: query.key, priority: query.priority, completion: completion)
    }

    /// Reads the metadata of the entry of the key.
    @discardableResult
    public func queryValidators(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        queryValidators(forKey: query.key, priority: query.priority, completion: completion)
    }

    /// Does nothing.
    public func loadEndedWithoutStore(forKey key: String) {}

    /// Does nothing.
    public func loadWasCancelled(forKey key: String) {}
}
