import FoundationEssentials
import TestSupport
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
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test(arguments: [[], WebImageOptions.queryDiskDataSync])
    func `What the caches have does not take a URL off the list, for the server was not asked`(
        option: WebImageOptions
    ) async throws {
        let harness = ManagerHarness.answering("bad")
        _ = await harness.start().outcome.error()
        harness.cache.edit { $0.disk[harness.url.absoluteString] = CachedImageData(data: Data("good".utf8)) }
        _ = try await harness.start(options: [.retryFailed, option]).outcome.image()
        #expect(harness.loader.loads.count == 1)
        #expect(harness.manager.isFailed(harness.url))
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
        #expect(!harness.manager.isFailed(harness.url) && harness.manager.isFailed(other))
        harness.manager.removeAllFailedURLs()
        #expect(!harness.manager.isFailed(other))
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
        #expect(manager.isFailed(url), "it failed anew, and its time begins anew")
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
    func `With a time of nothing, failures are not remembered`(lifetime: Double) async {
        let harness = ManagerHarness.answering("bad")
        harness.manager.failedURLLifetime = lifetime
        _ = await harness.start().outcome.error()
        #expect(!harness.manager.isFailed(harness.url))
    }

    @Test(arguments: [1e9, 1e300, .infinity])
    func `A very long time is without end`(lifetime: Double) {
        let clock = ManualClock()
        var list = FailedURLs(clock: clock.source)
        let url = URL(string: "http://host/a")!
        list.insert(url, lifetime: lifetime)
        clock.advance(2e9)
        #expect(list.contains(url))
    }

    @Test func `Which errors are never remembered, whatever a rule says`() async {
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

    @Test func `What has left takes up no place for long, however often URLs come and go`() {
        var list = FailedURLs(limit: 100)
        let urls = (0..<1_000).map { URL(string: "http://host/\($0)")! }
        for round in 0..<20 {
            for url in urls {
                list.insert(url)
                if round.isMultiple(of: 2) { list.remove(url) }
            }
            #expect(list.placeCount <= 201)
        }
        #expect(list.count == 100)
    }

    @Test func `Random insertions, removals and passing time: the list holds what a simple one does`() {
        let clock = ManualClock()
        var random = SeededGenerator(seed: 7)
        var list = FailedURLs(limit: 20, clock: clock.source)
        // The URLs in the order of their last failure, and when they are over, in seconds.
        var model: [(url: URL, end: Double)] = []
        var now = 0.0
        let urls = (0..<40).map { URL(string: "http://host/\($0)")! }
        for step in 0..<20_000 {
            let url = urls.randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let lifetime: Double? = [nil, 5, 5, 5].randomElement(using: &random)!
                list.insert(url, lifetime: lifetime)
                model.removeAll { $0.url == url }
                model.append((url, lifetime.map { now + $0 } ?? .infinity))
                while model.first.map({ $0.end <= now }) ?? false { model.removeFirst() }
                if model.count > 20 { model.removeFirst() }
                while model.first.map({ $0.end <= now }) ?? false { model.removeFirst() }
            case 6..<8:
                list.remove(url)
                model.removeAll { $0.url == url }
            case 8:
                clock.advance(1)
                now += 1
            default:
                if step.isMultiple(of: 1_000) {
                    list.removeAll()
                    model = []
                }
            }
            let held = Set(model.filter { $0.end > now }.map(\.url))
            #expect(Set(urls.filter { list.contains($0) }) == held)
        }
    }

    @Test func `Ten thousand URLs are taken off in no time`() {
        var list = FailedURLs()
        let urls = (0..<10_000).map { URL(string: "http://host/\($0)")! }
        for url in urls { list.insert(url) }
        let start = ContinuousClock.now
        for url in urls.reversed() { list.remove(url) }
        #expect(list.count == 0)
        #expect(ContinuousClock.now - start < .seconds(2), "a search for each would take minutes in debug")
    }
}

/// A rule that remembers every failure that it is asked about.
private final class BlockEverything: WebImageManagerDelegate {
    func imageManager(_ manager: WebImageManager, shouldBlockFailedURL url: URL, error: WebImageError) -> Bool? { true }
}
