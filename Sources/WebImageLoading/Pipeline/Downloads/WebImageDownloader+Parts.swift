extension WebImageDownloader {
    /// The downloader that everything uses unless told otherwise; made from ``WebImageDownloaderConfig/default`` when it is
    /// first used. It keeps bodies that broke off (``WebImageDownloaderConfig/partialDownloadDirectory``).
    public static let shared: WebImageDownloader = {
        var config = WebImageDownloaderConfig.default
        if config.partialDownloadDirectory == nil {
            config.partialDownloadDirectory = ImageCache.defaultDiskCacheDirectory + "/partial"
        }
        return WebImageDownloader(config: config)
    }()

    /// A downloader with connections of its own.
    public convenience init(config: WebImageDownloaderConfig = .default) {
        self.init(config: config, transport: CurlTransport())
    }

    /// A downloader that moves its requests and responses with a transport of your own, which no other downloader may use:
    /// it is invalidated with this one.
    public convenience init(config: WebImageDownloaderConfig = .default, transport: any HTTPTransport) {
        let core = DownloaderCore(
            config: config,
            transport: transport,
            accept: Self.sharedAccept,
            makePartials: PartialDownloads.asConfigured
        )
        self.init(core: core)
    }

    /// Makes every later download fail with ``WebImageError/Code/invalidDownloadOperation`` and ends the network thread after
    /// the last transfer.
    ///
    /// - Parameter cancelling: whether what runs or waits is cancelled; otherwise it goes on to its end.
    ///
    /// No effect on ``shared``.
    public func invalidate(cancelling: Bool) {
        guard self !== Self.shared else { return }
        core.invalidate(cancelling: cancelling)
    }

    package convenience init(core: DownloaderCore, pipeline: Pipeline = .shared) {
        self.init(core: core, sharer: pipeline)
    }

    /// Where downloads are shared: with other callers, and with the loads of managers.
    var pipeline: Pipeline { sharer as? Pipeline ?? .shared }

    /// What the coders of ``ImageCodersManager/shared`` take.
    package static let sharedAccept: @Sendable () -> AcceptField = { ImageCodersManager.shared.accept }
}
