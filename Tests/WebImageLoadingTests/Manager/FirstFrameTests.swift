import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

@Suite(.timeLimit(.minutes(1))) struct FirstFrameTests {
    /// A manager on files and a real cache.
    private struct Harness {
        let directory = TemporaryDirectory()
        let cache: ImageCache
        let manager: WebImageManager
        let url: URL

        init(_ name: String) {
            cache = ImageCache(directory: directory.path)
            manager = WebImageManager(cache: cache, loader: FileImageLoader.shared, pipeline: Pipeline())
            url = URL(fileURLWithPath: Fixtures.path(name))
        }

        var key: String { url.absoluteString }

        func result(
            _ options: WebImageOptions = [],
            _ change: (inout WebImageContext) -> Void = { _ in }
        ) async throws -> WebImageResult {
            var context = WebImageContext()
            change(&context)
            return try await manager.result(with: url, options: options.union(.waitStoreCache), context: context)
        }
    }

    private static let animations = ["GIF/animated.gif", "WebP/animated.webp"]

    private static func isStill(_ image: Image) -> Bool {
        !image.metadata.isAnimated && image.metadata.loopCount == 0 && image.metadata.isFirstFrame
    }

    @Test(arguments: animations)
    func `decodeFirstFrameOnly delivers a still image from every source`(name: String) async throws {
        let harness = Harness(name)
        let loaded = try await harness.result(.decodeFirstFrameOnly)
        #expect(loaded.cacheType == .none && Self.isStill(loaded.image))
        let again = try await harness.result(.decodeFirstFrameOnly)
        #expect(again.cacheType == .memory && again.image === loaded.image)
        harness.cache.memoryCache.removeAll()
        let read = try await harness.result(.decodeFirstFrameOnly)
        #expect(read.cacheType == .disk && Self.isStill(read.image) && read.data != nil)
        // The animation is in memory.
        harness.cache.memoryCache.removeAll()
        let animation = try await harness.result().image
        #expect(animation.metadata.isAnimated && !animation.metadata.isFirstFrame)
        let shown = try await harness.result(.decodeFirstFrameOnly)
        #expect(shown.cacheType == .memory && Self.isStill(shown.image))
        #expect(shown.image.bitmap.storage === animation.bitmap.storage, "no pixels are copied")
        #expect(harness.cache.memoryImage(forKey: harness.key) === animation)
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        let base = options
        #expect(Self.isStill(try await harness.result([]) { $0.decodeOptions = base }.image))
        #expect(Self.isStill(try await Image.decode(try Fixtures.data(name), options: options)))
    }

    @Test(arguments: animations)
    func `A first frame is not served as the animation`(name: String) async throws {
        let harness = Harness(name)
        _ = try await harness.result(.decodeFirstFrameOnly)
        #expect(harness.cache.imageFromMemory(forKey: harness.key) == nil)
        #expect(harness.cache.imageFromMemory(forKey: harness.key, options: .decodeFirstFrameOnly) != nil)
        let plain = try await harness.result()
        #expect(plain.cacheType == .disk && plain.image.metadata.isAnimated)
        #expect(harness.cache.memoryImage(forKey: harness.key) === plain.image)
        harness.cache.memoryCache.removeAll()
        _ = try await harness.result(.decodeFirstFrameOnly)
        let queried = await harness.cache.queryImage(forKey: harness.key)
        #expect(queried.cacheType == .disk && queried.image?.metadata.isAnimated == true)
    }

    @Test func `An image derived from a first frame is not served as the animation's, in memory or on disk`()
        async throws
    {
        let harness = Harness("GIF/animated.gif")
        let transformer = FakeTransformer("t")
        let context: (inout WebImageContext) -> Void = { $0.imageTransformer = .transformer(transformer) }
        let made = try await harness.result(.decodeFirstFrameOnly, context)
        #expect(made.image.metadata.isTransformed && transformer.count == 1)
        #expect(!harness.cache.diskDataExists(forKey: made.cacheKey), "nothing there marks it as one frame")
        let again = try await harness.result(.decodeFirstFrameOnly, context)
        #expect(again.cacheType == .memory && again.image === made.image && transformer.count == 1)
        let plain = try await harness.result([], context)
        #expect(plain.image.metadata.isAnimated && !plain.image.metadata.isTransformed)
        #expect(plain.cacheKey == harness.key)
        let all = try await harness.result(.transformAnimatedImage, context)
        #expect(all.image.metadata.isTransformed && transformer.count == 2 && !all.image.metadata.isFirstFrame)
    }

    @Test func `A still image serves loads with and without the option`() async throws {
        let harness = Harness("GIF/photo.gif")
        let first = try await harness.result(.decodeFirstFrameOnly)
        #expect(!first.image.metadata.isFirstFrame && !first.image.metadata.isAnimated)
        let second = try await harness.result()
        #expect(second.cacheType == .memory && second.image === first.image)
    }

    @Test func `A coder that ignores the option and returns the animation does not change that`() async throws {
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        cache.storeDataToDisk(FakeCoder.data(frames: 5), forKey: "k")
        var context = WebImageContext()
        context.imageCoder = FakeCoder()
        context.callbackQueue = .inline
        let result = await cache.queryImage(forKey: "k", options: .decodeFirstFrameOnly, context: context)
        #expect(result.image.map(Self.isStill) == true && cache.memoryImage(forKey: "k") == nil)
        let manager = WebImageManager(cache: cache, loader: FakeLoader(), pipeline: Pipeline())
        let url = try #require(URL(string: "k"))
        let loaded = try await manager.result(with: url, options: .decodeFirstFrameOnly, context: context)
        #expect(loaded.cacheType == .disk && Self.isStill(loaded.image))
    }
}
