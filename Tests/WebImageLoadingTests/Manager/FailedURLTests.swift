import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer)) struct FailedURLTests {
    @Test func `A URL that failed permanently is not tried again, not even in the cache`() async throws {
        let harness = ManagerHarness.answering("bad")
        #expect(await harness.start().outcome.error()?.code == .badImageData)
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("good".utf8)) }
        #expect(await harness.start().outcome.error()?.code == .blacklisted)
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `retryFailed tries again, and success takes the URL off the list`() async throws {
        let answers = Lock(["bad", "good"])
        let harness = ManagerHarness { _ in .success(answers.withLock { $0.removeFirst() }) }
        _ = await harness.start().outcome.error()
        _ = try await harness.start(options: .retryFailed).outcome.image()
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test(arguments: [[], WebImageOptions.queryDiskDataSync])
    func `A cache hit does not take a URL off the list, since the server was not asked`(
        option: WebImageOptions
    ) async throws {
        let harness = ManagerHarness.answering("bad")
        _ = await harness.start().outcome.error()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("good".utf8)) }
        _ = try await harness.start(options: [.retryFailed, option]).outcome.image()
        #expect(harness.loader.loads.count == 1)
        #expect(harness.manager.isFailed(harness.url))
    }

    @Test func `A transient failure is not remembered`() async {
        let harness = ManagerHarness { _ in .failure(WebImageError(.timedOut, "too slow")) }
        #expect(await harness.start().outcome.error()?.code == .timedOut)
        #expect(await harness.start().outcome.error()?.code == .timedOut)
        #expect(harness.loader.loads.count == 2)
    }

    @Test func `URLs can be taken off the list`() async {
        let harness = ManagerHarness.answering("bad")
        let other = URL(string: "http://host/other")!
        _ = await harness.start().outcome.error()
        _ = await harness.start(other).outcome.error()
        harness.manager.removeFailedURL(harness.url)
        #expect(!harness.manager.isFailed(harness.url) && harness.manager.isFailed(other))
        harness.manager.removeAllFailedURLs()
        #expect(!harness.manager.isFailed(other))
    }

    @Test func `A failed URL may be tried again after its time`() async throws {
        let clock = ManualClock()
        let harness = ManagerHarness(respond: { _ in .success("bad") }, clock: clock.source)
        let (manager, url) = (harness.manager, harness.url)
        #expect(manager.failedURLLifetime == nil)
        manager.failedURLLifetime = 60
        _ = await harness.start().outcome.error()
        clock.advance(59)
        #expect(manager.isFailed(url))
        #expect(await harness.start().outcome.error()?.code == .blacklisted)
        clock.jump(1e6)
        #expect(manager.isFailed(url), "the wall clock has no part in it")
        clock.advance(1)
        #expect(!manager.isFailed(url))
        #expect(await harness.start().outcome.error()?.code == .badImageData)
        #expect(manager.isFailed(url), "it failed again, and its time starts again")
        clock.advance(30)
        _ = await harness.start(options: .retryFailed).outcome.error()
        clock.advance(59)
        #expect(manager.isFailed(url))
        manager.failedURLLifetime = nil
        clock.advance(1)
        _ = await harness.start().outcome.error()
        clock.advance(1e9)
        #expect(manager.isFailed(url), "without end")
    }

    @Test(arguments: [0, -1, -Double.infinity, .nan])
    func `With a time of zero, failures are not remembered`(lifetime: Double) async {
        let harness = ManagerHarness.answering("bad")
        harness.manager.failedURLLifetime = lifetime
        _ = await harness.start().outcome.error()
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test(arguments: [1e10, 1e300, .infinity])
    func `A very long time never ends`(lifetime: Double) async {
        let clock = ManualClock()
        let harness = ManagerHarness(respond: { _ in .success("bad") }, clock: clock.source)
        harness.manager.failedURLLifetime = lifetime
        _ = await harness.start().outcome.error()
        clock.advance(2e9)
        #expect(harness.manager.isFailed(harness.url))
    }

    @Test func `Some errors are never remembered, whatever the delegate's rule`() async {
        let harness = ManagerHarness.answering()
        let rule = BlockEverything()
        harness.manager.delegate = rule
        for code in [WebImageError.Code.cancelled, .notCached, .downloadRefused, .cacheNotModified] {
            let error = WebImageError(code, "no")
            harness.manager.noteEnd(of: harness.url, options: [], loader: harness.loader, error: error)
            #expect(!harness.manager.isFailed(harness.url), "\(code.rawValue)")
        }
        let error = WebImageError(.badImageData, "no")
        harness.manager.noteEnd(of: harness.url, options: .fromCacheOnly, loader: harness.loader, error: error)
        #expect(!harness.manager.isFailed(harness.url))
        harness.manager.noteEnd(of: harness.url, options: [], loader: harness.loader, error: error)
        #expect(harness.manager.isFailed(harness.url))
    }
}

/// A rule that remembers every failure.
private final class BlockEverything: WebImageManagerDelegate {
    func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool? { true }
}
