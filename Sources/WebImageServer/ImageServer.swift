import CLinux
import CMicrohttpd
import FoundationEssentials
import Glibc
import WebImage
import WebImageFleet

/// An image server: loads images from their origins, processes and encodes them, and keeps the results in memory and on disk.
///
/// Equal requests share all work. The server stops when the object is released.
public final class ImageServer: Sendable {
    /// The port that the server listens on; 0 for a unix socket.
    public let port: UInt16
    let service: ImageService
    private let http: any HTTPServing

    /// Starts to serve.
    ///
    /// The program must call `DecodeWorker.runIfRequested()` first of all, unless ``ImageServerConfiguration/policy`` decodes all formats within
    /// it. The signals of broken connections (`SIGPIPE`) are ignored from now on. Blocks the thread while a watermark is loaded.
    ///
    /// - Parameter configuration: The settings. Later changes of a copy have no effect.
    /// - Throws: ``ServerStartError`` if the configuration lets anybody request everything, if the address is in use, if the watermark cannot be
    ///   loaded, or if the system has no descriptors or threads.
    public init(_ configuration: ImageServerConfiguration) throws(ServerStartError) {
        guard configuration.allowsAnyVariant || configuration.sizes != nil || configuration.grammar.isRestricted else {
            throw ServerStartError(
                "anybody could request any variant: set keys, only presets, sizes, or allowsAnyVariant"
            )
        }
        signal(SIGPIPE, SIG_IGN)
        let managers = try Self.managers(configuration)
        let watermark = try ServerWatermark(configuration, managers.web)
        service = ImageService(configuration, managers: managers, watermark: watermark)
        let listener = try Self.listener(configuration.address)
        port = UInt16(truncatingIfNeeded: webimage_socket_port(listener))
        var settings = MicroHTTPServer.Settings()
        settings.loopCount = configuration.loopCount
        settings.maximumConnectionCount = configuration.maximumConnectionCount
        if case .descriptor = configuration.address { settings.isListenerShared = true }
        http = try MicroHTTPServer(listener: listener, settings: settings, handler: service)
    }

    /// The number of open connections.
    package var connectionCount: Int { http.connectionCount }

    /// Ends all connections, and returns when that is done. Requests whose images are being made get an error.
    public func stop() {
        service.isDraining = true
        http.stop()
        service.closeLog()
    }

    /// Ends the server without failing requests: `/ready` is answered with 503, new connections are not accepted, running requests are
    /// answered, and each connection ends with its next answer. Blocks the thread, then stops.
    ///
    /// - Parameters:
    ///   - seconds: The time limit; requests that take longer get an error.
    ///   - delay: The seconds for which connections are still accepted while `/ready` is answered with 503, so that load balancers notice.
    /// - Returns: True if all requests were answered in time.
    @discardableResult
    public func drain(within seconds: Double, after delay: Double = 0) -> Bool {
        service.isDraining = true
        if delay > 0 { usleep(UInt32(min(delay, 3600) * 1e6)) }
        http.quiesce()
        var (now, count) = (ContinuousClock.now, http.requestCount)
        let end = now + .seconds(seconds)
        var quietSince = now
        while now < end {
            // A client that is between two requests sends the next one soon, and its connection ends with the answer. Those of idle clients
            // end with the server.
            if service.imageLoads.count > 0 || http.busyCount > 0 || http.requestCount != count { quietSince = now }
            count = http.requestCount
            if quietSince < now, http.connectionCount == 0 || now - quietSince > Self.quietTime { break }
            usleep(10_000)
            now = ContinuousClock.now
        }
        let isDone = service.imageLoads.count == 0 && http.busyCount == 0
        stop()
        return isDone
    }

    /// The time without requests after which the connections of clients count as idle.
    private static let quietTime = Duration.seconds(1)

    /// False if requests wait for longer than their time limit: the server hangs.
    package var isResponsive: Bool { !service.imageLoads.isOverdue }

    private static func listener(_ address: ImageServerConfiguration.Address) throws(ServerStartError) -> Int32 {
        let (descriptor, name): (Int32, String) =
            switch address {
            case .tcp(let host, let port): (webimage_http_listen_tcp(host, port, 4096), "\(host):\(port)")
            case .unix(let path): (webimage_http_listen_unix(path, 0o660, 4096), path)
            case .descriptor(let number): (number, "descriptor \(number)")
            }
        guard descriptor >= 0 else { throw ServerStartError("\(name): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    private static func managers(
        _ configuration: ImageServerConfiguration
    ) throws(ServerStartError) -> ImageService.Managers {
        var cacheConfig = ImageCacheConfig.default
        cacheConfig.maxDiskSize = configuration.cacheByteCount
        // Entries are refreshed by what their origin says, and evicted by size.
        cacheConfig.maxDiskAge = -1
        cacheConfig.maxMemoryCost = max(configuration.memoryByteCount / 8, 1 << 20)
        let local = ImageCache(namespace: "server", directory: configuration.cacheDirectory, config: cacheConfig)
        let cache: any ImageCaching
        if let store = configuration.remoteStore {
            cache = TieredImageCache(local: local, remote: store)
        } else {
            cache = local
        }
        var download = WebImageDownloaderConfig.default
        download.maxConcurrentDownloads = configuration.maximumDownloadCount
        download.sourcePolicy = configuration.policy
        // A separate budget, so that the server's counters are its own.
        let budget = DecodedMemoryBudget(byteLimit: configuration.memoryByteCount, policy: .reject)
        budget.patience = configuration.timeout
        let manager = WebImageManager(
            policy: configuration.policy,
            cache: cache,
            config: download,
            memoryBudget: budget
        )
        manager.cachePolicy = .http
        manager.failedURLLifetime = 0
        guard let root = configuration.rootDirectory else { return ImageService.Managers(web: manager) }
        let files = try LocalFiles(root: root, maximumByteCount: configuration.policy.maximumByteCount)
        let fileManager = WebImageManager(cache: cache, loader: files.loader, memoryBudget: budget)
        fileManager.decoding = configuration.policy.decoding
        fileManager.cachePolicy = .ttl(configuration.unknownLifetime)
        fileManager.failedURLLifetime = 0
        return ImageService.Managers(web: manager, local: fileManager)
    }
}
