/// The options of a load. The bits are SDWebImage's.
public struct WebImageOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt
    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Load even if the URL failed before; on success it is removed from the list of failed URLs. Does not control retries.
    public static let retryFailed = WebImageOptions(rawValue: 1 << 0)
    /// Download after everything else.
    public static let lowPriority = WebImageOptions(rawValue: 1 << 1)
    /// Deliver previews during the download: results that are not ``WebImageResult/isFinal``, whose images are
    /// ``ImageMetadata/isIncremental``. Made by a ``ProgressiveImageCoder``, at most one at a time, and only as many as cost no
    /// more than about a quarter of the decode. They are not cached; a refresh has none. Observers receive the image's size as soon
    /// as it is known (``WebImageLoadEvent/Kind/headerRead(width:height:_:)``).
    public static let progressiveLoad = WebImageOptions(rawValue: 1 << 2)
    /// Deliver the cached image, then ask the server for a newer one, and deliver that, too.
    public static let refreshCached = WebImageOptions(rawValue: 1 << 3)
    /// No effect on Linux: programs are not suspended when they are not visible.
    public static let continueInBackground = WebImageOptions(rawValue: 1 << 4)
    /// Send and keep cookies.
    public static let handleCookies = WebImageOptions(rawValue: 1 << 5)
    /// Accept any server certificate. For tests.
    public static let allowInvalidSSLCertificates = WebImageOptions(rawValue: 1 << 6)
    /// Download before everything else; wins over ``lowPriority``.
    public static let highPriority = WebImageOptions(rawValue: 1 << 7)
    /// For views: show the placeholder only if the load fails or is cancelled. The manager ignores it.
    public static let delayPlaceholder = WebImageOptions(rawValue: 1 << 8)
    /// Apply transformers to animations, too: to each frame when it is shown.
    public static let transformAnimatedImage = WebImageOptions(rawValue: 1 << 9)
    /// For views: do not show the image; the completion does. The manager ignores it.
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
    /// Do not read the caches; the result is stored nevertheless.
    public static let fromLoaderOnly = WebImageOptions(rawValue: 1 << 16)
    /// For views: use the transition for images from memory, too. The manager ignores it.
    public static let forceTransition = WebImageOptions(rawValue: 1 << 17)
    /// No effect on Linux: an image always has its pixels.
    public static let avoidDecodeImage = WebImageOptions(rawValue: 1 << 18)
    /// Decode only the first frame of animations.
    public static let decodeFirstFrameOnly = WebImageOptions(rawValue: 1 << 19)
    /// Decode all frames of animations in advance, if they fit into memory together. An animation that is in memory
    /// without its frames is delivered as it is.
    public static let preloadAllFrames = WebImageOptions(rawValue: 1 << 20)
    /// Fail if the frames of an animation are not available. (This library has only one image class; the option has the effect of
    /// SDWebImage's.)
    public static let matchAnimatedImageClass = WebImageOptions(rawValue: 1 << 21)
    /// Complete only after the result has been written to the caches. Updated validators of an unchanged image are not waited for.
    public static let waitStoreCache = WebImageOptions(rawValue: 1 << 22)
    /// Apply transformers to vector images, too, which rasterizes them.
    public static let transformVectorImage = WebImageOptions(rawValue: 1 << 23)
    /// For views: a new load does not cancel the one before. The manager ignores it.
    public static let avoidAutoCancelImage = WebImageOptions(rawValue: 1 << 24)
    /// For views: complete when the transition has ended. The manager ignores it.
    public static let waitTransition = WebImageOptions(rawValue: 1 << 25)
}
