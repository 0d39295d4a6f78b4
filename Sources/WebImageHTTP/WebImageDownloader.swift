public import FoundationEssentials

/// Downloads encoded images over http and https.
///
/// Requests for the same URL with the same access rights (cookies, certificates, header fields) share one transfer, also with the
/// loads of managers (request coalescing). At most ``WebImageDownloaderConfig/maxConcurrentDownloads`` run at once; the others wait
/// by priority. All methods may be called from any thread and return at once. Every call has exactly one completion, on every path.
public final class WebImageDownloader: ImageLoading {
    package let core: DownloaderCore
    /// The pipeline that coalesces the downloads, type-erased; nil for the shared pipeline.
    package let sharer: (any AnyObject & Sendable)?

    package init(core: DownloaderCore, sharer: (any AnyObject & Sendable)?) {
        (self.core, self.sharer) = (core, sharer)
    }

    /// Cancels all downloads.
    deinit { core.invalidate(cancelling: true) }

    /// The downloader's settings. ``WebImageDownloaderConfig`` describes when changes take effect.
    public var config: WebImageDownloaderConfig {
        get { core.config }
        set { core.config = newValue }
    }

    /// A Boolean value that indicates whether the queue is suspended. While true, waiting downloads are not started; running ones
    /// continue.
    public var isSuspended: Bool {
        get { core.isSuspended }
        set { core.isSuspended = newValue }
    }

    /// The number of running and waiting transfers.
    public var currentDownloadCount: Int { core.transferCount }

    /// Sets a header field of all requests that start afterwards; nil removes it. `User-Agent` and `Accept` are set by default;
    /// `Accept` lists the formats of the coders in ``ImageCodersManager/shared``, and follows them until it is set or removed here.
    /// While an invalid field is set (an invalid name, or a value with a line break or zero byte), downloads fail with
    /// ``WebImageError/Code/invalidDownloadOperation``.
    ///
    /// Redirects to other hosts keep all fields except those that identify the user: `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, and names with a word such as key, token, secret, session or signature, for example `X-Api-Key`.
    /// Caches keep the responses to such fields apart (<doc:Caching>).
    public func setValue(_ value: String?, forHTTPHeaderField field: String) { core.setHeader(field, value) }

    /// Returns a header field of all requests.
    public func value(forHTTPHeaderField field: String) -> String? { core.headers[field] }

    /// Cancels all running and waiting downloads.
    public func cancelAllDownloads() { core.cancelAll() }

    /// Removes all bodies that are kept in ``WebImageDownloaderConfig/partialDownloadDirectory``. Bodies that are arriving may
    /// still be kept later.
    ///
    /// - Parameters:
    ///   - callbackQueue: the queue on which `completion` runs.
    ///   - completion: called when the bodies are removed.
    public func removePartialDownloads(
        callbackQueue: CallbackQueue = .main,
        completion: (@Sendable () -> Void)? = nil
    ) {
        let done: @Sendable () -> Void = { if let completion { callbackQueue.async(completion) } }
        guard let partials = core.partials else { return done() }
        partials.removeAll(completion: done)
    }

    // MARK: ImageLoading

    /// Returns a Boolean value that indicates whether the scheme is http or https.
    public func canLoad(_ url: URL, options: WebImageOptions) -> Bool { DownloaderCore.serves(url) }

    /// Returns the downloader's header fields, overridden by the request's. The changes of a request modifier are not included.
    public func requestHeaders(for request: ImageLoadRequest) -> HTTPHeaders { core.requestHeaders(for: request) }

    /// Starts one transfer that is not shared; `progress` and `completion` are called on the network thread and must be quick.
    /// Loads through a ``WebImageManager``, and the `download…` methods, share transfers.
    public func load(
        _ request: ImageLoadRequest,
        progress: @escaping @Sendable (LoadProgress) -> Void,
        completion: @escaping @Sendable (Result<LoadedImageData, WebImageError>) -> Void
    ) -> any ImageLoaderOperation {
        core.load(request, progress: progress, completion: completion)
    }

    /// Returns a Boolean value that indicates whether another attempt would fail again: the URL is invalid, the data is not an
    /// image, or the server's certificate is refused.
    ///
    /// Failures that may pass are not blocked: connectivity, host back-off, timeouts, statuses and redirects; nor are limits, which
    /// may be raised.
    public func shouldBlockFailedURL(_ url: URL, error: WebImageError) -> Bool {
        core.shouldBlockFailedURL(url, error: error)
    }
}

extension WebImageOptions {
    /// The priority of the options; high wins over low.
    package var priority: LoadPriority {
        if contains(.highPriority) { return .high }
        return contains(.lowPriority) ? .low : .normal
    }
}

extension WebImageDownloader {
    /// Observes the events of all downloads of this downloader, from now on.
    ///
    /// - Parameters:
    ///   - queue: the queue on which `body` runs. The main thread by default.
    ///   - body: called for one event at a time, in order. With ``CallbackQueue/inline``, it is called on the thread that caused
    ///     the event, which may be the network thread: it must be quick then.
    /// - Returns: the observation, which ends when it is cancelled or released.
    ///
    /// Costs nothing without observers.
    public func observe(
        on queue: CallbackQueue = .main,
        _ body: @escaping @Sendable (DownloadEvent) -> Void
    ) -> DownloadObservation {
        let mailbox = CallbackMailbox(queue)
        core.addObserver(mailbox, body)
        return DownloadObservation(mailbox, core: core)
    }

    /// The current and past activity of the downloader.
    public var statistics: DownloadStatistics { core.statistics }

    /// The current rate in bytes per second over all transfers of this downloader, averaged over the time in which transfers were
    /// running, so that it does not fall during idle times. Bytes that are five seconds of such time old count half.
    ///
    /// Nil until 64 KiB have arrived and transfers were running for a quarter of a second. The rate includes the time spent waiting
    /// for servers; it is not the capacity of the network. Costs next to nothing.
    package var estimatedBytesPerSecond: Double? { core.bytesPerSecond }
}

extension WebImageDownloader {
    /// Modifies the requests of downloads whose context has no modifier. Nil by default.
    ///
    /// Changing a hook of the downloader affects only later downloads; they do not join earlier ones.
    public var requestModifier: DownloadRequestModifier? {
        get { core.hooks.requestModifier }
        set { core.changeHooks { $0.requestModifier = newValue } }
    }

    /// Modifies the responses of downloads whose context has no modifier. Nil by default.
    public var responseModifier: DownloadResponseModifier? {
        get { core.hooks.responseModifier }
        set { core.changeHooks { $0.responseModifier = newValue } }
    }

    /// Decrypts the bodies of downloads whose context has no decryptor. Nil by default.
    public var decryptor: DownloadDecryptor? {
        get { core.hooks.decryptor }
        set { core.changeHooks { $0.decryptor = newValue } }
    }

    /// Decides about the redirects of downloads whose context has no handler. Nil, the default, follows redirects within the
    /// limits.
    public var redirectHandler: DownloadRedirectHandler? {
        get { core.hooks.redirectHandler }
        set { core.changeHooks { $0.redirectHandler = newValue } }
    }
}
