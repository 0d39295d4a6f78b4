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
    /// Deliver previews while the picture is downloaded: results that are not ``WebImageResult/isFinal``, whose images say
    /// ``ImageMetadata/isIncremental``. Made by coders that are a ``ProgressiveImageCoder``, at most one at a time, and only as
    /// many as cost no more than about a quarter of the decode. They are stored nowhere; a refresh has none. An observer of the
    /// load is told the picture's size as soon as it is known (``WebImageLoadEvent/Kind/headerRead(width:height:_:)``).
    public static let progressiveLoad = WebImageOptions(rawValue: 1 << 2)
    /// Deliver what is cached, then ask the server whether there is something newer, and deliver that, too.
    public static let refreshCached = WebImageOptions(rawValue: 1 << 3)
    /// No effect on Linux: programs are not suspended when they are out of sight.
    public static let continueInBackground = WebImageOptions(rawValue: 1 << 4)
    /// Send and keep cookies.
    public static let handleCookies = WebImageOptions(rawValue: 1 << 5)
    /// Trust the server's certificate whatever it is. For tests.
    public static let allowInvalidSSLCertificates = WebImageOptions(rawValue: 1 << 6)
    /// Download before everything else; wins over ``lowPriority``.
    public static let highPriority = WebImageOptions(rawValue: 1 << 7)
    /// For views: show the placeholder only if the load fails or is cancelled. The manager ignores it.
    public static let delayPlaceholder = WebImageOptions(rawValue: 1 << 8)
    /// Apply transformers to animations, too: to each frame when it is shown.
    public static let transformAnimatedImage = WebImageOptions(rawValue: 1 << 9)
    /// For views: leave it to the completion to show the picture. The manager ignores it.
    public static let avoidAutoSetImage = WebImageOptions(rawValue: 1 << 10)
    /// Decode to at most ``ImageDecodeOptions/defaultScaleDownLimitBytes`` unless the context gives a limit.
    public static let scaleDownLargeImages = WebImageOptions(rawValue: 1 << 11)
    /// Deliver the encoded bytes with an image from memory, too, if they are on disk.
    public static let queryMemoryData = WebImageOptions(rawValue: 1 << 12)
    /// With ``queryMemoryData``: read them on the caller's thread before the call returns.
    public static let queryMemoryDataSync = WebImageOptions(rawValue: 1 << 13)
    /// On a memory miss, read and decode from disk on the caller's thread before the call returns.
    public static let queryDiskDataSync = WebImageOptions(rawValue: 1 << 14)
    /// Never download. A miss ends with ``WebImageError/Code/notCached``.
    public static let fromCacheOnly = WebImageOptions(rawValue: 1 << 15)
    /// Do not look into the caches; the result is stored all the same.
    public static let fromLoaderOnly = WebImageOptions(rawValue: 1 << 16)
    /// For views: use the transition for images from memory, too. The manager ignores it.
    public static let forceTransition = WebImageOptions(rawValue: 1 << 17)
    /// No effect on Linux: an image always has its pixels.
    public static let avoidDecodeImage = WebImageOptions(rawValue: 1 << 18)
    /// Decode the first frame of animations only.
    public static let decodeFirstFrameOnly = WebImageOptions(rawValue: 1 << 19)
    /// Decode all frames of animations ahead, if they fit into memory together: ``ImageDecodeOptions/preloadsAllFrames``. An
    /// animation that is in memory without its frames is delivered as it is.
    public static let preloadAllFrames = WebImageOptions(rawValue: 1 << 20)
    /// Fail when the frames of an animation cannot be had: ``ImageDecodeOptions/requiresAnimation``. (There is one class of
    /// images; this is what the class that SDWebImage lets one ask for is there for.)
    public static let matchAnimatedImageClass = WebImageOptions(rawValue: 1 << 21)
    /// Complete only after the result has been written to the caches. What a server says of a picture that has not changed is
    /// not waited for.
    public static let waitStoreCache = WebImageOptions(rawValue: 1 << 22)
    /// Apply transformers to vector images, too, which makes bitmaps of them.
    public static let transformVectorImage = WebImageOptions(rawValue: 1 << 23)
    /// For views: a new load does not end the one before. The manager ignores it.
    public static let avoidAutoCancelImage = WebImageOptions(rawValue: 1 << 24)
    /// For views: complete when the transition has ended. The manager ignores it.
    public static let waitTransition = WebImageOptions(rawValue: 1 << 25)
}
