/// How a load behaves. Bits are SDWebImage's.
public struct WebImageOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt
    /// Options of the given bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Load even if the URL failed before; on success it is taken off the list of failed URLs. Does not repeat attempts.
    public static let retryFailed = WebImageOptions(rawValue: 1 << 0)
    /// Download after everything else.
    public static let lowPriority = WebImageOptions(rawValue: 1 << 1)
    /// Send and keep cookies.
    public static let handleCookies = WebImageOptions(rawValue: 1 << 5)
    /// Trust the server's certificate whatever it is. For tests.
    public static let allowInvalidSSLCertificates = WebImageOptions(rawValue: 1 << 6)
    /// Download before everything else; wins over ``lowPriority``.
    public static let highPriority = WebImageOptions(rawValue: 1 << 7)
    /// Decode to at most ``ImageDecodeOptions/defaultScaleDownLimitBytes`` unless the context gives a limit.
    public static let scaleDownLargeImages = WebImageOptions(rawValue: 1 << 11)
    /// On a memory miss, read and decode from disk on the caller's thread before the call returns.
    public static let queryDiskDataSync = WebImageOptions(rawValue: 1 << 14)
    /// Never download. A miss ends with ``WebImageError/Code/notCached``.
    public static let fromCacheOnly = WebImageOptions(rawValue: 1 << 15)
    /// Do not look into the caches; the result is stored all the same.
    public static let fromLoaderOnly = WebImageOptions(rawValue: 1 << 16)
    /// Decode the first frame of animations only.
    public static let decodeFirstFrameOnly = WebImageOptions(rawValue: 1 << 19)
    /// Complete only after the result has been written to the caches.
    public static let waitStoreCache = WebImageOptions(rawValue: 1 << 22)
}
