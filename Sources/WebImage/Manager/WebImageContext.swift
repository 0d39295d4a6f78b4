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
    /// Base of the decode options; the properties below override it.
    public var decodeOptions: ImageDecodeOptions?
    /// Pixels per point. By default found in the key (`@2x`, `@3x`); values below 1 are ignored.
    public var imageScaleFactor: Double?
    /// The box in pixels that the result must fit into. Full size by default.
    public var thumbnailPixelSize: ImageSize?
    /// Whether a thumbnail keeps its aspect ratio. True by default.
    public var preserveAspectRatio: Bool?
    /// Most bytes of decoded pixels; a bigger picture is scaled down to it.
    public var scaleDownLimitBytes: Int?
    /// How the cache encodes when it has to.
    public var encodeOptions: ImageEncodeOptions?
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

    /// Everything at its default.
    public init() {}
}
