import FoundationEssentials
import Glibc
import LoadingTestSupport
import TestSupport
import Testing
import WebImage

/// Responses that must not change a cached image.
@Suite(.timeLimit(.minutes(1))) struct KeptImageTests {
    private func code(
        _ harness: FreshnessHarness,
        _ options: WebImageOptions = [],
        _ context: WebImageContext? = nil
    ) async -> WebImageError.Code? {
        guard case .failure(let error) = await harness.deliveries(options, context).last else { return nil }
        return error.code
    }

    @Test(arguments: [CachePolicy.http, .revalidate])
    func `A response whose body is not an image does not block a URL that has a cached image`(_ policy: CachePolicy)
        async throws
    {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let context = harness.context(policy)
        _ = try await harness.result([], context)
        harness.clock.advance(61)
        harness.server.publish("bad gateway", etag: "\"2\"")
        #expect(await code(harness, [], context) == .badImageData)
        #expect(!harness.manager.isFailed(harness.refresh.url))
        #expect(try await harness.result(.fromCacheOnly, context).cacheType == .memory)
        harness.server.publish("two", etag: "\"3\"")
        #expect(try await harness.result([], context).text == "two")
    }

    @Test func `A response whose body is not an image blocks a URL that has no cached image`() async {
        let harness = FreshnessHarness("bad", cacheControl: "max-age=60")
        #expect(await code(harness) == .badImageData)
        #expect(harness.manager.isFailed(harness.refresh.url))
    }

    // MARK: Missing images

    /// A server that answers 404 with a lifetime of a day.
    private func missing() async -> FreshnessHarness {
        let harness = FreshnessHarness(cacheControl: "max-age=86400")
        harness.server.edit { $0.status = 404 }
        #expect(await code(harness) == .invalidDownloadStatusCode)
        harness.server.edit { $0.status = nil }
        #expect(await code(harness) == .invalidDownloadStatusCode && harness.requestCount == 1)
        return harness
    }

    @Test func `An image loaded past a remembered 404 ends it`() async throws {
        let harness = await missing()
        #expect(try await harness.result(.fromLoaderOnly).text == "one")
        #expect(try await harness.result().cacheType == .memory)
        await harness.forget()
        #expect(try await harness.result().cacheType == .disk && harness.requestCount == 2)
    }

    @Test func `Bytes loaded past a remembered 404 end it, and data loads obey it like image loads`() async throws {
        let harness = await missing()
        let (manager, url) = (harness.manager, harness.refresh.url)
        await #expect(throws: WebImageError.self) { try await manager.data(with: url, context: harness.context()) }
        #expect(harness.requestCount == 1)
        let data = try await manager.data(with: url, options: .fromLoaderOnly, context: harness.context())
        #expect(data == Data("one".utf8))
        #expect(try await harness.result().text == "one")
    }

    @Test func `A 404 to a data load is remembered for image loads, too`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result()
        harness.clock.advance(61)
        harness.say("max-age=600")
        harness.server.edit { $0.status = 404 }
        let (manager, url) = (harness.manager, harness.refresh.url)
        for _ in 1...2 {
            await #expect(throws: WebImageError.self) { try await manager.data(with: url, context: harness.context()) }
        }
        #expect(await code(harness) == .invalidDownloadStatusCode && harness.requestCount == 2)
    }

    @Test func `A 404 is remembered only for the same request fields`() async throws {
        let harness = await missing()
        let context = harness.context { $0.additionalHeaders["Authorization"] = "me" }
        #expect(try await harness.result([], context).text == "one")
        #expect(await code(harness) == .invalidDownloadStatusCode && harness.requestCount == 2)
    }

    @Test(arguments: [(100, true), (60_000, false)])
    func `A 404 with large header fields is remembered without them`(byteCount: Int, isKept: Bool) async {
        let harness = FreshnessHarness(cacheControl: nil)
        harness.say("max-age=600", ["X-Bulk": String(repeating: "x", count: byteCount)])
        harness.server.edit { $0.status = 404 }
        let errors = await [harness.deliveries(), harness.deliveries()].map { deliveries -> WebImageError? in
            if case .failure(let error)? = deliveries.first { return error }
            return nil
        }
        #expect(errors.map { $0?.statusCode } == [404, 404] && harness.requestCount == 1)
        #expect(errors.map { $0?.response != nil } == [true, isKept])
    }

    @Test func `retryFailed applies to failures and does not override a remembered 404`() async throws {
        let harness = await missing()
        #expect(await code(harness, .retryFailed) == .invalidDownloadStatusCode && harness.requestCount == 1)
    }

    @Test(arguments: [true, false]) func `removeFailedURL makes a remembered 404 be requested again`(one: Bool)
        async throws
    {
        let harness = await missing()
        if one { harness.manager.removeFailedURL(harness.refresh.url) } else { harness.manager.removeAllFailedURLs() }
        #expect(try await harness.result().text == "one")
    }

    // MARK: Outdated entries

    @Test func `A thumbnail is made again from the new image when the original has been removed`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let thumbnail = harness.context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 2) }
        _ = try await harness.result([], thumbnail)
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(61)
        #expect(try await harness.result().text == "two")
        harness.cache.diskCache.removeData(forKey: harness.refresh.key)
        let new = try await harness.result([], thumbnail)
        #expect(new.image.metadata.sourceHash == Data("two".utf8).contentHash && new.cacheType == .none)
        #expect(harness.requestCount == 3)
    }

    @Test func `A failed write does not make the old entry pass for the new one`() async throws {
        let isFailing = Lock(false)
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { file, bytes, count in
            isFailing.withLock { $0 } ? -Int(EIO) : write(file, bytes, count)
        }
        let harness = FreshnessHarness(cacheControl: "max-age=60", calls: calls)
        _ = try await harness.result()
        await harness.cache.flush()
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(61)
        isFailing.withLock { $0 = true }
        #expect(try await harness.result().text == "two")
        await harness.cache.flush()
        isFailing.withLock { $0 = false }
        await harness.cache.clear(.memory)
        let next = try await harness.result()
        #expect(next.text == "two" && next.cacheType == .none && harness.requestCount == 3)
    }

    @Test func `A late 304 for a replaced image leaves the new entry unchanged`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        harness.say("max-age=60", ["Vary": "Accept-Language"])
        func context(_ language: String) -> WebImageContext {
            harness.context { $0.additionalHeaders = ["Accept-Language": language] }
        }
        _ = try await harness.result([], context("en"))
        harness.clock.advance(61)
        harness.server.edit { $0.isHeld = true }
        // The server answers for the image that it had when it was asked: a 304.
        let late = harness.refresh.start([], context: context("en"))
        await harness.server.waitForLoads(2)
        harness.server.edit { $0.isHeld = false }
        let held = harness.server.takeHeldAnswers()
        harness.server.publish("zwei", etag: "\"2\"")
        #expect(try await harness.result([], context("de")).text == "zwei")
        harness.server.edit { $0.isHeld = true }
        harness.server.publish("one", etag: "\"1\"")
        held()
        // The entry has been replaced since, so the image is requested once more.
        await harness.server.waitForLoads(4)
        let entry = try #require(harness.cache.diskEntry(forKey: harness.refresh.key))
        #expect(entry.data == Data("zwei".utf8) && entry.validators?.etag == "\"2\"")
        #expect(harness.cache.knownValidators(forKey: harness.refresh.key)?.validators?.etag == "\"2\"")
        harness.server.release()
        #expect(try await late.deliveries.all(atLeast: 1).last?.get().text == "one")
    }
}
