import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs
@testable import WebImageLoading

/// Caches under a policy: what it stores, and which entries of others it accepts.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct UntrustedCacheTests {
    private let cache = FakeCache()

    private func manager(_ policy: SourcePolicy, pipeline: Pipeline = Pipeline()) -> WebImageManager {
        WebImageManager(policy: policy, cache: cache, downloader: WebImageDownloader(policy), pipeline: pipeline)
    }

    private func error(
        _ manager: WebImageManager,
        _ url: URL,
        options: WebImageOptions = []
    ) async -> WebImageError? {
        do throws(WebImageError) {
            _ = try await manager.image(with: url, options: options)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Stores

    @Test func `A prefetch to disk decodes images before it stores them`() async throws {
        let good = [UInt8](try Fixtures.data("PNG/photo-rgb.png"))
        // The header is whole, and the pixels end in the middle.
        let bad = Array(good.prefix(good.count / 2))
        let server = try LoopbackServer { .response(body: $0.path == "/good.png" ? good : bad) }
        let urls = [server.url("/good.png"), server.url("/bad.png")]
        let prefetcher = WebImagePrefetcher(manager: manager(try .allowing(server)))
        let progress = await prefetcher.prefetchAll(urls, target: .disk)
        #expect(progress == PrefetchProgress(finishedCount: 2, skippedCount: 1, totalCount: 2))
        #expect(cache.diskKeys == [urls[0].absoluteString] && cache.memoryKeys.isEmpty)
        #expect(server.requestCount() == 2)
    }

    @Test func `A prefetch to disk has the time limit of a decode`() async throws {
        let body = try smallImageData()
        let server = try LoopbackServer { _ in .response(body: body) }
        var policy = try SourcePolicy.allowing(server)
        policy.maximumDecodeDuration = 1e-9
        let progress = await WebImagePrefetcher(manager: manager(policy))
            .prefetchAll([server.url("/a.jpg")], target: .disk)
        #expect(progress.skippedCount == 1 && cache.diskKeys.isEmpty)
    }

    // MARK: Entries of others

    /// A server of a small JPEG, and a policy that accepts nothing else from it.
    private func jpegs() throws -> (LoopbackServer, SourcePolicy) {
        let body = try smallImageData()
        let server = try LoopbackServer { _ in .response(body: body) }
        var policy = try SourcePolicy.allowing(server)
        policy.formats = [.jpeg]
        return (server, policy)
    }

    private func put(_ data: Data, at url: URL, etag: String? = nil) {
        let validators = etag.flatMap { CacheValidators(etag: $0, lastModified: nil) }
        cache.edit { $0.disk[url.absoluteString] = CachedImageData(data: data, validators: validators) }
    }

    @Test(arguments: [WebImageOptions(), .queryDiskDataSync, .refreshCached])
    func `An entry of another format is ignored`(options: WebImageOptions) async throws {
        let (server, policy) = try jpegs()
        let url = server.url("/a")
        put(try Fixtures.data("GIF/animated.gif"), at: url, etag: "\"gif\"")
        let result = await load(manager(policy), url, options: options)
        #expect(try result.get().image.format == .jpeg)
        #expect(server.requestCount() == 1)
        #expect(server.requests.first?.header("If-None-Match") == nil, "no request is sent for a rejected entry")
        // The download that replaced it is served.
        #expect(await error(manager(policy), url) == nil)
        #expect(server.requestCount() == 1)
    }

    private func load(
        _ manager: WebImageManager,
        _ url: URL,
        options: WebImageOptions
    ) async -> Result<WebImageResult, WebImageError> {
        await withCheckedContinuation { continuation in
            var context = WebImageContext()
            context.callbackQueue = .inline
            manager.loadImage(with: url, options: options, context: context) { continuation.resume(returning: $0) }
        }
    }

    @Test func `With fromCacheOnly the error says what is wrong with the entry`() async throws {
        let (server, policy) = try jpegs()
        let (gif, jpeg, text) = (server.url("/gif"), server.url("/jpeg"), server.url("/text"))
        put(try Fixtures.data("GIF/animated.gif"), at: gif)
        put(Data(try smallImageData()), at: jpeg)
        put(Data("<html>".utf8), at: text)
        let strict = manager(policy)
        #expect(await error(strict, gif, options: .fromCacheOnly)?.code == .unsupportedFormat)
        #expect(await error(strict, text, options: .fromCacheOnly)?.code == .badImageData)
        #expect(await error(strict, jpeg, options: .fromCacheOnly) == nil)
        var small = policy
        small.maximumByteCount = 10
        // The decoded image is in memory now, and is served to all.
        cache.edit { $0.memory = [:] }
        let error = await error(manager(small), jpeg, options: .fromCacheOnly)
        #expect(error?.limit?.name == "maximumByteCount" && error?.limit?.allowed == 10)
        #expect(server.requestCount() == 0)
    }

    @Test func `Bytes of a rejected entry are not delivered`() async throws {
        let (server, policy) = try jpegs()
        let url = server.url("/a")
        put(Data("root:x:0:0:root".utf8), at: url)
        let strict = manager(policy)
        await #expect(throws: WebImageError(.badImageData, "", url: url)) {
            try await strict.data(with: url, options: .fromCacheOnly)
        }
        #expect(try await strict.data(with: url) == Data(smallImageData()))
    }

    @Test func `An entry of too many pixels is rejected by its header, wherever it came from`() async throws {
        let (server, policy) = try jpegs()
        var withPNG = policy
        withPNG.formats.insert(.png)
        let url = server.url("/a")
        put(Data(PNGBomb.make(width: 8000, height: 8000)), at: url)
        let error = await error(manager(withPNG), url, options: .fromCacheOnly)
        #expect(error?.limit?.name == "maximumPixelCount")
    }

    @Test func `An entry written by the user's serializer may have any format`() async throws {
        let (server, policy) = try jpegs()
        let url = server.url("/a")
        put(try Fixtures.data("GIF/animated.gif"), at: url)
        let manager = manager(policy)
        manager.cacheSerializer = CacheSerializer { _, data, _ in data }
        #expect(await error(manager, url, options: .fromCacheOnly) == nil)
    }

    @Test func `Managers of different policies with one cache do not share the check of an entry`() throws {
        let (server, policy) = try jpegs()
        let url = server.url("/a")
        func key(_ policy: SourcePolicy) -> Boxed<LoadPlan.Original> {
            let manager = manager(policy)
            let load = manager.resolve(url, .fromCacheOnly, nil)
            let plan = manager.plan(url: url, originalKey: "key", resultKey: "key", load)
            return plan.decode.original.plan
        }
        #expect(key(policy) == key(policy))
        let wide = try SourcePolicy.allowing(server)
        var small = policy
        small.maximumByteCount = 10
        #expect(Set([key(policy), key(wide), key(small), key(.trusted)]).count == 4)
    }

    // MARK: Shared work

    @Test func `Two managers of one pipeline and one cache do not share a download across policies`() async throws {
        let body = try smallImageData()
        let gate = Gate()
        let server = try LoopbackServer { _ in .delayed(gate, then: .response(body: body)) }
        let pipeline = Pipeline()
        let wide = manager(try .allowing(server), pipeline: pipeline)
        var policy = try SourcePolicy.allowing(server)
        policy.maximumByteCount = body.count - 1
        let narrow = manager(policy, pipeline: pipeline)
        let url = server.url("/a.jpg")
        async let good = error(wide, url)
        async let bad = error(narrow, url)
        // If they shared, the second request would not arrive.
        #expect(await server.wait { requests, _ in requests == 2 })
        gate.open()
        #expect(await good == nil)
        #expect(await bad?.limit?.name == "maximumResponseByteCount")
    }

    @Test func `A download started under one policy is not joined under the next`() async throws {
        let body = try smallImageData()
        let gate = Gate()
        let server = try LoopbackServer { _ in .delayed(gate, then: .response(body: body)) }
        let downloader = WebImageDownloader(try .allowing(server))
        let (first, second) = (Recorder(), Recorder())
        downloader.start(server.url("/a.jpg"), first)
        #expect(await server.wait { requests, _ in requests == 1 })
        downloader.config.sourcePolicy.formats = [.png]
        downloader.start(server.url("/a.jpg"), second)
        #expect(await server.wait { requests, _ in requests == 2 })
        gate.open()
        await first.end()
        await second.end()
        #expect(first.error == nil && second.code == .unsupportedFormat)
    }
}
