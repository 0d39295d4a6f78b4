/// A custom value in a ``WebImageContext``, with its type.
///
/// Such a value is carried along and ignored by request coalescing, so it must not change the result; for values that do, see
/// ``WebImageContext/loadValues``.
public protocol WebImageContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value if none was set.
    static var defaultValue: Value { get }
}

/// The components and settings of one load, in place of the manager's; nil means the default.
public struct WebImageContext: Sendable {
    /// The choice of a transformer.
    public enum TransformerChoice: Sendable {
        /// The manager's, if it has one.
        case inherited
        /// None, whatever the manager has.
        case none
        /// This one.
        case transformer(any ImageTransformer)
    }

    /// The queue on which callbacks run. The main thread by default.
    public var callbackQueue: CallbackQueue?
    /// The cache for the result. The manager's by default.
    public var imageCache: (any ImageCaching)?
    /// The cache for the original bytes. ``imageCache`` by default.
    public var originalImageCache: (any ImageCaching)?
    /// The loader. The manager's by default.
    public var imageLoader: (any ImageLoading)?
    /// The coder that decodes and encodes. The shared coders manager by default.
    public var imageCoder: (any ImageCoder)?
    /// The transformer to apply. The manager's by default.
    public var imageTransformer: TransformerChoice = .inherited
    /// The number of pixels per point. By default derived from the key (`@2x`, `@3x`); values below 1 are ignored.
    public var imageScaleFactor: Double?
    /// The box in pixels that the result must fit into. Full size by default.
    public var thumbnailPixelSize: ImageSize?
    /// Indicates whether a thumbnail keeps its aspect ratio. True by default.
    public var preserveAspectRatio: Bool?
    /// Indicates whether a thumbnail that keeps its aspect ratio covers the box instead of fitting into it. False by default.
    public var thumbnailCovers: Bool?
    /// The maximum number of bytes of decoded pixels; a bigger image is scaled down to it.
    public var scaleDownLimitBytes: Int?
    /// The levels where the result is searched. All by default.
    public var queryCacheType: ImageCacheType?
    /// The levels where the result is stored. All by default.
    public var storeCacheType: ImageCacheType?
    /// The levels where the original bytes are searched. Disk by default.
    public var originalQueryCacheType: ImageCacheType?
    /// The levels where the original bytes are stored. Disk by default.
    public var originalStoreCacheType: ImageCacheType?
    /// Makes cache keys from URLs. The manager's by default.
    public var cacheKeyFilter: CacheKeyFilter?
    /// Whether images of other sizes are used if the exact result is not cached. The manager's by default
    /// (``WebImageManager/sizeReuse``); views use at least ``SizeReuse/memory`` unless the context says otherwise.
    ///
    /// An image is scaled down only if the result looks as if the original had been decoded at that size: if it was decoded from the
    /// same bytes with the same options, is at least 1.5 times as wide and as high or has exactly the requested size, and was neither
    /// scaled itself nor stored with loss. Animations and vector images are not scaled. With transformers, only
    /// results of the same ones are used, and scaled only if all are ``ImageTransformer/isSizeCovariant``.
    public var sizeReuse: SizeReuse?

    /// The properties that loads rarely set, behind one reference that is nil in most contexts: this keeps the context small and
    /// cheap to copy.
    package var rare: Rare?

    /// Creates a context with all defaults.
    public init() {}
}
