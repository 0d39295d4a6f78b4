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
    private let standing: Standing?

    /// Why the picture could not be refreshed, and is the one that was cached. With ``WebImageOptions/refreshCached`` of the async
    /// forms alone: the others hear of it in a second call.
    public var refreshError: WebImageError? { standing?.refreshError }

    /// Whether the picture is from the cache and by the load's ``CachePolicy`` should have been asked for anew: because it may
    /// serve while the server is asked, or because the server could not be. False under ``CachePolicy/immutable``.
    public var isStale: Bool { standing?.isStale ?? false }

    /// Seconds since the server made the picture or last said that it still serves, for one from the cache; nil under
    /// ``CachePolicy/immutable``, for one that the load brought, and where nothing is known of it.
    public var age: Double? { standing?.age }

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
        standing = refreshError.map { Standing(refreshError: $0) }
    }

    private init(
        _ result: WebImageResult,
        image: Image? = nil,
        data: Data? = nil,
        isFinal: Bool,
        standing: Standing?
    ) {
        self.image = image ?? result.image
        self.data = data
        cacheType = result.cacheType
        url = result.url
        cacheKey = result.cacheKey
        response = result.response ?? standing?.response
        metrics = result.metrics
        self.isFinal = isFinal
        self.standing = standing
    }

    /// The same, with what is known of how far it serves.
    func with(_ standing: Standing) -> WebImageResult {
        guard cacheType != .none else { return self }
        return WebImageResult(self, data: data, isFinal: isFinal, standing: standing)
    }

    /// The same, announced as one after which another may come.
    var asInterim: WebImageResult { WebImageResult(self, data: data, isFinal: false, standing: standing) }

    /// The same without the encoded bytes, for who keeps it as long as a picture is shown.
    ///
    /// - Parameter image: the same picture with other pixels; nil leaves it.
    package func kept(as image: Image? = nil) -> WebImageResult {
        WebImageResult(self, image: image, data: nil, isFinal: isFinal, standing: standing)
    }

    /// The same as the last of its load, with what went wrong after it.
    func asLast(refreshError: WebImageError? = nil) -> WebImageResult {
        var standing = standing
        if let refreshError {
            standing = standing ?? Standing()
            standing?.refreshError = refreshError
        }
        return WebImageResult(self, data: data, isFinal: true, standing: standing)
    }
}

extension WebImageResult {
    /// How far a picture from the cache serves.
    struct Standing: Sendable {
        private final class Values: Sendable {
            let age: Double?
            let isStale: Bool
            let response: HTTPResponse?
            let refreshError: WebImageError?

            init(age: Double?, isStale: Bool, response: HTTPResponse?, refreshError: WebImageError?) {
                (self.age, self.isStale, self.response, self.refreshError) = (age, isStale, response, refreshError)
            }
        }

        private var values: Values

        init(
            age: Double? = nil,
            isStale: Bool = false,
            response: HTTPResponse? = nil,
            refreshError: WebImageError? = nil
        ) { values = Values(age: age, isStale: isStale, response: response, refreshError: refreshError) }

        var age: Double? { values.age }
        var isStale: Bool { values.isStale }
        /// What the server said when it was last asked.
        var response: HTTPResponse? { values.response }
        var refreshError: WebImageError? {
            get { values.refreshError }
            set { values = Values(age: age, isStale: isStale, response: response, refreshError: newValue) }
        }
    }
}

/// What happens during a load.
public enum WebImageEvent: Sendable {
    /// Bytes arrive.
    case progress(LoadProgress)
    /// The picture is there; the last event if it is ``WebImageResult/isFinal``.
    case result(WebImageResult)
}
