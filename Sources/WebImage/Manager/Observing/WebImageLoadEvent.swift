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

    /// What can happen. Exactly one of `delivered`, `cancelled` and `failed` comes, and is the last.
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
        /// Work waits for its turn.
        case queued(Stage)
        /// The loader was asked.
        case downloadStarted
        /// The head of the response is there.
        case firstByte(HTTPResponse)
        /// Bytes arrived.
        case progress(LoadProgress)
        /// The download failed and will be tried again after so many seconds.
        case retried(WebImageError, after: Double)
        /// The loader has delivered.
        case downloaded(byteCount: Int, DownloadMetrics?)
        /// The picture was decoded, to so many pixels, in so much time.
        case decoded(width: Int, height: Int, fromByteCount: Int, nanoseconds: UInt64)
        /// A transformer was applied; the key is its own.
        case transformed(key: String, nanoseconds: UInt64)
        /// Something was stored.
        case stored(key: String, ImageCacheType)
        /// The picture was delivered, from where is said.
        case delivered(ImageCacheType)
        /// The load was cancelled.
        case cancelled
        /// The load failed.
        case failed(WebImageError)
    }

    /// A part of a load that can be shared and can wait.
    public enum Stage: Sendable, Hashable {
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
        /// The key filter gave no key.
        case noKey
        /// What is there is no picture.
        case damaged
    }
}
