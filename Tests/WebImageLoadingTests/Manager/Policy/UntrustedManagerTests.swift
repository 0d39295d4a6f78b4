import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageIsolation
@testable import WebImageLoading

/// A manager for URLs from untrusted users.
@Suite(.timeLimit(.minutes(2))) struct UntrustedManagerTests {
    private let cache = FakeCache()

    private func manager(_ policy: SourcePolicy) -> WebImageManager {
        WebImageManager(policy: policy, cache: cache, downloader: WebImageDownloader(policy), pipeline: Pipeline())
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func error(
        _ manager: WebImageManager,
        _ url: URL,
        options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) async -> WebImageError? {
        do throws(WebImageError) {
            _ = try await manager.image(with: url, options: options, context: context)
            return nil
        } catch {
            return error
        }
    }

    private func server(_ name: String = "JPEG/gray.jpg") throws -> LoopbackServer {
        let body = [UInt8](try Fixtures.data(name))
        return try LoopbackServer { _ in .response(body: body) }
    }

    // MARK: Sources

    @Test(arguments: [
        "file:///etc/passwd", "ftp://example.com/a.png", "data:image/gif;base64,R0lGODlh", "standard-input:picture",
        "avatar://ann",
        "http://127.0.0.1/a.png", "http://2130706433/a.png", "http://localhost/a.png", "http://user@example.com/a.png",
        "https://example.com:22/a.png", "http://[::1]/a.png",
    ]) func `A forbidden source is refused, even if the image is cached`(text: String) async throws {
        let url = try url(text)
        let image = Image.tiny()
        cache.edit { $0.memory[url.absoluteString] = image }
        cache.edit { $0.disk[url.absoluteString] = CachedImageData(data: Data([1])) }
        let manager = manager(.untrusted)
        let error = try #require(await error(manager, url))
        #expect(error.code == .sourceRefused && error.url == url)
        #expect(await self.error(manager, url, options: .fromCacheOnly)?.code == .sourceRefused)
        #expect(await self.error(manager, url, options: .refreshCached)?.code == .sourceRefused)
        await #expect(throws: WebImageError.self) { try await manager.data(with: url) }
        #expect(!manager.isFailed(url), "the next policy may allow it")
        #expect(cache.edit { $0.diskReads.isEmpty })
    }

    @Test func `An image from an allowed source arrives, and is served from the cache`() async throws {
        let server = try server()
        let manager = manager(try .allowing(server))
        let image = try await manager.image(with: server.url("/a.jpg"))
        #expect(image.format == .jpeg && image.pixelWidth > 0)
        #expect(await error(manager, server.url("/a.jpg")) == nil)
        #expect(server.requestCount() == 1)
        #expect(try await manager.data(with: server.url("/a.jpg")) == Fixtures.data("JPEG/gray.jpg"))
    }

    @Test func `A prefetcher loads nothing from forbidden sources`() async throws {
        let server = try server()
        let refused = try LoopbackServer { _ in .response(body: [1]) }
        for target in [WebImagePrefetcher.Target.disk, .memory] {
            let prefetcher = WebImagePrefetcher(manager: manager(try .allowing(server)))
            let progress = await prefetcher.prefetchAll(
                [server.url("/\(target).jpg"), refused.url("/b.jpg")],
                target: target
            )
            #expect(progress == PrefetchProgress(finishedCount: 2, skippedCount: 1, totalCount: 2))
        }
        #expect(refused.connectionCount == 0 && server.requestCount() == 2)
    }

    @Test func `Custom loaders are refused, whoever sets them`() async throws {
        let url = try url("https://example.com/a.png")
        let own = ClosureImageLoader(scheme: "https") { _ in
            Issue.record("it was asked")
            return Data()
        }
        var context = WebImageContext()
        context.imageLoader = own
        let manager = manager(.untrusted)
        let error = try #require(await error(manager, url, context: context))
        #expect(error.code == .sourceRefused && error.message.contains("loader"))
        let processed = context
        manager.optionsProcessor = WebImageOptionsProcessor { _, options, _ in
            WebImageOptionsResult(options: options, context: processed)
        }
        #expect(await self.error(manager, url)?.code == .sourceRefused)
    }

    @Test func `Permissive options are removed`() {
        let all: WebImageOptions = [.handleCookies, .allowInvalidSSLCertificates, .retryFailed]
        #expect(manager(.untrusted).resolve(nil, all, nil).options == .retryFailed)
        #expect(manager(.trusted).resolve(nil, all, nil).options == all)
    }

    @Test func `The policy decides about data URLs, which must contain images`() async throws {
        var policy = SourcePolicy.untrusted
        policy.schemes.insert(.data)
        policy.maximumByteCount = 10_000
        // Unit tests run without the worker program.
        policy.isolatedFormats = []
        let manager = manager(policy)
        let picture = try Fixtures.data("GIF/animated.gif")
        let good = try url("data:image/gif;base64,\(picture.base64EncodedString())")
        #expect(await error(manager, good) == nil)
        #expect(await error(manager, try url("data:text/html,%3Chtml%3E"))?.code == .badImageData)
        let big = Data(repeating: 0xFF, count: 12_000).base64EncodedString()
        #expect(await error(manager, try url("data:image/gif;base64,\(big)"))?.limit?.allowed == 10_000)
        #expect(await error(manager, try url("file:///etc/passwd"))?.code == .sourceRefused)
        #expect(await error(manager, try url("http://127.0.0.1/"))?.code == .sourceRefused)
    }

    @Test func `A trusted policy equals none`() async throws {
        let server = try server()
        let manager = manager(.trusted)
        #expect(await error(manager, server.url("/a.jpg")) == nil)
        #expect(await error(manager, URL(filePath: Fixtures.path("JPEG/gray.jpg"))) == nil)
        #expect(WebImageManager(cache: cache).policy == .trusted)
    }

    // MARK: Limits

    @Test func `The policy limits pixels and frames, whatever the context says`() async throws {
        let server = try server("GIF/animated.gif")
        var policy = try SourcePolicy.allowing(server)
        policy.maximumPixelCount = 1199
        var context = WebImageContext()
        var decoding = ImageDecodeOptions()
        decoding.limits.maximumPixelCount = .max
        context.decodeOptions = decoding
        let pixels = await error(manager(policy), server.url("/a.gif"), context: context)
        #expect(pixels?.limit == .init(name: "maximumPixelCount", allowed: 1199, required: 1200))
        policy.maximumPixelCount = 1200
        policy.maximumFrameCount = 3
        let frames = await error(manager(policy), server.url("/b.gif"), context: context)
        #expect(frames?.limit?.name == "maximumFrameCount")
        policy.maximumFrameCount = 4
        #expect(await error(manager(policy), server.url("/c.gif"), context: context) == nil)
    }

    @Test func `A decompression bomb is rejected by its header`() async throws {
        let bomb = PNGBomb.make(width: 8000, height: 8000)
        let server = try LoopbackServer { _ in .response(body: bomb) }
        let error = await error(manager(try .allowing(server)), server.url("/a.png"))
        #expect(error?.limit == .init(name: "maximumPixelCount", allowed: 50_000_000, required: 64_000_000))
        #expect(cache.diskKeys.isEmpty && cache.memoryKeys.isEmpty)
    }

    @Test func `A decode has a time limit`() async throws {
        let server = try server()
        var policy = try SourcePolicy.allowing(server)
        policy.maximumDecodeDuration = 1e-9
        #expect(await error(manager(policy), server.url("/a.jpg"))?.code == .decodeTimedOut)
    }

    @Test func `A downloader's own decodes obey the policy, too`() async throws {
        let server = try server("GIF/animated.gif")
        var policy = try SourcePolicy.allowing(server)
        policy.maximumPixelCount = 1199
        let downloader = WebImageDownloader(policy)
        let url = server.url("/a.gif")
        let plain = await #expect(throws: WebImageError.self) { try await downloader.downloadImage(with: url) }
        #expect(plain?.limit?.name == "maximumPixelCount")
        let contextual = await #expect(throws: WebImageError.self) {
            try await downloader.downloadImage(with: url, context: WebImageContext())
        }
        #expect(contextual?.limit?.name == "maximumPixelCount")
    }

    // MARK: Caches

    @Test func `Data that is not an image is not cached`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/html": .response(body: Array("<html>".utf8))
            case "/404": .response(404, body: (try? smallImageData()) ?? [])
            case "/short": .truncated((try? smallImageData()) ?? [], declared: 100_000)
            default: .response(body: [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: 100))
            }
        }
        let manager = manager(try .allowing(server))
        for path in ["/html", "/404", "/short", "/broken"] { #expect(await error(manager, server.url(path)) != nil) }
        #expect(cache.diskKeys.isEmpty && cache.memoryKeys.isEmpty)
    }

    @Test func `Managers with equal policies share a cache, others do not`() throws {
        let first = PolicyCaches.cache(of: .untrusted)
        #expect(PolicyCaches.cache(of: .untrusted) === first && first !== ImageCache.shared)
        #expect(PolicyCaches.cache(of: .trusted) === ImageCache.shared)
        let other = PolicyCaches.cache(of: try .allowing("127.0.0.1:1"))
        #expect(other !== first)
        #expect(first.diskCachePath.hasSuffix("/untrusted"))
    }

    @Test func `Under the policy, and only there, all formats are isolated`() {
        let cache = FakeCache()
        let decoding = WebImageManager(policy: .untrusted, cache: cache).decoding
        // PDF, videos and raw files are not accepted by default, but isolated where they are.
        let others = ImageFormat.videos.union([.pdf, .raw])
        #expect(decoding.isolation?.formats == SourcePolicy.untrusted.formats.union(others))
        #expect(decoding.isolation?.maximumDecodeDuration == 5 && decoding == SourcePolicy.untrusted.decoding)
        #expect(WebImageManager(policy: .trusted, cache: cache).decoding == .inProcess)
        var policy = SourcePolicy.untrusted
        policy.isolatedFormats = [.gif]
        #expect(WebImageManager(policy: policy, cache: cache).decoding.isolation?.formats == [.gif])
        policy.maximumDecodeDuration = 1
        #expect(policy.decoding.isolation?.maximumDecodeDuration == 1)
        policy.isolatedFormats = []
        #expect(WebImageManager(policy: policy, cache: cache).decoding == .inProcess)
    }

    @Test func `Without a worker program images are errors, and are not decoded in-process instead`() async throws {
        let server = try server()
        var policy = try SourcePolicy.allowing(server)
        policy.isolatedFormats = SourcePolicy.untrusted.isolatedFormats
        let manager = manager(policy)
        var isolation = try #require(manager.decoding.isolation)
        isolation.workerPath = "/nonexistent/decoder"
        manager.decoding = .isolated(isolation)
        let error = try #require(await error(manager, server.url("/a.jpg")))
        #expect(error.code == .decoderUnavailable && error.message.contains("/nonexistent/decoder"))
        #expect(cache.edit { $0.memory.isEmpty && $0.disk.isEmpty })
    }
}
