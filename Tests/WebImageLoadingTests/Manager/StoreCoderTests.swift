import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.tags(.addressSanitizer)) struct StoreCoderTests {
    @Test(.timeLimit(.minutes(10)))
    func `The context's coder encodes stored images`() async throws {
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

    @Test(.timeLimit(.minutes(10)))
    func `The context's encode options and coder are used`() async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        let manager = WebImageManager(cache: cache, loader: FileImageLoader.shared, pipeline: Pipeline())
        let url = URL(fileURLWithPath: Fixtures.path("JPEG/baseline-420.jpg"))
        var sizes: [Int] = []
        for quality in [0.2, 0.95] {
            var context = WebImageContext()
            context.thumbnailPixelSize = ImageSize(width: 32, height: 32)
            var options = ImageEncodeOptions()
            options.compressionQuality = quality
            context.encodeOptions = options
            _ = try await manager.image(with: url, options: [.fromLoaderOnly, .waitStoreCache], context: context)
            let key = manager.cacheKey(for: url, context: context)
            sizes.append(try #require(cache.diskEntry(forKey: key)).data.count)
        }
        #expect(sizes[0] < sizes[1])
    }

    @Test func `A format hint reaches the coder`() async throws {
        let harness = ManagerHarness.answering()
        var base = ImageDecodeOptions()
        base.formatHint = .gif
        let inherited = base
        let hints: [WebImageContext.FormatHint] = [.inherited, .none, .format(.webp)]
        for hint in hints {
            let context = harness.context {
                $0.decodeOptions = inherited
                $0.formatHint = hint
            }
            _ = try await harness.start(options: .fromLoaderOnly, context: context).outcome.image()
        }
        #expect(harness.coder.decodes.map(\.formatHint) == [.gif, nil, .webp])
    }
}
