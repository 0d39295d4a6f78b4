import FoundationEssentials
import Glibc
import LoadingTestSupport
import TestSupport
import Testing
import WebImage

/// What answers must not do to a picture that is cached.
@Suite(.timeLimit(.minutes(1))) struct KeptPictureTests {
    private func code(
        _ harness: FreshnessHarness,
        _ options: WebImageOptions = [],
        _ context: WebImageContext? = nil
    ) async -> WebImageError.Code? {
        guard case .failure(let error) = await harness.deliveries(options, context).last else { return nil }
        return error.code
    }

    @Test(arguments: [CachePolicy.http, .revalidate])
    func `An answer that is no picture blocks nothing while there is one`(_ policy: CachePolicy) async throws {
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

    @Test func `An answer that is no picture blocks the URL where there is none`() async {
        let harness = FreshnessHarness("bad", cacheControl: "max-age=60")
        #expect(await code(harness) == .badImageData)
        #expect(harness.manager.isFailed(harness.refresh.url))
    }

    // MARK: What the server does not have

    /// A server that has said for a day that there is nothing.
    private func missing() async -> FreshnessHarness {
        let harness = FreshnessHarness(cacheControl: "max-age=86400")
        harness.server.edit { $0.status = 404 }
        #expect(await code(harness) == .invalidDownloadStatusCode)
        harness.server.edit { $0.status = nil }
        #expect(await code(harness) == .invalidDownloadStatusCode && harness.requestCount == 1)
        return harness
    }

    @Test func `A picture that came past the memory of a 404 ends it`() async throws {
        let harness = await missing()
        #expect(try await harness.result(.fromLoaderOnly).text == "one")
        #expect(try await harness.result().cacheType == .memory)
        await harness.forget()
        #expect(try await harness.result().cacheType == .disk && harness.requestCount == 2)
    }

    @Test func `Bytes that came past it end it, too, and heed it like a picture`() async throws {
        let harness = await missing()
        let (manager, url) = (harness.manager, harness.refresh.url)
        await #expect(throws: WebImageError.self) { try await manager.data(with: url, context: harness.context()) }
        #expect(harness.requestCount == 1)
        let data = try await manager.data(with: url, options: .fromLoaderOnly, context: harness.context())
        #expect(data == Data("one".utf8))
        #expect(try await harness.result().text == "one")
    }

    @Test func `A 404 to somebody who asks for bytes is remembered for all`() async throws {
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

    @Test func `A 404 is remembered for the request that was asked, and no other`() async throws {
        let harness = await missing()
        let context = harness.context { $0.additionalHeaders["Authorization"] = "me" }
        #expect(try await harness.result([], context).text == "one")
        #expect(await code(harness) == .invalidDownloadStatusCode && harness.requestCount == 2)
    }

    @Test(arguments: [(100, true), (60_000, false)])
    func `A long answer is remembered without its fields`(byteCount: Int, isKept: Bool) async {
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

    @Test func `retryFailed is about failures, and the server's word holds`() async throws {
        let harness = await missing()
        #expect(await code(harness, .retryFailed) == .invalidDownloadStatusCode && harness.requestCount == 1)
    }

    @Test(arguments: [true, false]) func `What is said to be worth another try is asked for`(one: Bool) async throws {
        let harness = await missing()
        if one { harness.manager.removeFailedURL(harness.refresh.url) } else { harness.manager.removeAllFailedURLs() }
        #expect(try await harness.result().text == "one")
    }

    // MARK: What is out of date

    @Test func `A thumbnail of the picture before is made anew of the server's when the original has gone`()
        async throws
    {
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

    @Test func `What could not be written is not taken for what lies there`() async throws {
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

    @Test func `A 304 that comes late leaves the picture that has taken the place of its own alone`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        harness.say("max-age=60", ["Vary": "Accept-Language"])
        func context(_ language: String) -> WebImageContext {
            harness.context { $0.additionalHeaders = ["Accept-Language": language] }
        }
        _ = try await harness.result([], context("en"))
        harness.clock.advance(61)
        harness.server.edit { $0.isHeld = true }
        // The question is answered for what the server had when it was asked: a 304.
        let late = harness.refresh.start([], context: context("en"))
        await harness.server.waitForLoads(2)
        harness.server.edit { $0.isHeld = false }
        let held = harness.server.takeHeldAnswers()
        harness.server.publish("zwei", etag: "\"2\"")
        #expect(try await harness.result([], context("de")).text == "zwei")
        harness.server.edit { $0.isHeld = true }
        harness.server.publish("one", etag: "\"1\"")
        held()
        // What lies there now is not what the 304 was about, so the picture is asked for once more.
        await harness.server.waitForLoads(4)
        let entry = try #require(harness.cache.diskEntry(forKey: harness.refresh.key))
        #expect(entry.data == Data("zwei".utf8) && entry.validators?.etag == "\"2\"")
        #expect(harness.cache.knownValidators(forKey: harness.refresh.key)?.validators?.etag == "\"2\"")
        harness.server.release()
        #expect(try await late.deliveries.all(atLeast: 1).last?.get().text == "one")
    }
}
