public import FoundationEssentials

/// What a load ends with.
public struct WebImageResult: Sendable {
    /// The picture.
    public let image: Image
    /// The encoded bytes of just this image; nil for one from memory (but see ``WebImageOptions/queryMemoryData``), and for one
    /// that was made from them as a thumbnail or by a transformer. For one that a byte limit made smaller on its way from
    /// disk or a loader, those of the whole picture.
    public let data: Data?
    /// Where it came from: ``ImageCacheType/none`` means from a loader, for example the network.
    public let cacheType: ImageCacheType
    /// What was asked for.
    public let url: URL
    /// The key it lies under in the caches; empty if the key filter gave none.
    public let cacheKey: String
    /// The HTTP response, if this load brought one.
    public let response: HTTPResponse?
    /// How long the download took, if this load had one.
    public let metrics: DownloadMetrics?
    /// False for a picture after which another call of the completion may come: one from the cache that is being refreshed
    /// (``WebImageOptions/refreshCached``), and previews of one that is still arriving (``WebImageOptions/progressiveLoad``),
    /// whose ``ImageMetadata/isIncremental`` is true.
    public let isFinal: Bool
    /// Boxed, to keep results small: one is made for every image from memory.
    private let boxedRefreshError: (any Error)?

    /// Why the picture could not be refreshed, and is the one that was cached. Of the async forms alone: the others hear of
    /// it in a second call.
    public var refreshError: WebImageError? { boxedRefreshError as? WebImageError }

    init(
        image: Image,
        data: Data?,
        cacheType: ImageCacheType,
        url: URL,
        cacheKey: String,
        response: HTTPResponse?,
        metrics: DownloadMetrics?,
        isFinal: Bool = true,
        refreshError: WebImageError? = nil
    ) {
        self.image = image
        self.data = data
        self.cacheType = cacheType
        self.url = url
        self.cacheKey = cacheKey
        self.response = response
        self.metrics = metrics
        self.isFinal = isFinal
        boxedRefreshError = refreshError
    }

    /// The same as the last of its load, with what went wrong after it.
    func asLast(refreshError: WebImageError? = nil) -> WebImageResult {
        WebImageResult(
            image: image,
            data: data,
            cacheType: cacheType,
            url: url,
            cacheKey: cacheKey,
            response: response,
            metrics: metrics,
            refreshError: refreshError
        )
    }
}

/// What happens during a load.
public enum WebImageEvent: Sendable {
    /// Bytes arrive.
    case progress(LoadProgress)
    /// The picture is there; the last event if it is ``WebImageResult/isFinal``.
    case result(WebImageResult)
}
