public import FoundationEssentials

/// Decides which images a manager may download and which failures it remembers. Both methods can be called on any thread, without
/// a lock held, and must be quick.
public protocol WebImageManagerDelegate: AnyObject, Sendable {
    /// Returns whether an image that is not cached may be requested from the loader. Also called before a cached image is
    /// refreshed; false prevents that. True by default.
    ///
    /// A load that is not allowed ends with ``WebImageError/Code/downloadRefused``, which is never remembered as a failure.
    func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool

    /// Returns whether a URL that failed with `error` should not be tried again until requested, overriding the loader's
    /// decision; nil, the default, leaves it to the loader.
    ///
    /// Not called for cancelled loads, refused ones, and cache-only ones: they are never remembered.
    func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool?
}

extension WebImageManagerDelegate {
    /// Returns true.
    public func imageManager(_ manager: WebImageManager, shouldDownloadImageFor url: URL) -> Bool { true }

    /// Returns nil.
    public func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool? {
        nil
    }
}

extension WebImageManager {
    /// The delegate, which decides what may be downloaded and which failures are remembered; held weakly, nil by default. With a
    /// delegate, each load queries the caches first, and then asks the delegate.
    public var delegate: (any WebImageManagerDelegate)? {
        get { settings.withLock { $0.delegate } }
        set { settings.withLock { $0.delegate = newValue } }
    }

    /// Returns whether the delegate allows a URL to be downloaded; called after a cache miss, and before a refresh. True without
    /// a delegate.
    func mayDownload(_ url: URL) -> Bool {
        delegate?.imageManager(self, shouldDownloadImageFor: url) ?? true
    }

    /// Returns the permission that asks the delegate on behalf of one load before a loader is asked; nil without a delegate. It
    /// equals no other load's.
    func permission(for url: URL, _ load: WebImageLoadOperation) -> LoadPlan.Permission? {
        guard delegate != nil else { return nil }
        return LoadPlan.Permission(
            { [self] in withExtendedLifetime(load) { mayDownload(url) } },
            by: ObjectIdentifier(load)
        )
    }
}

extension WebImageError {
    /// The error of a load that the delegate refused.
    static func downloadRefused(_ url: URL) -> WebImageError {
        WebImageError(
            .downloadRefused,
            "it is not cached, and the manager's delegate did not allow a download",
            url: url
        )
    }

    /// True if a cache query with this error found nothing usable: no entry, or an entry that is not an image.
    var isCacheMiss: Bool { code != .cancelled && code != .transformFailed }
}
