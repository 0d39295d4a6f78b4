import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// Deliveries and requests of `CachePolicy.http`.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct FreshnessTests {
    @Test func `A fresh image in memory is delivered synchronously with its age and without a request`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        #expect(try await harness.result().cacheType == .none)
        harness.clock.advance(59)
        let (operation, deliveries) = harness.refresh.start([], context: harness.context())
        let result = try #require(deliveries.all.first).get()
        #expect(operation.isFinished && result.cacheType == .memory && !result.isStale)
        #expect(result.age == 59 && result.response?.headers["Age"] == "59")
        #expect(harness.requestCount == 1)
    }

    @Test func `An expired image is revalidated, and a 304 makes it fresh again`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(60)
        let renewed = try await harness.result()
        #expect(renewed.cacheType == .memory && !renewed.isStale && renewed.age == 0)
        #expect(harness.server.requests.last?.additionalHeaders["If-None-Match"] == "\"1\"")
        harness.clock.advance(59)
        #expect(try await harness.result().age == 59)
        #expect(harness.requestCount == 2)
    }

    @Test func `A changed image is delivered without the old one and replaces it`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(61)
        let fresh = try await harness.result()
        #expect(fresh.text == "two" && fresh.cacheType == .none && fresh.age == nil)
        await harness.forget()
        let stored = try await harness.result()
        #expect(stored.text == "two" && stored.cacheType == .disk && harness.requestCount == 2)
    }

    @Test func `In a new process the record on disk decides`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        await harness.forget()
        harness.clock.advance(30)
        let result = try await harness.result()
        #expect(result.cacheType == .disk && result.age == 30 && harness.requestCount == 1)
        await harness.forget()
        harness.clock.advance(31)
        #expect(try await harness.result().cacheType == .disk)
        #expect(harness.requestCount == 2)
    }

    @Test func `A 304 changes the stored record, but not the file's body`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        await harness.cache.flush()
        let path = try #require(harness.cache.cachePath(forKey: harness.refresh.key))
        let before = try Data(contentsOf: URL(filePath: path))
        harness.clock.advance(61)
        harness.say("max-age=600")
        _ = try await harness.result()
        await harness.forget()
        let after = try Data(contentsOf: URL(filePath: path))
        #expect(after.count == before.count && after != before && after.prefix(3) == Data("one".utf8))
        harness.clock.advance(599)
        #expect(try await harness.result().age == 599)
        #expect(harness.requestCount == 2)
    }

    @Test(arguments: [CachePolicy.http, .immutable])
    func `A no-store image is delivered but not cached under the policy that obeys the server`(
        _ policy: CachePolicy
    ) async throws {
        let harness = FreshnessHarness(cacheControl: "no-store")
        #expect(try await harness.result([], harness.context(policy)).text == "one")
        await harness.cache.flush()
        let key = harness.refresh.key
        let isKept = policy == .immutable
        #expect((harness.cache.memoryImage(forKey: key) != nil) == isKept)
        #expect((harness.cache.diskEntry(forKey: key) != nil) == isKept)
        _ = try await harness.result([], harness.context(policy))
        #expect(harness.requestCount == (isKept ? 1 : 2))
    }

    @Test func `An image that becomes no-store is removed from memory and disk`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=1")
        _ = try await harness.result()
        harness.server.publish("two", etag: "\"2\"")
        harness.say("no-store")
        harness.clock.advance(2)
        #expect(try await harness.result().text == "two")
        await harness.cache.flush()
        #expect(harness.cache.memoryImage(forKey: harness.refresh.key) == nil)
        #expect(harness.cache.diskEntry(forKey: harness.refresh.key) == nil)
    }

    @Test func `A no-cache image is revalidated on each load, but downloaded once`() async throws {
        let harness = FreshnessHarness(cacheControl: "no-cache")
        #expect(try await harness.result().cacheType == .none)
        for _ in 1...3 { #expect(try await harness.result().cacheType == .memory) }
        #expect(harness.requestCount == 4)
    }

    @Test func `A response without cache fields and validators is requested on each load`() async throws {
        let harness = FreshnessHarness(etag: nil, cacheControl: nil)
        _ = try await harness.result()
        // The bytes are the same, so the image in memory is used.
        #expect(try await harness.result().cacheType == .memory)
        #expect(harness.requestCount == 2)
    }

    @Test func `A stored response with other Vary fields is not used for this request`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        harness.say("max-age=60", ["Vary": "Accept-Language"])
        func load(_ language: String) async throws -> WebImageResult {
            try await harness.result([], harness.context { $0.additionalHeaders = ["Accept-Language": language] })
        }
        _ = try await load("de")
        #expect(try await load("de").cacheType == .memory)
        harness.server.publish("deux", etag: "\"2\"")
        #expect(try await load("fr").text == "deux")
        #expect(try await load("fr").cacheType == .memory)
        #expect(harness.requestCount == 2)
    }

    @Test func `A 304 with another entity tag is ignored, and the image is fetched whole`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=1")
        _ = try await harness.result()
        harness.clock.advance(2)
        harness.server.edit { content in
            content.text = "two"
            content.renewed["ETag"] = "\"2\""
        }
        #expect(try await harness.result().text == "two")
        #expect(harness.requestCount == 3)
        #expect(harness.server.requests.last?.additionalHeaders["If-None-Match"] == nil)
    }

    @Test func `A thumbnail of the old image is not served for the new one`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let thumbnail = harness.context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) }
        _ = try await harness.result([], thumbnail)
        let old = try await harness.result([], thumbnail).image
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(61)
        #expect(try await harness.result().text == "two")
        let new = try await harness.result([], thumbnail).image
        #expect(new.metadata.sourceHash != old.metadata.sourceHash)
        #expect(new.metadata.sourceHash == Data("two".utf8).contentHash)
        #expect(harness.requestCount == 2)
    }

    @Test func `Where the original is not kept, a derived image is judged by its own record`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let thumbnail = harness.context { context in
            context.thumbnailPixelSize = ImageSize(width: 2, height: 2)
            context.originalStoreCacheType = ImageCacheType.none
        }
        _ = try await harness.result([], thumbnail)
        await harness.forget()
        harness.clock.advance(59)
        #expect(try await harness.result([], thumbnail).cacheType == .disk)
        #expect(harness.requestCount == 1)
        harness.clock.advance(2)
        _ = try await harness.result([], thumbnail)
        #expect(harness.requestCount == 2)
    }

    @Test func `The default policy sends no request, whatever the server's fields say`() async throws {
        let harness = FreshnessHarness(cacheControl: "no-cache, max-age=0")
        #expect(harness.manager.cachePolicy == .immutable)
        for _ in 1...3 {
            let result = try await harness.result([], harness.refresh.context())
            #expect(result.age == nil && !result.isStale)
        }
        #expect(harness.requestCount == 1)
        harness.manager.cachePolicy = .http
        _ = try await harness.result([], harness.refresh.context())
        #expect(harness.requestCount == 2)
        _ = try await harness.result([], harness.context(.immutable))
        #expect(harness.requestCount == 2)
    }

    @Test func `The original bytes have the same freshness as the image`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        let (manager, url, context) = (harness.manager, harness.refresh.url, harness.context())
        #expect(try await manager.data(with: url, context: context) == Data("one".utf8))
        #expect(harness.requestCount == 1)
        harness.clock.advance(61)
        #expect(try await manager.data(with: url, context: context) == Data("one".utf8))
        #expect(harness.requestCount == 2)
        harness.clock.advance(61)
        harness.server.publish("two", etag: "\"2\"")
        #expect(try await manager.data(with: url, context: context) == Data("two".utf8))
        harness.server.edit { $0.error = WebImageError(.cannotConnectToHost, "offline") }
        #expect(try await manager.data(with: url, context: context) == Data("one".utf8))
    }

    @Test(arguments: [(WebImageOptions(), 1), (.refreshCached, 2)])
    func `A revalidation finished by another load is not repeated, unless the load always asks`(
        _ options: WebImageOptions,
        requestCount: Int
    ) async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        // A plan made before another load's response arrived.
        let plan = harness.manager.plan(
            url: harness.refresh.url,
            originalKey: harness.refresh.key,
            resultKey: harness.refresh.key,
            harness.manager.resolve(nil, options, harness.context()),
            revalidation: LoadPlan.Revalidation(
                asksAlways: options.contains(.refreshCached),
                policy: .http,
                request: HTTPCacheRequest()
            )
        )
        let work = try #require(RevalidationWork(plan: plan.decode.original.plan))
        let result = await withCheckedContinuation { continuation in
            harness.manager.pipeline.subscribe(to: work) { continuation.resume(returning: $0) }
        }
        guard case .success(.revalidated(.current)) = result else {
            Issue.record("there is something newer")
            return
        }
        #expect(harness.requestCount == requestCount)
    }

    @Test func `The verdict and its reason are reported`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(20)
        let recording = LoadRecording()
        _ = try await harness.result([], harness.context { $0.observer = recording })
        let verdicts = recording.events.compactMap { event -> CacheVerdict? in
            if case .judged(let verdict) = event.kind { return verdict }
            return nil
        }
        #expect(verdicts.map(\.outcome) == [.serves] && verdicts.map(\.age) == [20])
        #expect(recording.explanation.contains("The cached image (20 s old) is used: max-age says that it is fresh."))
    }

    @Test func `With queryDiskDataSync a fresh image on disk is delivered synchronously`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        await harness.forget()
        let (operation, deliveries) = harness.refresh.start(.queryDiskDataSync, context: harness.context())
        let result = try #require(deliveries.all.first).get()
        #expect(operation.isFinished && result.cacheType == .disk && harness.requestCount == 1)
    }

    @Test func `A time to live also applies to loaders that return no response`() async throws {
        let harness = FreshnessHarness(cacheControl: nil)
        let count = Lock(0)
        let loader = ClosureImageLoader(canLoad: { _, _ in true }) { _, _ in
            count.withLock { $0 += 1 }
            return LoadedImageData(data: Data("own".utf8))
        }
        let context = harness.context(.ttl(60)) { $0.imageLoader = loader }
        for _ in 1...3 {
            _ = try await harness.result([], context)
            harness.clock.advance(20)
        }
        #expect(count.withLock { $0 } == 1)
        harness.clock.advance(20)
        _ = try await harness.result([], context)
        #expect(count.withLock { $0 } == 2)
    }

    @Test func `fromCacheOnly does not serve one request the response to another`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        harness.say("max-age=60", ["Vary": "Authorization"])
        let mine = harness.context { $0.additionalHeaders = ["Authorization": "me"] }
        let yours = harness.context { $0.additionalHeaders = ["Authorization": "you"] }
        _ = try await harness.result([], mine)
        #expect(try await harness.result(.fromCacheOnly, mine).cacheType == .memory)
        guard case .failure(let error) = await harness.deliveries(.fromCacheOnly, yours)[0] else {
            Issue.record("a response to another request was delivered")
            return
        }
        #expect(error.code == .notCached && harness.requestCount == 1)
    }

    @Test(arguments: [WebImageOptions.fromCacheOnly, [.fromCacheOnly, .refreshCached]])
    func `fromCacheOnly reports the age of a stale image`(_ options: WebImageOptions) async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(100)
        let patient = harness.context { $0.additionalHeaders = ["Cache-Control": "max-stale=600"] }
        for context in [harness.context(), patient] {
            let result = try await harness.result(options, context)
            #expect(result.isStale && result.age == 100)
        }
    }
}
