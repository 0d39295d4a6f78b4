import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct FailedURLTests {
    @Test func `A URL that failed for good is not tried again, not even in the cache`() async throws {
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
        #expect(!harness.manager.isBlocked(harness.url))
    }

    @Test func `A failure that may pass is not remembered`() async {
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
        #expect(!harness.manager.isBlocked(harness.url) && harness.manager.isBlocked(other))
        harness.manager.removeAllFailedURLs()
        #expect(!harness.manager.isBlocked(other))
    }

    @Test func `The list holds a bounded number, the oldest go first`() {
        var list = FailedURLs(limit: 3)
        let urls = (0..<10).map { URL(string: "http://host/\($0)")! }
        for url in urls { list.insert(url) }
        list.insert(urls[9])
        #expect(list.count == 3)
        #expect(urls.filter { list.contains($0) } == Array(urls[7...]))
        list.remove(urls[8])
        list.insert(urls[0])
        #expect(list.contains(urls[7]) && list.contains(urls[0]) && list.count == 3)
    }
}
