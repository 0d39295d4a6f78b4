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

extension WebImageManager {
    /// Decides what may be downloaded and which failures are remembered; held weakly, nil by default. Loads of a manager with a
    /// delegate look through the caches first, for themselves, and ask it then.
    public var delegate: (any WebImageManagerDelegate)? {
        get { settings.withLock { $0.delegate } }
        set { settings.withLock { $0.delegate = newValue } }
    }

    /// Whether the delegate allows a URL to be downloaded; asked after a cache miss, and before a refresh. True without one.
    func mayDownload(_ url: URL) -> Bool {
        delegate?.imageManager(self, shouldDownloadImageFor: url) ?? true
    }

    /// What asks the delegate before a loader is asked for a URL, for one load; nil without one. Equal to no other load's.
    func permission(for url: URL, _ load: WebImageLoadOperation) -> LoadPlan.Permission? {
        guard delegate != nil else { return nil }
        return LoadPlan.Permission(
            { [self] in withExtendedLifetime(load) { mayDownload(url) } },
            by: ObjectIdentifier(load)
        )
    }
}

extension WebImageError {
    /// The error of a load that the delegate did not allow.
    static func downloadRefused(_ url: URL) -> WebImageError {
        WebImageError(
            .downloadRefused,
            "it is not cached, and the manager's delegate did not allow a download",
            url: url
        )
    }

    /// Whether a look through the caches that ended with this error found nothing of use: no entry, or one that is no picture.
    var isCacheMiss: Bool { code != .cancelled && code != .transformFailed }
}
