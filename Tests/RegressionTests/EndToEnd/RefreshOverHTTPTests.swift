import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageLoading

/// A disk level that keeps validators, independent of the built-in one.
private final class ValidatorDisk: DiskCaching {
    private let disk: DiskCache
    private let validators = Lock<[String: CacheValidators]>([:])

    init(path: String, config: ImageCacheConfig) { disk = DiskCache(path: path, config: config) }

    var path: String { disk.path }
    func cachePath(forKey key: String) -> String { disk.cachePath(forKey: key) }
    func entry(forKey key: String) -> CachedImageData? {
        guard var entry = disk.entry(forKey: key) else { return nil }
        entry.validators = validators.withLock { $0[key] }
        return entry
    }
    func containsData(forKey key: String) -> Bool { disk.containsData(forKey: key) }
    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        disk.store(data, forKey: key, extendedData: extendedData)
    }
    func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        validators.withLock { $0[key] = entry.validators }
        return disk.store(entry.data, forKey: key, extendedData: entry.extendedData)
    }
    func removeData(forKey key: String) { disk.removeData(forKey: key) }
    func removeAllData() { disk.removeAllData() }
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup { disk.removeExpiredData(timeLimit: timeLimit) }
    func usage() -> (count: Int, size: Int) { disk.usage() }
    func apply(_ config: ImageCacheConfig) { disk.config = config }
}

/// A refresh through the library's own parts, over HTTP.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct RefreshOverHTTPTests {
    private let directory = TemporaryDirectory()

    private func manager(_ downloader: WebImageDownloader) -> WebImageManager {
        var config = ImageCacheConfig()
        config.makeDiskCache = { ValidatorDisk(path: $0, config: $1) }
        let cache = ImageCache(directory: directory.path("cache"), config: config)
        return WebImageManager(cache: cache, loader: downloader, pipeline: Pipeline())
    }

    private func load(
        _ manager: WebImageManager,
        _ url: URL,
        _ options: WebImageOptions = .refreshCached,
        atLeast count: Int
    ) async -> [Result<WebImageResult, WebImageError>] {
        var context = WebImageContext()
        context.callbackQueue = .inline
        let deliveries = Deliveries()
        manager.loadImage(
            with: url,
            options: options.union(.waitStoreCache),
            context: context,
            end: { deliveries.noteEnd() },
            completion: { deliveries.record($0) }
        )
        return await deliveries.all(atLeast: count)
    }

    @Test(.enabled(if: NginxServer.isInstalled))
    func `The request log shows the validators and the 304`() async throws {
        let (first, second) = (try Fixtures.data("JPEG/baseline-420.jpg"), try Fixtures.data("JPEG/gray.jpg"))
        let nginx = try await NginxServer(files: ["b.jpg": [UInt8](first)])
        let manager = manager(WebImageDownloader(config: .impatient))
        let url = nginx.url("/b.jpg")
        _ = await load(manager, url, [], atLeast: 1)
        #expect(try await load(manager, url, atLeast: 1).map { try $0.get().cacheType } == [.memory])
        try second.write(to: URL(filePath: nginx.root + "/b.jpg"))
        let results = try await load(manager, url, atLeast: 2).map { try $0.get() }
        #expect(results.map(\.cacheType) == [.memory, .none] && results[1].data == second)
        #expect(try await load(manager, url, atLeast: 1)[0].get().image === results[1].image)
        let log = await nginx.log(count: 4).map { $0.suffix(3) }
        #expect(log == ["200", "304", "200", "304"])
    }

    @Test func `The server gets its own validators, and with the server gone the cached image stays`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        let server = try LoopbackServer { request in
            request.header("If-None-Match") == "W/\"1\""
                ? .response(304)
                : .response(headers: [("ETag", "W/\"1\""), ("Last-Modified", date)], body: body)
        }
        let manager = manager(WebImageDownloader(config: .impatient))
        let url = server.url("/a.jpg")
        _ = await load(manager, url, [], atLeast: 1)
        await (manager.imageCache as? ImageCache)?.clear(.memory)
        let results = try await load(manager, url, atLeast: 1).map { try $0.get() }
        #expect(results.map(\.cacheType) == [.disk] && results[0].data == Data(body))
        let request = try #require(server.requests.last)
        #expect(request.header("If-None-Match") == "W/\"1\"" && request.header("If-Modified-Since") == date)
        server.stop()
        let offline = await load(manager, url, atLeast: 2)
        #expect(try offline[0].get().cacheType == .memory && offline.count == 2)
        #expect(throws: WebImageError.self) { try offline[1].get() }
        #expect(!manager.isFailed(url))
        #expect(try await load(manager, url, [], atLeast: 1)[0].get().cacheType == .memory)
    }

    @Test func `An error page after the image does not replace it`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let isBroken = Lock(false)
        let server = try LoopbackServer { _ in
            isBroken.withLock { $0 } ? .response(body: [UInt8]("<html>".utf8)) : .response(body: body)
        }
        let manager = manager(WebImageDownloader(config: .impatient))
        let url = server.url("/a.jpg")
        _ = await load(manager, url, [], atLeast: 1)
        isBroken.withLock { $0 = true }
        let results = await load(manager, url, atLeast: 2)
        #expect(throws: WebImageError.self) { try results[1].get() }
        await (manager.imageCache as? ImageCache)?.clear(.memory)
        let cached = try await load(manager, url, [.fromCacheOnly], atLeast: 1)[0].get()
        #expect(cached.cacheType == .disk && cached.data == Data(body))
    }
}
