public import FoundationEssentials

/// Decides for a manager what may be downloaded and which failures are remembered. Both methods are called on any thread, no
/// lock held, and must be quick.
public protocol WebImageManagerDelegate: AnyObject, Sendable {
    /// Whether a picture that is not in the caches may be asked of the loader; also asked before one that is cached is
    /// refreshed, which a no prevents. True by default.
    ///
    /// A load that may not ends with ``WebImageError/Code/downloadRefused``, which is never remembered as a failure.
    func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool

    /// Whether a URL that failed with `error` should not be tried again until asked to, in place of what the loader says about
    /// it; nil, which is the default, leaves that to the loader.
    ///
    /// Not asked about cancelled loads, refused ones, and those that only asked the caches: they are never remembered.
    func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool?
}

extension WebImageManagerDelegate {
    /// True.
    public func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool { true }

    /// Nil.
    public func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool? {
        nil
    }
}
