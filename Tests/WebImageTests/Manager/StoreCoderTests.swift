import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite struct StoreCoderTests {
    @Test(.timeLimit(.minutes(1)))
    func `The context's coder encodes what is stored`() async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let manager = WebImageManager(
            cache: cache,
            loader: FakeLoader { _ in .success("picture") },
            pipeline: Pipeline()
        )
        let url = try #require(URL(string: "http://host/picture.png"))
        var context = WebImageContext()
        context.imageCoder = PlainCoder()
        context.thumbnailPixelSize = ImageSize(width: 2, height: 1)
        _ = try await manager.image(with: url, options: .waitStoreCache, context: context)
        let key = manager.cacheKey(for: url, context: context)
        #expect(cache.diskEntry(forKey: key)?.data == Data("encoded".utf8))
        #expect(cache.diskEntry(forKey: url.absoluteString)?.data == Data("picture".utf8))
    }

    @Test func `The request for a store has the coder and the options of the context`() async throws {
        let harness = ManagerHarness.answering()
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.25
        let encoding = options
        let context = harness.context {
            $0.encodeOptions = encoding
            $0.imageTransformer = .transformer(FakeTransformer("t"))
        }
        _ = try await harness.start(context: context).outcome.image()
        let request = try #require(harness.cache.edit { $0.requests.last { $0.image != nil } })
        #expect(request.coder as AnyObject? === harness.coder && request.encodeOptions == encoding)
    }
}
