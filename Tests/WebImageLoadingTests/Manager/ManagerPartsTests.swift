import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import Testing
import WebImageLoading

/// A manager's defaults for loads whose context does not override them.
@Suite(.timeLimit(.minutes(1))) struct ManagerPartsTests {
    private let harness = ManagerHarness.answering()
    private var manager: WebImageManager { harness.manager }

    private func result(_ change: (inout WebImageContext) -> Void = { _ in }) async throws -> WebImageResult {
        try await harness.start(options: .waitStoreCache, context: harness.context(change)).outcome.value().get()
    }

    @Test func `The manager's transformer applies, unless the context has another or none`() async throws {
        let (own, other) = (FakeTransformer("own"), FakeTransformer("other"))
        #expect(manager.transformer == nil)
        manager.transformer = own
        let first = try await result()
        #expect(first.image.metadata.isTransformed && first.cacheKey == "http://host/picture-own.png")
        #expect(manager.cacheKey(for: harness.url, context: nil) == first.cacheKey)
        let second = try await result { $0.imageTransformer = .transformer(other) }
        #expect(second.cacheKey == "http://host/picture-other.png" && other.count == 1)
        let plain = try await result { $0.imageTransformer = .none }
        #expect(!plain.image.metadata.isTransformed && plain.cacheKey == harness.url.absoluteString)
        manager.transformer = nil
        #expect(try await !result().image.metadata.isTransformed && own.count == 1)
        #expect(harness.loader.loads.count == 1, "one original serves all")
    }

    @Test func `The manager's key filter makes keys, unless the context has another`() async throws {
        #expect(manager.cacheKeyFilter == nil && manager.cacheKey(for: harness.url) == harness.url.absoluteString)
        manager.cacheKeyFilter = CacheKeyFilter { $0.host() ?? "" }
        #expect(try await result().cacheKey == "host")
        #expect(manager.cacheKey(for: harness.url) == "host" && harness.cache.diskKeys == ["host"])
        let filter = CacheKeyFilter { $0.lastPathComponent }
        #expect(try await result { $0.cacheKeyFilter = filter }.cacheKey == "picture.png")
        let context = harness.context { $0.cacheKeyFilter = filter }
        #expect(manager.cacheKey(for: harness.url, context: context) == "picture.png")
        #expect(filter.cacheKey(for: harness.url) == "picture.png")
        #expect(harness.cache.diskKeys == ["host", "picture.png"])
    }

    @Test func `An empty key is no key: all images would share it`() async throws {
        manager.cacheKeyFilter = CacheKeyFilter { _ in "" }
        let thumbnail = harness.context { $0.thumbnailPixelSize = ImageSize(width: 2, height: 1) }
        #expect(manager.cacheKey(for: harness.url) == "")
        #expect(manager.cacheKey(for: harness.url, context: thumbnail) == "")
        for _ in 0..<2 {
            let result = try await manager.result(with: harness.url, context: thumbnail)
            #expect(result.cacheKey == "" && result.cacheType == .none && result.image.pixelWidth == 2)
        }
        #expect(harness.cache.diskKeys.isEmpty && harness.cache.memoryKeys.isEmpty)
    }

    @Test func `A thumbnail's size precedes a transformer in the key`() {
        let context = harness.context {
            $0.thumbnailPixelSize = ImageSize(width: 2, height: 1)
            $0.imageTransformer = .transformer(FakeTransformer("T"))
        }
        #expect(
            manager.cacheKey(for: harness.url, context: context)
                == "http://host/picture-Thumbnail(%7B2.000000,1.000000%7D,1)-T.png"
        )
        #expect(manager.cacheKey(for: harness.url) == harness.url.absoluteString, "without a context: the original")
    }
}
