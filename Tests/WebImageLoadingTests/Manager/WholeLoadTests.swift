import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing

@testable import WebImageLoading

/// Rules that hold for loads as a whole.
@Suite struct WholeLoadTests {
    @Test(arguments: [
        WebImageOptions.delayPlaceholder, .avoidAutoSetImage, .forceTransition, .avoidAutoCancelImage, .waitTransition,
        .continueInBackground, .avoidDecodeImage,
    ])
    func `View options do not affect a load`(option: WebImageOptions) async throws {
        let (plain, other) = (ManagerHarness.answering(), ManagerHarness.answering())
        for harness in [plain, other] {
            let options = harness.manager === other.manager ? option.union(.waitStoreCache) : .waitStoreCache
            let miss = try await harness.start(options: options).outcome.value().get()
            #expect(miss.cacheType == .none && miss.data == Data("picture".utf8) && miss.isFinal)
            let hit = harness.start(options: options).outcome
            #expect(hit.count == 1)
            #expect(try await hit.value().get().cacheType == .memory)
        }
        #expect(plain.cache.diskKeys == other.cache.diskKeys && plain.cache.memoryKeys == other.cache.memoryKeys)
        #expect(plain.coder.decodes == other.coder.decodes)
        #expect(plain.loader.loads.map(\.request.options) == other.loader.loads.map(\.request.options))
    }

    @Test func `A custom cache serves a load`() async throws {
        let harness = ManagerHarness.answering("downloaded")
        let cache = MemoryOnlyCache()
        let manager = WebImageManager(cache: cache, loader: harness.loader, pipeline: Pipeline())
        let first = try await manager.result(with: harness.url, context: harness.context())
        let second = try await manager.result(with: harness.url, context: harness.context())
        #expect(first.cacheType == .none && second.cacheType == .memory && first.image === second.image)
        #expect(harness.loader.loads.count == 1)
    }

    @Test func `A load that cannot start reports why, from a URL and from a string`() async {
        let harness = ManagerHarness.answering()
        for (text, words) in [("", "missing or empty"), ("http://[bad", "invalid URL 'http://[bad'")] {
            let outcome = Outcome()
            let operation = harness.manager.loadImage(with: text, context: harness.context()) { outcome.record($0) }
            #expect(operation.isFinished && outcome.count == 1)
            let error = await outcome.error()
            #expect(error?.code == .invalidURL)
            #expect(error?.message.contains(words) ?? false || text.isEmpty, "\(String(describing: error?.message))")
        }
        #expect(!harness.manager.isRunning && harness.loader.loads.isEmpty)
    }
}

/// A minimal cache.
private final class MemoryOnlyCache: ImageCaching {
    private final class Done: WebImageOperation {
        func cancel() {}
        var isCancelled: Bool { false }
    }

    private let images = Lock<[String: Image]>([:])

    func memoryImage(forKey key: String) -> Image? { images.withLock { $0[key] } }
    func diskEntry(forKey key: String) -> CachedImageData? { nil }

    func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        completion(nil)
        return Done()
    }

    func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        if let image = request.image { images.withLock { $0[request.key] = image } }
        completion?()
    }

    func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        images.withLock { $0[key] = nil }
        completion?()
    }

    func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) { completion(memoryImage(forKey: key) == nil ? .none : .memory) }

    func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        images.withLock { $0 = [:] }
        completion?()
    }
}
