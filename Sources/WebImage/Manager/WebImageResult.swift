public import FoundationEssentials

/// What a load ends with.
public struct WebImageResult: Sendable {
    /// The picture.
    public let image: Image
    /// The encoded bytes of just this image; nil for one from memory, and for one that was made from
    /// them as a thumbnail or by a transformer. For one that a byte limit made smaller, those of the whole picture.
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
}

/// What happens during a load.
public enum WebImageEvent: Sendable {
    /// Bytes arrive.
    case progress(LoadProgress)
    /// The picture is there; the last event.
    case result(WebImageResult)
}
