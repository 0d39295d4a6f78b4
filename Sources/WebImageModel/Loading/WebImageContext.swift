/// Names a value of one's own in a ``WebImageContext``, and says what type it has.
///
/// Such a value is carried along and never part of what is compared when work is shared, so it must not change what is
/// loaded; for what does, see ``WebImageContext/loadValues``.
public protocol WebImageContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value where none was set.
    static var defaultValue: Value { get }
}

/// What a load uses in place of the manager's own parts and defaults; nil means the default.
public struct WebImageContext: Sendable {
    /// Which transformer applies.
    public enum TransformerChoice: Sendable {
        /// The manager's, if it has one.
        case inherited
        /// None, whatever the manager has.
        case none
        /// This one.
        case transformer(any ImageTransformer)
    }

    /// Where callbacks run. The main thread by default.
    public var callbackQueue: CallbackQueue?
    /// The cache for the result. The manager's by default.
    public var imageCache: (any ImageCaching)?
    /// The cache for the original bytes. ``imageCache`` by default.
    public var originalImageCache: (any ImageCaching)?
    /// The loader. The manager's by default.
    public var imageLoader: (any ImageLoading)?
    /// The coder that decodes and encodes. The shared coders manager by default.
    public var imageCoder: (any ImageCoder)?
    /// Which transformer applies. The manager's by default.
    public var imageTransformer: TransformerChoice = .inherited
    /// Pixels per point. By default found in the key (`@2x`, `@3x`); values below 1 are ignored.
    public var imageScaleFactor: Double?
    /// The box in pixels that the result must fit into. Full size by default.
    public var thumbnailPixelSize: ImageSize?
    /// Whether a thumbnail keeps its aspect ratio. True by default.
    public var preserveAspectRatio: Bool?
    /// Whether a thumbnail that keeps its aspect ratio covers the box instead of fitting into it. False by default.
    public var thumbnailCovers: Bool?
    /// Most bytes of decoded pixels; a bigger picture is scaled down to it.
    public var scaleDownLimitBytes: Int?
    /// Where the result is looked for. Everywhere by default.
    public var queryCacheType: ImageCacheType?
    /// Where the result is stored. Everywhere by default.
    public var storeCacheType: ImageCacheType?
    /// Where the original bytes are looked for. On disk by default.
    public var originalQueryCacheType: ImageCacheType?
    /// Where the original bytes are stored. On disk by default.
    public var originalStoreCacheType: ImageCacheType?
    /// Makes keys from URLs. The manager's by default.
    public var cacheKeyFilter: CacheKeyFilter?

    /// What loads seldom give, behind one reference that is nil in most contexts: so the context stays small, and cheap to copy.
    package var rare: Rare?

    /// Everything at its default.
    public init() {}
}
