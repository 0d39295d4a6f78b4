public import FoundationEssentials

/// The result of a load.
public struct WebImageResult: Sendable {
    /// The image.
    public internal(set) var image: Image
    /// The encoded bytes of exactly this image; nil if it comes from memory (but see ``WebImageOptions/queryMemoryData``), or was
    /// made as a thumbnail or by a transformer. If a byte limit scaled it down on its way from disk or a loader, the bytes of the
    /// full-size image.
    public internal(set) var data: Data?
    /// The source of the image: ``ImageCacheType/none`` means a loader, for example the network.
    public let cacheType: ImageCacheType
    /// The requested URL.
    public let url: URL
    /// The cache key; empty if the key filter returned none.
    public let cacheKey: String
    /// The HTTP response, if this load received one.
    public internal(set) var response: HTTPResponse?
    /// The metrics of the download, if this load had one.
    public internal(set) var metrics: DownloadMetrics?
    /// False for an image after which the completion may be called again: a cached image that is being refreshed
    /// (``WebImageOptions/refreshCached``, or a ``CachePolicy`` that delivers stale images), and a preview of an image that is
    /// still being loaded (``WebImageOptions/progressiveLoad``, ``WebImageContext/sizeReuse``), whose
    /// ``ImageMetadata/isIncremental`` is true.
    public internal(set) var isFinal = true
    var cacheStatus: CacheStatusDetails?

    /// The error of a failed refresh, because of which the image is the cached one. Set only with
    /// ``WebImageOptions/refreshCached`` in the async functions; the others report it in a second call.
    public var refreshError: WebImageError? { cacheStatus?.refreshError }

    /// A Boolean value that indicates whether the image is cached and stale by the load's ``CachePolicy``: it was served while it
    /// is revalidated, or because the server could not be reached. False under ``CachePolicy/immutable``.
    public var isStale: Bool { cacheStatus?.isStale ?? false }

    /// The seconds since the server generated or last validated the cached image; nil under ``CachePolicy/immutable``, for an
    /// image from the loader, and if unknown.
    public var age: Double? { cacheStatus?.age }

    /// The same result, marked as one that another may follow.
    var asInterim: WebImageResult { with { $0.isFinal = false } }

    /// Returns the same result with the image's cache status.
    ///
    /// - Parameter now: The seconds since 1970.
    func with(_ status: CacheStatus, now: Double) -> WebImageResult {
        guard cacheType != .none else { return self }
        let record = status.known?.validators?.record
        return with {
            $0.cacheStatus = CacheStatusDetails(
                age: record.map { $0.freshness(now: now).age },
                isStale: status.isStale,
                refreshError: status.error
            )
            $0.response = response ?? record.map { HTTPCacheMachine.delivered($0, url: url, now: now) }
        }
    }

    /// Returns the same result without the encoded bytes, to be kept as long as an image is shown.
    ///
    /// - Parameter image: The same image with other pixels; nil leaves it.
    package func kept(as image: Image? = nil) -> WebImageResult {
        with {
            $0.image = image ?? self.image
            $0.data = nil
        }
    }

    /// Returns the same result as the final one of its load, with any error that followed it.
    func asLast(refreshError: WebImageError?) -> WebImageResult {
        with {
            $0.isFinal = true
            if let refreshError {
                $0.cacheStatus = CacheStatusDetails(age: age, isStale: isStale, refreshError: refreshError)
            }
        }
    }

    private func with(_ change: (inout WebImageResult) -> Void) -> WebImageResult {
        var copy = self
        change(&copy)
        return copy
    }

    /// The cache status of an image. A class, to keep results small: one is created for every image from memory.
    final class CacheStatusDetails: Sendable {
        let age: Double?
        let isStale: Bool
        let refreshError: WebImageError?

        init(age: Double? = nil, isStale: Bool = false, refreshError: WebImageError? = nil) {
            (self.age, self.isStale, self.refreshError) = (age, isStale, refreshError)
        }
    }
}

extension WebImageResult {
    /// Creates the result for an image that was decoded without a manager.
    package init(_ image: Image, url: URL, key: String) {
        self.init(image: image, data: nil, cacheType: .none, url: url, cacheKey: key)
    }

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

/// An event of a load.
public enum WebImageEvent: Sendable {
    /// More bytes have arrived.
    case progress(LoadProgress)
    /// An image; the last event if it is ``WebImageResult/isFinal``.
    case result(WebImageResult)
}
