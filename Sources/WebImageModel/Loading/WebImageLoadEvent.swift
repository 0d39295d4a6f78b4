public import FoundationEssentials

/// Something that happened in a load.
public struct WebImageLoadEvent: Sendable {
    /// Which load; numbers are not used twice.
    public let loadID: UInt64
    /// What is being loaded; nil if the caller's string was no URL.
    public let url: URL?
    /// Nanoseconds since the load's start.
    public let time: UInt64
    /// What happened.
    public let kind: Kind

    /// An event; the library makes them, and tests of observers may.
    public init(loadID: UInt64, url: URL?, time: UInt64, kind: Kind) {
        self.loadID = loadID
        self.url = url
        self.time = time
        self.kind = kind
    }

    /// What can happen. `started` is the first; exactly one of `delivered`, `cancelled` and `failed` comes, and is the last.
    ///
    /// Events of work that loads share are told to all of them. One that joins late hears ``joined(_:)`` and then the latest
    /// of what has happened (of work that nobody observed before, only how far it is), with the time at which it heard.
    public enum Kind: Sendable {
        /// The load has begun.
        case started(cacheKey: String, options: WebImageOptions)
        /// The image lies in memory.
        case memoryHit(key: String)
        /// The image does not lie in memory, or was not looked for there.
        case memoryMissed(MissReason)
        /// The encoded picture lies on disk.
        case diskHit(key: String, byteCount: Int)
        /// The encoded picture does not lie on disk, or was not looked for there.
        case diskMissed(key: String, MissReason)
        /// The load shares work that another load began.
        case joined(Stage)
        /// Work has got in line. Downloads tell that once before ``downloadStarted``, and once more after it if the
        /// ``WebImageDownloader`` has no place for them; otherwise it does not mean that there is something to wait for.
        case queued(Stage)
        /// The loader was asked.
        case downloadStarted
        /// A ``WebImageDownloader`` sends the request, the first time (1) or again.
        case requestSent(attempt: Int)
        /// The head of the response to a ``WebImageDownloader`` is there. It may still be refused.
        case firstByte(HTTPResponse)
        /// Bytes arrived.
        case progress(LoadProgress)
        /// The size of the picture is known, mostly while its bytes still arrive; with ``WebImageOptions/progressiveLoad``, for
        /// pictures of formats without previews, too. `width` and `height` are those of the upright picture in the file, whatever
        /// size is asked for; the properties are what was known at that moment: a colour profile or frames may still have come.
        ///
        /// Once for every picture that a loader delivers: again only if the download begins anew, or if the file turns out to be
        /// turned by what stands behind its pixels. What is refused or damaged may have none.
        case headerRead(width: Int, height: Int, ImageProperties)
        /// The download failed and will be tried again after so many seconds, or when there is room after that.
        case retried(WebImageError, after: Double)
        /// The loader has delivered.
        case downloaded(byteCount: Int, DownloadMetrics?)
        /// The load's ``CachePolicy`` has judged what is cached; not under ``CachePolicy/immutable``, and not where nothing is.
        case judged(CacheVerdict)
        /// There is nothing newer than the picture that was cached; with a policy that asks, or with ``WebImageOptions/refreshCached``.
        case notModified
        /// The picture was decoded, to so many pixels, in so much time (0 when nobody observed when that began).
        case decoded(width: Int, height: Int, fromByteCount: Int, nanoseconds: UInt64)
        /// A transformer was applied; the key is its own.
        case transformed(key: String, nanoseconds: UInt64)
        /// Something was given to a cache to be stored. The disk is written to in the background;
        /// ``WebImageOptions/waitStoreCache`` holds the end of the load back until then.
        case stored(key: String, ImageCacheType)
        /// A picture was delivered after which another one may come; with ``WebImageOptions/refreshCached``.
        case deliveredInterim(ImageCacheType)
        /// The picture was delivered, from where is said. With ``WebImageOptions/refreshCached`` and no news this is where the
        /// picture came from that was delivered before.
        case delivered(ImageCacheType)
        /// The load was cancelled.
        case cancelled
        /// The load failed, or with ``WebImageOptions/refreshCached`` what should have come after the cached picture.
        case failed(WebImageError)
    }

    /// A part of a load that can be shared and can wait.
    public enum Stage: Sendable, Hashable {
        /// All of it: the loads want the very same picture.
        case picture
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

    /// Why something was not found in a cache.
    public enum MissReason: Sendable, Hashable {
        /// It is not there.
        case absent
        /// It was not looked for, because of options or the context.
        case notAsked
        /// What is there was made smaller by another byte limit.
        case otherByteLimit
        /// What is there is the first frame alone of an animation.
        case firstFrameAlone
        /// The key filter gave no key.
        case noKey
        /// What is there is no picture.
        case damaged
        /// What is there is not what the manager's ``SourcePolicy`` takes: another manager has stored it.
        case refused
    }
}
