extension WebImageDownloader {
    /// The default downloader, created from ``WebImageDownloaderConfig/default`` on first use. It stores the bodies of
    /// interrupted downloads (``WebImageDownloaderConfig/partialDownloadDirectory``).
    public static let shared: WebImageDownloader = {
        var config = WebImageDownloaderConfig.default
        if config.partialDownloadDirectory == nil {
            config.partialDownloadDirectory = ImageCache.defaultDiskCacheDirectory + "/partial"
        }
        return WebImageDownloader(config: config)
    }()

    /// Creates a downloader with separate connections.
    public convenience init(config: WebImageDownloaderConfig = .default) {
        self.init(config: config, transport: CurlTransport())
    }

    /// Creates a downloader with a custom transport, which no other downloader may use: it is invalidated with this one.
    public convenience init(config: WebImageDownloaderConfig = .default, transport: any HTTPTransport) {
        let core = DownloaderCore(
            config: config,
            transport: transport,
            accept: Self.sharedAccept,
            makePartials: PartialDownloads.asConfigured
        )
        self.init(core: core)
    }

    /// Makes every later download fail with ``WebImageError/Code/invalidDownloadOperation`` and ends the network thread after the
    /// last transfer.
    ///
    /// - Parameter cancelling: True to cancel running and waiting downloads; otherwise they continue to their end.
    ///
    /// No effect on ``shared``.
    public func invalidate(cancelling: Bool) {
        guard self !== Self.shared else { return }
        core.invalidate(cancelling: cancelling)
    }

    package convenience init(core: DownloaderCore, pipeline: Pipeline = .shared) {
        self.init(core: core, sharer: pipeline)
    }

    /// The pipeline that coalesces downloads with other callers, and with the loads of managers.
    var pipeline: Pipeline { sharer as? Pipeline ?? .shared }

    /// The formats that the coders of ``ImageCodersManager/shared`` accept.
    package static let sharedAccept: @Sendable () -> AcceptField = { ImageCodersManager.shared.accept }
}
