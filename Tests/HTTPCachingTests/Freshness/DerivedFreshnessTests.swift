import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageLoading

/// Revalidation of images whose original is not kept on disk.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct DerivedFreshnessTests {
    /// A load that caches its result only in memory.
    private func memoryOnly(_ harness: FreshnessHarness, _ policy: CachePolicy = .http) -> WebImageContext {
        harness.context(policy) { context in
            context.storeCacheType = .memory
            context.originalStoreCacheType = ImageCacheType.none
        }
    }

    /// A load that caches a thumbnail, but not its original.
    private func thumbnailOnly(_ harness: FreshnessHarness, side: Double = 2) -> WebImageContext {
        harness.context { context in
            context.thumbnailPixelSize = ImageSize(width: side, height: side)
            context.originalStoreCacheType = ImageCacheType.none
        }
    }

    private func condition(_ harness: FreshnessHarness) -> String? {
        harness.server.requests.last?.additionalHeaders["If-None-Match"]
    }

    @Test func `An image kept only in memory is served synchronously until its lifetime ends`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        #expect(try await harness.result([], memoryOnly(harness)).cacheType == .none)
        harness.clock.advance(59)
        let (operation, deliveries) = harness.refresh.start([], context: memoryOnly(harness))
        let result = try #require(deliveries.all.first).get()
        #expect(operation.isFinished && result.cacheType == .memory && result.age == 59 && !result.isStale)
        #expect(harness.requestCount == 1)
        #expect(harness.cache.diskEntry(forKey: harness.refresh.key) == nil)
    }

    @Test func `An expired image is revalidated with its validator, and a 304 makes it fresh again`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result([], memoryOnly(harness))
        harness.clock.advance(61)
        let renewed = try await harness.result([], memoryOnly(harness))
        #expect(renewed.cacheType == .memory && renewed.age == 0 && condition(harness) == "\"1\"")
        harness.clock.advance(59)
        #expect(try await harness.result([], memoryOnly(harness)).age == 59)
        #expect(harness.requestCount == 2)
    }

    @Test(arguments: [CachePolicy.revalidate, .ttl(60)])
    func `Policies that ignore the server's lifetime revalidate with the validator, too`(_ policy: CachePolicy)
        async throws
    {
        let harness = FreshnessHarness(cacheControl: nil)
        _ = try await harness.result([], memoryOnly(harness, policy))
        harness.clock.advance(61)
        #expect(try await harness.result([], memoryOnly(harness, policy)).cacheType == .memory)
        #expect(condition(harness) == "\"1\"" && harness.requestCount == 2)
    }

    @Test func `A newer image replaces the old one`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result([], memoryOnly(harness))
        harness.server.publish("two", etag: "\"2\"")
        harness.clock.advance(61)
        let fresh = try await harness.result([], memoryOnly(harness))
        #expect(fresh.text == "two" && fresh.cacheType == .none)
        let kept = try await harness.result([], memoryOnly(harness))
        #expect(kept.image.metadata.sourceHash == Data("two".utf8).contentHash && kept.cacheType == .memory)
        #expect(harness.requestCount == 2)
    }

    @Test func `An image evicted from memory is downloaded again without a condition`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result([], memoryOnly(harness))
        await harness.cache.clear(.memory)
        #expect(try await harness.result([], memoryOnly(harness)).text == "one")
        #expect(condition(harness) == nil && harness.requestCount == 2)
    }

    @Test func `A stale-while-revalidate image is delivered at once, revalidated once, and then fresh`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=600")
        _ = try await harness.result([], memoryOnly(harness))
        harness.clock.advance(61)
        let stale = try await harness.result([], memoryOnly(harness))
        #expect(stale.isStale && stale.cacheType == .memory && condition(harness) == "\"1\"")
        let fresh = try await harness.result([], memoryOnly(harness))
        #expect(!fresh.isStale && fresh.age == 0 && harness.requestCount == 2)
    }

    @Test func `A caller that takes only one result gets the stale image and leaves a fresh one for the next`()
        async throws
    {
        let harness = FreshnessHarness(cacheControl: "max-age=60, stale-while-revalidate=600")
        _ = try await harness.result([], memoryOnly(harness))
        harness.clock.advance(61)
        let stale = try await harness.manager.result(with: harness.refresh.url, context: memoryOnly(harness))
        #expect(stale.isStale)
        #expect(await harness.manager.pipeline.becomesIdle())
        #expect(try await !harness.result([], memoryOnly(harness)).isStale)
        #expect(harness.requestCount == 2)
    }

    @Test func `A no-store response leaves no validators on the image and no entry in memory`() async throws {
        let harness = FreshnessHarness(cacheControl: "no-store")
        let result = try await harness.result([], memoryOnly(harness))
        #expect(result.image.metadata.heldValidators == nil)
        #expect(harness.cache.memoryImage(forKey: harness.refresh.key) == nil)
    }

    @Test func `A thumbnail on disk is revalidated with its original's validator`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result([], thumbnailOnly(harness))
        await harness.forget()
        harness.clock.advance(61)
        #expect(try await harness.result([], thumbnailOnly(harness)).cacheType == .disk)
        #expect(condition(harness) == "\"1\"" && harness.requestCount == 2)
        // The 304 is recorded on disk: a new process does not ask again.
        await harness.forget()
        harness.clock.advance(59)
        let later = try await harness.result([], thumbnailOnly(harness))
        #expect(later.cacheType == .disk && later.age == 59 && harness.requestCount == 2)
    }

    @Test func `A thumbnail of another size is downloaded again, and each size has its own lifetime`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        _ = try await harness.result([], thumbnailOnly(harness))
        harness.clock.advance(30)
        _ = try await harness.result([], thumbnailOnly(harness, side: 3))
        #expect(condition(harness) == nil && harness.requestCount == 2)
        harness.clock.advance(31)
        #expect(try await harness.result([], thumbnailOnly(harness, side: 3)).age == 31)
        #expect(harness.requestCount == 2)
        #expect(try await harness.result([], thumbnailOnly(harness)).age == 0)
        #expect(condition(harness) == "\"1\"" && harness.requestCount == 3)
    }

    @Test func `The default policy attaches no validators`() async throws {
        let harness = FreshnessHarness(cacheControl: "max-age=60")
        let result = try await harness.result([], memoryOnly(harness, .immutable))
        #expect(result.image.metadata.heldValidators == nil)
        harness.clock.advance(61)
        #expect(try await harness.result([], memoryOnly(harness, .immutable)).cacheType == .memory)
        #expect(harness.requestCount == 1)
    }
}
