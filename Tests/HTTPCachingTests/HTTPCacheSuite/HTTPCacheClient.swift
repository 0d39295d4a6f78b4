import FoundationEssentials
import LoadingTestSupport
import TestSupport
import WebImage

@testable import WebImageCache
@testable import WebImageHTTP
@testable import WebImageLoading

/// A manager under `CachePolicy.http` with its own cache and downloader, in virtual time.
final class HTTPCacheClient: Sendable {
    private struct Parts {
        let cache: ImageCache
        let manager: WebImageManager
    }

    /// The outcome of a load.
    struct Outcome: Sendable {
        var results: [Result<WebImageResult, WebImageError>]

        /// The first delivery.
        var first: Result<WebImageResult, WebImageError>? { results.first }
        /// The width of the image delivered first; nil for an error.
        var width: Int? { (try? first?.get()).map(\.image.pixelWidth) }
        /// The widths of the delivered images.
        var widths: [Int] { results.compactMap { try? $0.get() }.map(\.image.pixelWidth) }
    }

    let clock: ManualClock
    private let directory = TemporaryDirectory()
    private let downloader: WebImageDownloader
    private let parts: Lock<Parts>

    init(clock: ManualClock) {
        self.clock = clock
        let core = DownloaderCore(
            config: WebImageDownloaderConfig(),
            transport: CurlTransport(),
            clock: clock.source
        )
        downloader = WebImageDownloader(core: core)
        parts = Lock(Self.makeParts(directory, downloader, clock))
    }

    private static func makeParts(
        _ directory: TemporaryDirectory,
        _ downloader: WebImageDownloader,
        _ clock: ManualClock
    ) -> Parts {
        var config = ImageCacheConfig()
        // A cleaning pass removes entries that virtual days have expired, before or after a concurrent load.
        config.expiryInterval = 0
        let cache = ImageCache(path: directory.path("cache"), config: config, clock: clock.source)
        let manager = WebImageManager(
            cache: cache,
            loader: downloader,
            pipeline: Pipeline(),
            clock: clock.source
        )
        return Parts(cache: cache, manager: manager)
    }

    var cache: ImageCache { parts.withLock { $0.cache } }
    var manager: WebImageManager { parts.withLock { $0.manager } }

    /// Forgets everything that is not on disk, as a restart does.
    func restart() async {
        await cache.flush()
        let parts = Self.makeParts(directory, downloader, clock)
        self.parts.withLock { $0 = parts }
    }

    /// Runs a load under ``CachePolicy/http`` until it and its stores have ended; the completion is called at least
    /// `count` times.
    func load(_ url: URL, headers: HTTPHeaders = [:], options: WebImageOptions = [], atLeast count: Int = 1) async
        -> Outcome
    {
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.cachePolicy = .http
        context.additionalHeaders = headers
        let deliveries = Deliveries()
        manager.loadImage(
            with: url,
            options: options.union(.waitStoreCache),
            context: context,
            end: { deliveries.noteEnd() },
            completion: { deliveries.record($0) }
        )
        return Outcome(results: await deliveries.all(atLeast: count))
    }
}
