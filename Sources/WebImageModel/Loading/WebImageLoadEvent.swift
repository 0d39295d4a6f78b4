public import FoundationEssentials

/// An event in a load.
public struct WebImageLoadEvent: Sendable {
    /// The number of the load; numbers are not reused.
    public let loadID: UInt64
    /// The URL that is being loaded; nil if the caller's string was not a valid URL.
    public let url: URL?
    /// The time since the load's start, in nanoseconds.
    public let time: UInt64
    /// The kind of event.
    public let kind: Kind

    /// Creates an event; for the library, and for tests of observers.
    package init(loadID: UInt64, url: URL?, time: UInt64, kind: Kind) {
        self.loadID = loadID
        self.url = url
        self.time = time
        self.kind = kind
    }

    /// The kinds of events. `started` is the first; exactly one of `delivered`, `cancelled` and `failed` is the last.
    ///
    /// Events of shared work are sent to all loads that share it. A load that joins late receives ``joined(_:)`` and then the
    /// latest of the previous events (of work that was not observed before, only its stage), with the time at which it received
    /// them.
    public enum Kind: Sendable {
        /// The load has begun.
        case started(cacheKey: String, options: WebImageOptions)
        /// The image was found in memory.
        case memoryHit(key: String)
        /// The image was not found in memory, or was not searched there.
        case memoryMissed(MissReason)
        /// The encoded image was found on disk.
        case diskHit(key: String, byteCount: Int)
        /// The encoded image was not found on disk, or was not searched there.
        case diskMissed(key: String, MissReason)
        /// The load was coalesced with work that another load began.
        case joined(Stage)
        /// Work was queued. Downloads send this once before ``downloadStarted``, and once more after it if the
        /// ``WebImageDownloader`` is at its limit; otherwise it does not mean that the work has to wait.
        case queued(Stage)
        /// The loader was called.
        case downloadStarted
        /// A ``WebImageDownloader`` sends the request, for the first time (1) or again.
        case requestSent(attempt: Int)
        /// A ``WebImageDownloader`` received the head of the response. It may still be refused.
        case firstByte(HTTPResponse)
        /// Bytes arrived.
        case progress(LoadProgress)
        /// The size of the image is known, mostly while its bytes still arrive; with ``WebImageOptions/progressiveLoad``, for
        /// images of formats without previews, too. `width` and `height` are those of the upright image in the file, whatever size
        /// is requested; the properties are those known at that moment: a colour profile or frames may follow.
        ///
        /// Sent once for every image that a loader delivers: again only if the download starts again, or if an orientation behind
        /// the pixel data rotates the image. An image that is refused or damaged may have none.
        case headerRead(width: Int, height: Int, ImageProperties)
        /// The download failed and will be retried after that many seconds, or when a slot is free after that.
        case retried(WebImageError, after: Double)
        /// The loader has finished.
        case downloaded(byteCount: Int, DownloadMetrics?)
        /// The load's ``CachePolicy`` has made a decision about the cached image; not sent under ``CachePolicy/immutable``, and not
        /// if nothing is cached.
        case judged(CacheVerdict)
        /// The cached image is still current; with a policy that revalidates, or with ``WebImageOptions/refreshCached``.
        case notModified
        /// The image was decoded to this size in this time (0 if the start was not observed).
        case decoded(width: Int, height: Int, fromByteCount: Int, nanoseconds: UInt64)
        /// A transformer was applied; the key is the transformer's.
        case transformed(key: String, nanoseconds: UInt64)
        /// Something was given to a cache to be stored. The disk is written in the background (write-behind);
        /// ``WebImageOptions/waitStoreCache`` delays the end of the load until then.
        case stored(key: String, ImageCacheType)
        /// An image was delivered that another one may follow; with ``WebImageOptions/refreshCached``.
        case deliveredInterim(ImageCacheType)
        /// The image was delivered from this level. With ``WebImageOptions/refreshCached`` and no newer image this is the source of
        /// the image that was delivered before.
        case delivered(ImageCacheType)
        /// The load was cancelled.
        case cancelled
        /// The load failed, or with ``WebImageOptions/refreshCached`` the download after the cached image.
        case failed(WebImageError)
    }

    /// A stage of a load that can be shared and can wait.
    public enum Stage: Sendable, Hashable {
        /// The whole load: the loads request the same image.
        case image
        /// Getting the original bytes, from disk or from a loader.
        case data
        /// Reading from disk.
        case disk
        /// Downloading.
        case download
        /// Decoding.
        case decode
        /// Transforming.
        case transform
    }

    /// The reason for a cache miss.
    public enum MissReason: Sendable, Hashable {
        /// The entry does not exist.
        case absent
        /// The cache was not queried, because of options or the context.
        case notAsked
        /// The entry was scaled down with another byte limit.
        case otherByteLimit
        /// The entry is only the first frame of an animation.
        case firstFrameOnly
        /// The key filter returned no key.
        case noKey
        /// The entry is not a valid image.
        case damaged
        /// The entry is not allowed by the manager's ``SourcePolicy``: another manager has stored it.
        case refused
    }
}
