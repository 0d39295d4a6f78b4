import CacheTestSupport
import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct RefreshTests {
    @Test func `The cached image is delivered first, and a changed one after it`() async throws {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
        let results = try await harness.start([.refreshCached, .waitStoreCache]).deliveries.all(atLeast: 2).map {
            try $0.get()
        }
        #expect(results.map(\.data) == [Data("old".utf8), Data("new".utf8)])
        #expect(results.map(\.isFinal) == [false, true])
        #expect(results.map(\.cacheType) == [.disk, .none])
        let fields = try #require(harness.server.requests.first?.additionalHeaders)
        #expect(fields["If-None-Match"] == "\"1\"")
        #expect(fields["If-Modified-Since"] == "Mon, 01 Jan 2024 00:00:00 GMT")
        #expect(harness.disk[harness.key]?.data == Data("new".utf8))
        #expect(harness.validators == CacheValidators(etag: "\"2\"", lastModified: nil))
        #expect(harness.cache.memoryImage(forKey: harness.key) === results[1].image)
    }

    @Test func `If nothing has changed, only the cached image is delivered, and the load ends`() async {
        let harness = RefreshHarness("old", etag: "\"1\"")
        harness.put("old", etag: "\"1\"")
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["old"])
        #expect(harness.server.requests.count == 1)
        #expect(!harness.manager.isRunning && !harness.manager.isFailed(harness.url))
        #expect(await harness.manager.pipeline.becomesIdle())
    }

    @Test func `An image in memory is delivered synchronously, and refreshed`() async throws {
        let harness = RefreshHarness("old", etag: "\"1\"")
        await harness.load()
        harness.server.publish("new", etag: "\"2\"")
        harness.server.edit { $0.isHeld = true }
        let (operation, deliveries) = harness.start()
        #expect(try deliveries.all.map { try $0.get().cacheType } == [.memory] && operation.isRunning)
        await harness.server.waitForLoads(2)
        #expect(harness.server.requests[1].additionalHeaders["if-none-match"] == "\"1\"")
        harness.server.release()
        #expect(await deliveries.texts(atLeast: 2) == ["image", "new"])
    }

    @Test func `Equal bytes count as unchanged, and the entry gets the new validators`() async {
        let harness = RefreshHarness("same", etag: "\"1\"")
        harness.put("same")
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["same"])
        #expect(harness.server.requests[0].additionalHeaders.fields.isEmpty)
        #expect(harness.disk[harness.key]?.validators?.etag == "\"1\"")
        #expect(harness.fake.edit { $0.stores.allSatisfy { !$0.type.includesDisk } })
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["image"])
        #expect(harness.server.requests[1].additionalHeaders["If-None-Match"] == "\"1\"")
    }

    @Test func `A server without validators sends everything, and different bytes count as changed`() async {
        let harness = RefreshHarness("new")
        harness.put("old")
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["old", "new"])
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["image"])
        #expect(harness.server.requests.count == 2)
    }

    @Test func `An error is delivered after the cached image, and the entry stays`() async {
        let harness = RefreshHarness("new")
        harness.put("old", etag: "\"1\"")
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["old", "error 2102"])
        #expect(harness.disk[harness.key]?.data == Data("old".utf8))
        #expect(!harness.manager.isFailed(harness.url))
        #expect(harness.cache.memoryImage(forKey: harness.key) != nil)
    }

    @Test func `Bytes that are not an image are an error, and the old image stays at every level`() async {
        let harness = RefreshHarness("bad page", etag: "\"2\"")
        harness.put("old", etag: "\"1\"")
        #expect(await harness.start().deliveries.texts(atLeast: 2) == ["old", "error 1001"])
        #expect(harness.disk[harness.key]?.data == Data("old".utf8))
        #expect(harness.disk[harness.key]?.validators?.etag == "\"1\"")
        #expect(harness.cache.memoryImage(forKey: harness.key) != nil)
        #expect(!harness.manager.isFailed(harness.url), "a cached image can still be loaded")
        #expect(await harness.start([]).deliveries.texts(atLeast: 1) == ["image"])
    }

    @Test func `Cancelled after the cached image, a load ends with the cancellation`() async {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"")
        harness.server.edit { $0.isHeld = true }
        let (operation, deliveries) = harness.start()
        await harness.server.waitForLoads(1)
        operation.cancel()
        #expect(await deliveries.texts(atLeast: 2) == ["old", "error 2002"])
        // The thread that started the refresh may learn of the cancellation only now.
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(harness.server.edit { $0.loads[0].isCancelled })
        #expect(harness.disk[harness.key]?.data == Data("old".utf8))
    }

    @Test func `A load cancelled by its first callback sends no request`() async {
        let harness = RefreshHarness("new")
        harness.put("old")
        let operation = Lock<WebImageLoadOperation?>(nil)
        let gate = Gate()
        let deliveries = Deliveries()
        let load = harness.manager.loadImage(with: harness.url, options: .refreshCached, context: harness.context()) {
            if case .success = $0 {
                _ = gate.wait()
                operation.withLock { $0 }?.cancel()
            }
            deliveries.record($0)
        }
        operation.withLock { $0 = load }
        gate.open()
        await deliveries.wait(for: 2)
        #expect(harness.server.requests.isEmpty && !load.isRunning)
    }

    @Test func `Loads of one image share the request, and each gets both images`() async {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"")
        harness.server.edit { $0.isHeld = true }
        let joins = Joins()
        harness.manager.observer = joins
        let loads = (0..<5).map { _ in harness.start().deliveries }
        for load in loads { await load.wait(for: 1) }
        await harness.server.waitForLoads(1)
        // Without its own request, a load joins the running one.
        let late = harness.start().deliveries
        // A load can have its cached image before it joins: all but the first have to join the work that waits for the response.
        await late.wait(for: 1)
        await joins.counter.wait(for: 5)
        harness.server.release()
        for load in loads + [late] { #expect(await load.texts(atLeast: 2).last == "new") }
        #expect(harness.server.requests.count == 1)
    }

    @Test func `An image missing on disk is loaded whole, and the same bytes count as unchanged`() async {
        let harness = RefreshHarness("old", etag: "\"1\"")
        await harness.load()
        harness.fake.edit { $0.disk = [:] }
        let deliveries = harness.start([.refreshCached, .waitStoreCache]).deliveries
        #expect(await deliveries.texts(atLeast: 1) == ["image"])
        #expect(harness.server.requests[1].additionalHeaders.fields.isEmpty)
        #expect(harness.disk[harness.key]?.data == Data("old".utf8), "it is back")
    }

    @Test func `With fromCacheOnly or fromLoaderOnly there is only one result`() async throws {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"")
        let cached = await harness.start([.refreshCached, .fromCacheOnly]).deliveries.all(atLeast: 1)
        #expect(try cached.map { try $0.get().isFinal } == [true] && harness.server.requests.isEmpty)
        let loaded = harness.start([.refreshCached, .fromLoaderOnly]).deliveries
        #expect(await loaded.texts(atLeast: 1) == ["new"])
        #expect(harness.server.requests[0].additionalHeaders.fields.isEmpty)
    }

    @Test func `An image that is not cached is loaded as without the option`() async throws {
        let harness = RefreshHarness("new", etag: "\"1\"")
        let results = try await harness.start().deliveries.all(atLeast: 1).map { try $0.get() }
        #expect(results.count == 1 && results[0].isFinal && results[0].cacheType == .none)
        harness.put("bad entry")
        harness.fake.edit { $0.memory = [:] }
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["new"], "without an image there is no hit")
        let keyless = harness.context { $0.cacheKeyFilter = CacheKeyFilter { _ in nil } }
        #expect(await harness.start(context: keyless).deliveries.texts(atLeast: 1) == ["new"])
    }

    @Test func `Conditions of the context override the entry's validators`() async {
        let harness = RefreshHarness("new", etag: "\"2\"")
        harness.put("old", etag: "\"1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
        let context = harness.context { $0.additionalHeaders = ["If-None-Match": "\"2\"", "X-A": "b"] }
        #expect(await harness.start(context: context).deliveries.texts(atLeast: 1) == ["old"])
        let fields = harness.server.requests[0].additionalHeaders
        #expect(fields["If-None-Match"] == "\"2\"" && fields["If-Modified-Since"] == nil && fields["X-A"] == "b")
    }

    @Test func `Without a loader for it, only the cached image is delivered`() async throws {
        let harness = RefreshHarness("new")
        harness.put("old")
        harness.server.edit { $0.serves = false }
        let results = try await harness.start().deliveries.all(atLeast: 1).map { try $0.get() }
        #expect(results.map(\.isFinal) == [true] && harness.server.requests.isEmpty)
    }

    @Test func `A synchronous query delivers a disk entry in the call`() async {
        let harness = RefreshHarness("new")
        harness.put("old")
        harness.server.edit { $0.isHeld = true }
        let deliveries = harness.start([.refreshCached, .queryDiskDataSync]).deliveries
        #expect(deliveries.all.count == 1)
        await harness.server.waitForLoads(1)
        harness.server.release()
        #expect(await deliveries.texts(atLeast: 2) == ["old", "new"])
    }

    @Test func `Validators of a 304 replace those of the entry`() async {
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        let harness = RefreshHarness("old", etag: "\"1\"")
        harness.put("old", etag: "\"1\"", lastModified: date)
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["old"])
        #expect(harness.validators == CacheValidators(etag: "\"1\"", lastModified: date))
        harness.server.edit { $0.renewed["ETag"] = "W/\"1\"" }
        #expect(await harness.start().deliveries.all(atLeast: 1).count == 1)
        #expect(harness.validators == CacheValidators(etag: "W/\"1\"", lastModified: date))
        #expect(harness.disk[harness.key]?.data == Data("old".utf8), "a 304 changes no bytes")
        harness.server.edit { $0.etag = "W/\"1\"" }
        #expect(await harness.start().deliveries.all(atLeast: 1).count == 1)
        #expect(harness.server.requests.map { $0.additionalHeaders["If-None-Match"] } == ["\"1\"", "\"1\"", "W/\"1\""])
    }

    @Test func `A Last-Modified time is enough`() async {
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        let harness = RefreshHarness("old")
        harness.server.edit { $0.lastModified = date }
        await harness.load()
        #expect(harness.validators == CacheValidators(etag: nil, lastModified: date))
        #expect(await harness.start().deliveries.texts(atLeast: 1) == ["image"])
        #expect(harness.server.requests[1].additionalHeaders["If-Modified-Since"] == date)
    }

    @Test func `An image cached in memory by a query is refreshed like one cached by a load`() async throws {
        let cache = FakeDisk().cache()
        let harness = RefreshHarness("same", cache: cache)
        await harness.load()
        cache.memoryCache.removeAll()
        let found = await cache.queryImage(forKey: harness.key, context: harness.context())
        #expect(found.cacheType == .disk && cache.memoryImage(forKey: harness.key) === found.image)
        await cache.removeImage(forKey: harness.key, from: .disk)
        var resultCount = 0
        let events = harness.manager.events(with: harness.url, options: .refreshCached, context: harness.context())
        for try await event in events { if case .result = event { resultCount += 1 } }
        #expect(resultCount == 1, "the bytes are the same")
        #expect(harness.server.requests.count == 2)
    }

    @Test func `Validators are kept only of whole images`() {
        let url = URL(string: "http://host/a")!
        let rule = StorageRule()
        for status in [200, 203, 206, 404] {
            let response = HTTPResponse(url: url, statusCode: status, headers: ["ETag": "W/\"1\""])
            let validators = rule.validators(of: response, receivedHash: nil)
            #expect(validators?.etag == (status < 206 ? "W/\"1\"" : nil))
        }
        #expect(rule.validators(of: nil, receivedHash: nil) == nil)
        #expect(rule.validators(of: nil, receivedHash: 7)?.receivedHash == 7)
    }
}

/// Counts the loads that have joined other loads' work.
private final class Joins: WebImageLoadObserver {
    let counter = EventCounter()
    private let loads = Lock<Set<UInt64>>([])

    func loadDid(_ event: WebImageLoadEvent) {
        guard case .joined = event.kind else { return }
        if loads.withLock({ $0.insert(event.loadID).inserted }) { counter.signal() }
    }
}
