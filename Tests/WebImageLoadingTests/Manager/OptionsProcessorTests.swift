import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

@Suite struct OptionsProcessorTests {
    /// A manager whose processor applies `change` to the context.
    private func harness(
        _ text: String = "picture",
        _ change:
            @escaping @Sendable (URL?, inout WebImageOptions, inout WebImageContext) -> Void
    ) -> ManagerHarness {
        let harness = ManagerHarness.answering(text)
        harness.manager.optionsProcessor = WebImageOptionsProcessor { url, options, context in
            var (options, context) = (options, context)
            change(url, &options, &context)
            return WebImageOptionsResult(options: options, context: context)
        }
        return harness
    }

    private struct Mark: WebImageContextKey {
        static let defaultValue = 0
    }

    @Test func `The processor sees the manager's parts`() async throws {
        let seen = Lock<[(URL?, WebImageOptions, String?, String?, Bool, Int)]>([])
        let harness = ManagerHarness.answering()
        harness.manager.transformer = FakeTransformer("own")
        harness.manager.cacheKeyFilter = CacheKeyFilter { _ in "filtered" }
        harness.manager.cacheSerializer = CacheSerializer { _, data, _ in data }
        harness.manager.optionsProcessor = WebImageOptionsProcessor { url, options, context in
            var key: String?
            if case .transformer(let transformer) = context.imageTransformer { key = transformer.transformerKey }
            let filtered = url.flatMap { context.cacheKeyFilter?.cacheKey(for: $0) }
            seen.withLock {
                $0.append((url, options, key, filtered, context.cacheSerializer != nil, context[Mark.self]))
            }
            return nil
        }
        let context = harness.context { $0[Mark.self] = 5 }
        let result = try await harness.start(options: .lowPriority, context: context).outcome.value().get()
        #expect(result.image.metadata.isTransformed && result.cacheKey == "filtered-own", "nil leaves all as it was")
        let other = harness.context {
            $0.imageTransformer = .none
            $0.cacheKeyFilter = CacheKeyFilter { _ in "other" }
        }
        _ = try await harness.start(context: other).outcome.image()
        _ = harness.manager.loadImage(with: nil, context: context) { _ in }
        let calls = seen.withLock { $0 }
        #expect(calls.map(\.0) == [harness.url, harness.url, nil])
        #expect(calls.map(\.1) == [.lowPriority, [], []])
        #expect(calls.map(\.2) == ["own", nil, "own"])
        #expect(calls.map(\.3) == ["filtered", "other", nil])
        #expect(calls.allSatisfy { $0.4 })
        #expect(calls.map(\.5) == [5, 0, 5])
    }

    @Test func `The processor changes options and context`() async throws {
        let harness = harness { _, options, context in
            options.insert(.fromLoaderOnly)
            context.thumbnailPixelSize = ImageSize(width: 2, height: 2)
        }
        let first = try await harness.start().outcome.value().get()
        #expect(first.image.pixelWidth == 2)
        #expect(first.cacheKey == harness.manager.cacheKey(for: harness.url, context: harness.thumbnail(2)))
        #expect(
            harness.manager.cacheKey(for: harness.url, context: nil) == harness.url.absoluteString,
            "it is not asked"
        )
        _ = try await harness.start().outcome.image()
        #expect(harness.loader.loads.count == 2, "not even memory is looked into")
    }

    @Test @MainActor func `Callbacks run on the processor's callback queue`() async throws {
        let harness = harness { _, _, context in context.callbackQueue = .inline }
        _ = try await harness.manager.image(with: harness.url, context: harness.context())
        var context = harness.context()
        context.callbackQueue = .global
        let outcome = Outcome()
        harness.manager.loadImage(with: harness.url, context: context) { outcome.record($0) }
        #expect(outcome.count == 1, "a memory hit, in the call")
    }

    @Test func `Failed URLs are checked with the processor's options`() async {
        let retries = harness("bad") { _, options, _ in options.insert(.retryFailed) }
        for _ in 0..<2 { #expect(await retries.start().outcome.error()?.code == .badImageData) }
        let strict = harness("bad") { _, options, _ in options.remove(.retryFailed) }
        _ = await strict.start().outcome.error()
        #expect(await strict.start(options: .retryFailed).outcome.error()?.code == .blacklisted)
        await #expect(throws: WebImageError(.blacklisted, "", url: strict.url)) {
            try await strict.manager.image(with: strict.url, options: .retryFailed, context: strict.context())
        }
        await #expect(throws: WebImageError(.blacklisted, "", url: strict.url)) {
            try await strict.manager.data(with: strict.url, options: .retryFailed)
        }
    }

    @Test func `The async forms call the processor once, also for memory hits, and do not block`() async throws {
        let count = Lock(0)
        let harness = harness { _, options, context in
            count.withLock { $0 += 1 }
            options.formUnion([.queryDiskDataSync, .queryMemoryDataSync])
            context.callbackQueue = .main
            context.thumbnailPixelSize = ImageSize(width: 2, height: 2)
        }
        let context = harness.context()
        let first = try await harness.manager.result(with: harness.url, context: context)
        let second = try await harness.manager.result(with: harness.url, context: context)
        #expect(first.image === second.image && second.cacheType == .memory && second.image.pixelWidth == 2)
        for try await event in harness.manager.events(with: harness.url, context: context) {
            if case .result(let result) = event { #expect(result.image === first.image) }
        }
        #expect(try await harness.manager.data(with: harness.url, context: context) == Data("picture".utf8))
        #expect(count.withLock { $0 } == 4)
        let load = harness.manager.resolve(harness.url, [], context)
        #expect(load.options == [.queryDiskDataSync, .queryMemoryDataSync] && load.awaited.options.isEmpty)
        #expect(load.awaited.context.callbackQueue?.policy == .invoke)
    }

    @Test func `A processor does not retain its manager, and a manager releases its parts`() {
        weak var manager: WebImageManager?
        weak var processor: WebImageOptionsProcessor?
        do {
            let harness = ManagerHarness.answering()
            let own = WebImageOptionsProcessor { _, _, context in WebImageOptionsResult(options: [], context: context) }
            harness.manager.optionsProcessor = own
            harness.start().operation.cancel()
            (manager, processor) = (harness.manager, own)
            #expect(harness.manager.optionsProcessor === own && harness.manager.parts != nil)
            harness.manager.optionsProcessor = nil
            #expect(harness.manager.parts == nil, "a manager without parts has nothing to look at")
        }
        #expect(manager == nil && processor == nil)
    }
}
