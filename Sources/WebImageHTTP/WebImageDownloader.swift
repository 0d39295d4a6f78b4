public import FoundationEssentials

/// Downloads encoded pictures over http and https.
///
/// Callers that ask for the same URL with the same rights (cookies, certificates, header fields) share one transfer, also with the
/// loads of managers. At most ``WebImageDownloaderConfig/maxConcurrentDownloads`` run at once; the others wait by priority. All methods may be called
/// from any thread and return at once. Every call has exactly one completion, on every path.
public final class WebImageDownloader: ImageLoading {
    package let core: DownloaderCore
    /// The pipeline that shares the downloads, of a type this file need not know; nil for the shared pipeline.
    package let sharer: (any AnyObject & Sendable)?

    package init(core: DownloaderCore, sharer: (any AnyObject & Sendable)?) {
        (self.core, self.sharer) = (core, sharer)
    }

    /// Cancels everything under way.
    deinit { core.invalidate(cancelling: true) }

    /// This downloader's own settings. Changes have effect as ``WebImageDownloaderConfig`` says.
    public var config: WebImageDownloaderConfig {
        get { core.config }
        set { core.config = newValue }
    }

    /// While true, waiting downloads are not started; those that run go on.
    public var isSuspended: Bool {
        get { core.isSuspended }
        set { core.isSuspended = newValue }
    }

    /// Transfers that run or wait.
    public var currentDownloadCount: Int { core.transferCount }

    /// Sets a header field of all requests that start afterwards; nil removes it. `User-Agent` and `Accept` are set by
    /// default; `Accept` lists the formats that the coders of ``ImageCodersManager/shared`` take, and follows them until it is set or
    /// removed here. Downloads fail with ``WebImageError/Code/invalidDownloadOperation`` while a field is set that must not be sent:
    /// an invalid name, or a value with a line break or zero byte.
    ///
    /// Redirects take fields along to other hosts, except those that say who asks: `Authorization`, `Cookie`, `Proxy-Authorization`, and
    /// names with a word such as key, token, secret, session or signature, for example `X-Api-Key`. Caches keep what is answered to such
    /// fields apart (<doc:Caching>).
    public func setValue(_ value: String?, forHTTPHeaderField field: String) { core.setHeader(field, value) }

    /// A header field of all requests.
    public func value(forHTTPHeaderField field: String) -> String? { core.headers[field] }

    /// Cancels everything that runs or waits.
    public func cancelAllDownloads() { core.cancelAll() }

    /// Removes all bodies that are kept in ``WebImageDownloaderConfig/partialDownloadDirectory``. Those that are being received may be
    /// kept later all the same.
    ///
    /// - Parameters:
    ///   - callbackQueue: where `completion` runs.
    ///   - completion: called when they are gone.
    public func removePartialDownloads(
        callbackQueue: CallbackQueue = .main,
        completion: (@Sendable () -> Void)? = nil
    ) {
        let done: @Sendable () -> Void = { if let completion { callbackQueue.async(completion) } }
        guard let partials = core.partials else { return done() }
        partials.removeAll(completion: done)
    }

    // MARK: ImageLoading

    /// Whether the scheme is http or https.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { DownloaderCore.serves(url) }

    /// The downloader's fields, and those of the request in place of fields of the same name. What a modifier does is not known.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders { core.requestHeaders(for: request) }

    /// Starts one transfer, which nobody shares; `progress` and `completion` are called on the network thread and must be quick. Loads
    /// that go through a ``WebImageManager``, and the `download…` methods, share transfers.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        core.load(request, progress: progress, completion: completion)
    }

    /// Whether another attempt could not end differently: the URL is invalid, its bytes are no picture, or the server's
    /// certificate is refused.
    ///
    /// Nothing that may pass is blocked: connectivity, hosts that are left alone, time limits, statuses, redirects; nor a limit, which
    /// may be raised.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        core.shouldBlockFailedURL(url, error: error)
    }
}

extension WebImageOptions {
    /// The priority that the options ask for; high wins over low.
    package var priority: LoadPriority {
        if contains(.highPriority) { return .high }
        return contains(.lowPriority) ? .low : .normal
    }
}

extension WebImageDownloader {
    /// Reports everything that happens to this downloader's downloads, from now on.
    ///
    /// - Parameters:
    ///   - queue: where `body` runs. The main thread by default.
    ///   - body: called for one event at a time, in order. With ``CallbackQueue/inline`` on the thread that caused the event, which
    ///     may be the network thread: it must be quick then.
    /// - Returns: the observation, which ends when it is cancelled or let go of.
    ///
    /// Costs nothing while nobody observes.
    public func observe(
        on queue: CallbackQueue = .main,
        _ body: @escaping @Sendable (DownloadEvent) -> Void
    ) -> DownloadObservation {
        let mailbox = CallbackMailbox(queue)
        core.addObserver(mailbox, body)
        return DownloadObservation(mailbox, core: core)
    }

    /// What it is doing, and what it has done so far.
    public var statistics: DownloadStatistics { core.statistics }

    /// How fast bytes arrive at present, in bytes per second: over all transfers of this downloader together, averaged over the time in
    /// which something was under way, so that it does not fall while nothing is wanted. What is five seconds of such time old counts
    /// half.
    ///
    /// Nil until 64 KiB have come and something was under way for a quarter of a second. A figure of what pictures take in the end, with
    /// the servers' share of the waiting in it, and not of what the line could carry. Costs next to nothing.
    public var estimatedBytesPerSecond: Double? { core.bytesPerSecond }
}

extension WebImageDownloader {
    /// Changes what is sent for downloads whose context has no modifier of its own. Nil by default.
    ///
    /// Changing a hook of the downloader has effect for downloads that are asked for afterwards; they do not join those before.
    public var requestModifier: DownloadRequestModifier? {
        get { core.hooks.requestModifier }
        set { core.changeHooks { $0.requestModifier = newValue } }
    }

    /// Changes the responses of downloads whose context has no modifier of its own. Nil by default.
    public var responseModifier: DownloadResponseModifier? {
        get { core.hooks.responseModifier }
        set { core.changeHooks { $0.responseModifier = newValue } }
    }

    /// Decrypts the bodies of downloads whose context has no decryptor of its own. Nil by default.
    public var decryptor: DownloadDecryptor? {
        get { core.hooks.decryptor }
        set { core.changeHooks { $0.decryptor = newValue } }
    }

    /// Decides about the redirects of downloads whose context has no handler of its own. Nil, the default, follows those that the
    /// limits allow.
    public var redirectHandler: DownloadRedirectHandler? {
        get { core.hooks.redirectHandler }
        set { core.changeHooks { $0.redirectHandler = newValue } }
    }
}
