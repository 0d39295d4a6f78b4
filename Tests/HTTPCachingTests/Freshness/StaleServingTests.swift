import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// When an expired image is served.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct StaleServingTests {
    @Test func `A stale-while-revalidate image is delivered at once, and the new one after it`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=30")
        _ = try await harness.result()
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(70)
        let results = try await harness.deliveries(atLeast: 2).map { try $0.get() }
        #expect(results.map(\.isFinal) == [false, true] && results.map(\.isStale) == [true, false])
        #expect(results.map(\.age) == [70, nil] && results[1].text == "two")
        #expect(harness.requestCount == 2)
    }

    @Test func `If nothing has changed, only the old image is delivered, and it is fresh afterwards`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=30")
        _ = try await harness.result()
        harness.clock.advance(70)
        #expect(try await harness.result().isStale)
        let next = try await harness.result()
        #expect(!next.isStale && next.age == 0 && harness.requestCount == 2)
    }

    @Test func `A failed background refresh of a stale image is not reported`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=30")
        _ = try await harness.result()
        harness.clock.advance(70)
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        let result = try await harness.result()
        #expect(result.isStale && result.refreshError == nil && harness.requestCount == 2)
    }

    @Test func `A caller that takes only one result gets the stale image at once, and the next caller the new one`()
        async throws
    {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=30")
        _ = try await harness.result()
        harness.server.publish("two", etag: "\"2\"")
        harness.server.edit { $0.isHeld = true }
        harness.clock.advance(70)
        let (manager, url) = (harness.manager, harness.refresh.url)
        let stale = try await manager.result(with: url, context: harness.context())
        #expect(stale.isStale && stale.isFinal && stale.age == 70)
        await harness.server.waitForLoads(2)
        harness.server.release()
        #expect(await manager.pipeline.becomesIdle())
        let fresh = try await manager.result(with: url, context: harness.context())
        #expect(fresh.image.metadata.sourceHash == Data("two".utf8).contentHash && !fresh.isStale)
        await harness.forget()
        #expect(try await manager.result(with: url, context: harness.context()).text == "two")
        #expect(harness.requestCount == 2)
    }

    @Test func `Stale images served meanwhile cause only one request`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=30")
        _ = try await harness.result()
        harness.clock.advance(70)
        harness.server.edit { $0.isHeld = true }
        let loads = (1...20).map { _ in harness.refresh.start([], context: harness.context()).deliveries }
        for load in loads { await load.wait(for: 1) }
        await harness.server.waitForLoads(2)
        harness.server.release()
        for load in loads { #expect(await load.all(atLeast: 1).count == 1) }
        #expect(harness.requestCount == 2)
    }

    @Test func `Without a connection the cached image is served and marked as stale`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(100)
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        let result = try await harness.result()
        #expect(result.isStale && result.age == 100 && result.cacheType == .memory)
        #expect(result.refreshError?.code == .cannotConnectToHost)
        #expect(!harness.manager.isFailed(harness.refresh.url))
    }

    @Test(arguments: ["max-age=60, must-revalidate", "no-cache"])
    func `Without a connection an image that must be revalidated is not served`(_ control: String) async throws {
        let harness = FreshnessHarness(cacheControl: control)
        _ = try await harness.result()
        harness.clock.advance(100)
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        await #expect(throws: WebImageError.self) { try await harness.result() }
        #expect(harness.cache.diskEntry(forKey: harness.refresh.key) != nil)
    }

    @Test(arguments: [
        ("max-age=60, stale-if-error=300", 500, true), ("max-age=60", 500, false),
        ("max-age=60, stale-if-error=300", 404, false),
    ])
    func `stale-if-error serves the cached image when the server fails`(_ control: String, status: Int, isServed: Bool)
        async throws
    {
        let harness = FreshnessHarness(cacheControl: control)
        _ = try await harness.result()
        harness.clock.advance(100)
        harness.server.edit { $0.status = status }
        let outcome = await harness.deliveries()
        #expect(outcome.count == 1 && ((try? outcome[0].get().isStale) ?? false) == isServed)
    }

    @Test func `A missing image is not requested again until the 404's lifetime ends`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=30")
        harness.server.edit { $0.status = 404 }
        for _ in 1...3 {
            guard case .failure(let error) = await harness.deliveries()[0] else {
                Issue.record("an image")
                return
            }
            #expect(error.code == .invalidDownloadStatusCode && error.statusCode == 404)
        }
        #expect(harness.requestCount == 1)
        harness.clock.advance(30)
        harness.server.edit { $0.status = nil }
        #expect(try await harness.result().text == "one")
    }

    @Test(arguments: [CachePolicy.immutable, .ttl(60), .revalidate])
    func `Other policies do not remember missing images`(_ policy: CachePolicy) async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=30")
        harness.server.edit { $0.status = 404 }
        for _ in 1...2 { _ = await harness.deliveries([], harness.context(policy)) }
        #expect(harness.requestCount == 2)
    }

    @Test
    func `After its time to live an image is revalidated, and served if the server is unreachable`() async throws {
        let harness = FreshnessHarness(cacheControl: "no-store")
        let context = harness.context(.ttl(60))
        _ = try await harness.result([], context)
        harness.clock.advance(59)
        #expect(try await harness.result([], context).age == 59)
        #expect(harness.requestCount == 1)
        harness.clock.advance(2)
        #expect(try await !harness.result([], context).isStale)
        #expect(harness.requestCount == 2)
        harness.clock.advance(61)
        harness.server.edit { $0.error = WebImageError(.timedOut, "slow") }
        #expect(try await harness.result([], context).isStale)
    }

    @Test func `revalidate asks before each delivery, and serves the cached image without a connection`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=600")
        let context = harness.context(.revalidate)
        for number in 1...3 {
            #expect(try await !harness.result([], context).isStale)
            #expect(harness.requestCount == number)
        }
        harness.server.edit { $0.status = 503 }
        let result = try await harness.result([], context)
        #expect(result.isStale && result.refreshError?.statusCode == 503)
    }

    @Test func `fromCacheOnly serves stale images and marks them`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(100)
        let result = try await harness.result(.fromCacheOnly)
        #expect(result.isStale && result.age == 100 && harness.requestCount == 1)
    }

    @Test func `only-if-cached is an error where nothing fresh is cached`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let context = harness.context { $0.additionalHeaders = ["Cache-Control": "only-if-cached"] }
        for expected in [0, 1] {
            guard case .failure(let error) = await harness.deliveries([], context)[0] else {
                Issue.record("an image")
                return
            }
            #expect(error.code == .notCached && harness.requestCount == expected)
            if expected == 0 { _ = try await harness.result() }
            harness.clock.advance(100)
        }
    }

    @Test func `A load cancelled during revalidation ends as cancelled and leaves the entry`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(100)
        harness.server.edit { $0.isHeld = true }
        let (operation, deliveries) = harness.refresh.start([], context: harness.context())
        await harness.server.waitForLoads(2)
        operation.cancel()
        #expect(await deliveries.texts(atLeast: 1) == ["error 2002"])
        harness.server.release()
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(harness.cache.diskEntry(forKey: harness.refresh.key) != nil)
    }

    @Test func `A program that is about to end waits for background refreshes`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=600")
        await harness.manager.finishRefreshes()
        _ = try await harness.result()
        harness.server.publish("two", etag: "\"2\"")
        harness.server.edit { $0.isHeld = true }
        harness.clock.advance(70)
        #expect(try await harness.manager.result(with: harness.refresh.url, context: harness.context()).isStale)
        let manager = harness.manager
        let isOver = Lock(false)
        let waiting = Task {
            await manager.finishRefreshes()
            isOver.withLock { $0 = true }
        }
        await harness.server.waitForLoads(2)
        #expect(!isOver.withLock { $0 })
        harness.server.release()
        await waiting.value
        await harness.forget()
        #expect(try await harness.result().text == "two" && harness.requestCount == 2)
    }

    @Test func `A server that keeps confirming another image causes an error and does not deliver the old image`()
        async throws
    {
        let harness = FreshnessHarness(cacheControl: "max-age=60, must-revalidate")
        _ = try await harness.result()
        harness.clock.advance(61)
        harness.server.edit { content in
            content.renewed = ["ETag": "\"2\""]
            content.status = 304
            content.headers = ["ETag": "\"2\""]
        }
        guard case .failure(let error) = await harness.deliveries()[0] else {
            Issue.record("an image")
            return
        }
        #expect(error.statusCode == 304 || error.code == .cacheNotModified)
        #expect(harness.requestCount == 3 && !harness.manager.isFailed(harness.refresh.url))
    }
}
