public import WebImage
import WebImageFakes

extension WebImageManager {
    /// Creates a manager without network and disk: it downloads from a script, and caches only in its memory.
    ///
    /// It shares neither images nor running loads with other managers, and its retries, delays and cache ages follow the transport's clock. Image
    /// data is decoded as usual, and data URLs are loaded. URLs with other schemes than these and http fail.
    ///
    /// - Parameters:
    ///   - transport: The script.
    ///   - config: The settings of the downloader, such as ``WebImageDownloaderConfig/retryPolicy``. Retry delays have no random part.
    public convenience init(stub transport: StubTransport, config: WebImageDownloaderConfig = .default) {
        let clock = transport.clock
        let pipeline = Pipeline(clock: clock.source, progressQueue: .inline)
        let core = DownloaderCore(
            config: config,
            transport: transport,
            clock: clock.source,
            delays: clock.delays,
            accept: WebImageDownloader.sharedAccept,
            random: { 0.5 }
        )
        let downloader = WebImageDownloader(core: core, pipeline: pipeline)
        self.init(
            cache: FakeCache(substitute: nil),
            loader: ImageLoadersManager(loaders: [DataURLImageLoader.shared, downloader]),
            pipeline: pipeline,
            clock: clock.source
        )
    }
}
