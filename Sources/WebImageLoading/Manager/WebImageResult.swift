public import FoundationEssentials

/// What a load ends with.
public struct WebImageResult: Sendable {
    /// The picture.
    public internal(set) var image: Image
    /// The encoded bytes of just this image; nil for one from memory (but see ``WebImageOptions/queryMemoryData``), and for one
    /// that was made from them as a thumbnail or by a transformer. For one that a byte limit made smaller on its way from
    /// disk or a loader, those of the whole picture.
    public internal(set) var data: Data?
    /// Where it came from: ``ImageCacheType/none`` means from a loader, for example the network.
    public let cacheType: ImageCacheType
    /// What was asked for.
    public let url: URL
    /// The key it lies under in the caches; empty if the key filter gave none.
    public let cacheKey: String
    /// The HTTP response, if this load brought one.
    public internal(set) var response: HTTPResponse?
    /// How long the download took, if this load had one.
    public internal(set) var metrics: DownloadMetrics?
    /// False for a picture after which another call of the completion may come: one from the cache that is being refreshed
    /// (``WebImageOptions/refreshCached``), and previews of one that is still arriving (``WebImageOptions/progressiveLoad``),
    /// whose ``ImageMetadata/isIncremental`` is true.
    public internal(set) var isFinal = true
    var standing: Standing?

    /// Why the picture could not be refreshed, and is the one that was cached. With ``WebImageOptions/refreshCached`` of the async
    /// forms alone: the others hear of it in a second call.
    public var refreshError: WebImageError? { standing?.refreshError }

    /// Whether the picture is from the cache and by the load's ``CachePolicy`` should have been asked for anew: because it may
    /// serve while the server is asked, or because the server could not be. False under ``CachePolicy/immutable``.
    public var isStale: Bool { standing?.isStale ?? false }

    /// Seconds since the server made the picture or last said that it still serves, for one from the cache; nil under
    /// ``CachePolicy/immutable``, for one that the load brought, and where nothing is known of it.
    public var age: Double? { standing?.age }

    /// The same, announced as one after which another may come.
    var asInterim: WebImageResult { with { $0.isFinal = false } }

    /// The same, with what is known of how far it serves.
    ///
    /// - Parameter now: seconds since 1970.
    func with(_ status: CacheStatus, now: Double) -> WebImageResult {
        guard cacheType != .none else { return self }
        let record = status.known?.validators?.record
        return with {
            $0.standing = Standing(
                age: record.map { $0.freshness(now: now).age },
                isStale: status.isStale,
                refreshError: status.error
            )
            $0.response = response ?? record.map { HTTPCacheMachine.delivered($0, url: url, now: now) }
        }
    }

    /// The same without the encoded bytes, for who keeps it as long as a picture is shown.
    ///
    /// - Parameter image: the same picture with other pixels; nil leaves it.
    package func kept(as image: Image? = nil) -> WebImageResult {
        with {
            $0.image = image ?? self.image
            $0.data = nil
        }
    }

    /// The same as the last of its load, with what went wrong after it.
    func asLast(refreshError: WebImageError?) -> WebImageResult {
        with {
            $0.isFinal = true
            if let refreshError { $0.standing = Standing(age: age, isStale: isStale, refreshError: refreshError) }
        }
    }

    private func with(_ change: (inout WebImageResult) -> Void) -> WebImageResult {
        var copy = self
        change(&copy)
        return copy
    }

    /// How far an image from the cache serves. A class, to keep results small: one is made for every image from memory.
    final class Standing: Sendable {
        let age: Double?
        let isStale: Bool
        let refreshError: WebImageError?

        init(age: Double? = nil, isStale: Bool = false, refreshError: WebImageError? = nil) {
            (self.age, self.isStale, self.refreshError) = (age, isStale, refreshError)
        }
    }
}

extension WebImageResult {
    init(_ image: PipelineImage, url: URL, key: String) {
        self.init(
            image: image.image,
            data: image.data,
            cacheType: image.source,
            url: url,
            cacheKey: image.cacheKey ?? key,
            response: image.loaded?.response,
            metrics: image.loaded?.metrics
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
