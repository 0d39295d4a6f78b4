import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageLoading

/// Animations through caches and manager.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct LoadedAnimationTests {
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

        func result(
            _ options: WebImageOptions = [],
            _ change: (inout WebImageContext) -> Void = { _ in }
        ) async throws -> WebImageResult {
            var context = WebImageContext()
            change(&context)
            return try await manager.result(with: url, options: options.union(.waitStoreCache), context: context)
        }
    }

    private static let names = [
        "Animation/pillow.gif", "WebP/animated.webp", "Animation/apng-noise.png", "Animation/webp-lossy-alpha-3.webp",
    ]

    private func pixels(_ image: Image) -> [[UInt8]] {
        (0..<image.pixelHeight).flatMap { y in
            (0..<image.pixelWidth).map { x in
                image.bitmap.premultipliedRGBA(x: x, y: y).map { UInt8(clamping: Int($0)) }
            }
        }
    }

    @Test(arguments: names)
    func `A loaded animation has its frames, from the loader, from memory and from disk`(name: String) async throws {
        let harness = Harness(name)
        let direct = try AnimatedImage(data: try Fixtures.data(name))
        for origin in [ImageCacheType.none, .memory, .disk] {
            if origin == .disk { harness.cache.memoryCache.removeAll() }
            let result = try await harness.result()
            #expect(result.cacheType == origin)
            let animation = try #require(result.image.animation)
            #expect(animation.frameCount == direct.frameCount && animation.loopCount == direct.loopCount)
            #expect(
                result.image.metadata.frameCount == direct.frameCount
                    && animation.animatedImageData == direct.animatedImageData
            )
            for index in 0..<direct.frameCount {
                #expect(pixels(try animation.frame(at: index)) == pixels(try direct.frame(at: index)))
                #expect(animation.duration(at: index) == direct.duration(at: index))
            }
        }
    }

    @Test func `A still image has no frames, nor has a first frame`() async throws {
        let still = try await Harness("GIF/photo.gif").result()
        #expect(still.image.animation == nil)
        let harness = Harness(Self.names[0])
        let first = try await harness.result(.decodeFirstFrameOnly)
        #expect(first.image.animation == nil && !first.image.metadata.isAnimated)
        let whole = try await harness.result()
        #expect(whole.image.animation != nil)
        #expect(whole.image.still.animation == nil && whole.image.still.memoryCost == whole.image.pixelByteCount)
    }

    @Test(arguments: names) func `Every frame of a thumbnail has its size`(name: String) async throws {
        let harness = Harness(name)
        let result = try await harness.result { $0.thumbnailPixelSize = ImageSize(width: 20, height: 20) }
        let animation = try #require(result.image.animation)
        #expect(max(result.image.pixelWidth, result.image.pixelHeight) == 20)
        for index in 0..<animation.frameCount {
            let frame = try animation.frame(at: index)
            #expect(frame.pixelWidth == result.image.pixelWidth && frame.pixelHeight == result.image.pixelHeight)
        }
        #expect(!harness.cache.diskDataExists(forKey: result.cacheKey), "it is made again from the original")
        harness.cache.memoryCache.removeAll()
        let again = try await harness.result { $0.thumbnailPixelSize = ImageSize(width: 20, height: 20) }
        #expect(again.cacheType == .disk && again.image.animation?.frameCount == animation.frameCount)
    }

    @Test func `The byte limit is for all frames together`() async throws {
        let harness = Harness("Animation/pillow.gif")
        let result = try await harness.result { $0.scaleDownLimitBytes = 6 * 10 * 10 * 4 }
        let animation = try #require(result.image.animation)
        let frames = try (0..<6).map { try animation.frame(at: $0) }
        #expect(frames.allSatisfy { $0.pixelWidth * $0.pixelHeight <= 100 && $0.pixelWidth == result.image.pixelWidth })
    }

    @Test func `Cost counts the encoded bytes, and all preloaded frames`() async throws {
        let harness = Harness("Animation/pillow.gif")
        let bytes = try Fixtures.data("Animation/pillow.gif").count
        let plain = try await harness.result().image
        #expect(plain.memoryCost == plain.pixelByteCount + bytes)
        let loaded = try await harness.result([.preloadAllFrames, .fromLoaderOnly]).image
        #expect(loaded.animation?.isAllFramesLoaded == true)
        #expect(loaded.memoryCost == 6 * loaded.pixelByteCount + bytes)
    }

    @Test func `Frames that exceed the budget together are not preloaded`() async throws {
        var options = ImageDecodeOptions()
        options.preloadsAllFrames = true
        options.limits.maximumDecodedByteCount = 48 * 36 * 4 + 100
        let image = try await Image.decode(try Fixtures.data("Animation/pillow.gif"), options: options)
        #expect(image.animation?.isAllFramesLoaded == false && image.animation?.frameCount == 6)
    }

    @Test func `A required animation is an error without frames, and is not served from memory as a still image`()
        async throws
    {
        let data = try Fixtures.data("Animation/pillow.gif")
        var options = ImageDecodeOptions()
        let coder = FakeCoder()
        let plain = try await Image.decode(FakeCoder.data(frames: 5), options: options, coder: coder)
        #expect(plain.metadata.isAnimated && plain.animation == nil)
        options.requiresAnimation = true
        let strict = options
        let error = await #expect(throws: WebImageError.self) {
            try await Image.decode(FakeCoder.data(frames: 5), options: strict, coder: coder)
        }
        #expect(error?.code == .unsupportedFormat)
        #expect(try await Image.decode(data, options: strict).animation != nil)
        #expect(try await Image.decode(try Fixtures.data("GIF/photo.gif"), options: strict).animation == nil)
        let harness = Harness("Animation/pillow.gif")
        let key = harness.manager.cacheKey(for: harness.url)
        harness.cache.storeToMemory(plain, forKey: key)
        #expect(harness.cache.imageFromMemory(forKey: key) === plain)
        #expect(harness.cache.imageFromMemory(forKey: key, options: .matchAnimatedImageClass) == nil)
        #expect(try await harness.result().image === plain)
        let moving = try await harness.result(.matchAnimatedImageClass)
        #expect(moving.cacheType == .none && moving.image.animation != nil)
        #expect(try await harness.result(.matchAnimatedImageClass).image === moving.image)
    }

    @Test(arguments: names)
    func `Transformed animations are animated, each frame transformed when it is shown`(name: String) async throws {
        let harness = Harness(name)
        let plain = try await harness.result().image
        let transformer = FakeTransformer("t")
        let context: (inout WebImageContext) -> Void = { $0.imageTransformer = .transformer(transformer) }
        let result = try await harness.result(.transformAnimatedImage, context)
        let animation = try #require(result.image.animation)
        #expect(result.image.metadata.isTransformed && transformer.count == 1, "only the first frame so far")
        #expect(animation.frameCount == plain.metadata.frameCount && animation.loopCount == plain.metadata.loopCount)
        #expect(animation.duration(at: 1) == plain.animation?.duration(at: 1))
        let frame = try animation.frame(at: 1)
        #expect(transformer.count == 2 && frame.metadata.isTransformed && frame.animation == nil)
        let again = try await harness.result(.transformAnimatedImage, context).image
        #expect(again === result.image, "memory has it under its key")
        #expect(try await !harness.result([], context).image.metadata.isTransformed, "the options of the load decide")
    }

    @Test func `A shorter chain in memory does not bypass the option`() async throws {
        let harness = Harness(Self.names[0])
        let (first, second) = (FakeTransformer("first"), FakeTransformer("second"))
        let moving = try await harness.result(.transformAnimatedImage) {
            $0.imageTransformer = .transformer(first)
        }
        #expect(moving.image.metadata.isTransformed)
        let plain = try await harness.result {
            $0.imageTransformer = .transformer(PipelineTransformer([first, second]))
        }
        #expect(!plain.image.metadata.isTransformed && plain.image.animation != nil && second.count == 0)
    }

    @Test func `A chain transforms each frame by all of its parts`() async throws {
        let harness = Harness("Animation/pillow.gif")
        let resize = ResizingTransformer(size: ImageSize(width: 12, height: 9), scaleMode: .fill)
        let second = ResizingTransformer(size: ImageSize(width: 6, height: 9), scaleMode: .fill)
        let chain = PipelineTransformer([resize, second])
        let image = try await harness.result(.transformAnimatedImage) { $0.imageTransformer = .transformer(chain) }
            .image
        let animation = try #require(image.animation)
        for index in 0..<6 {
            let frame = try animation.frame(at: index)
            #expect(frame.pixelWidth == 6 && frame.pixelHeight == 9)
        }
    }

    @Test func `An animation stored without data keeps its bytes`() async throws {
        let cache = ImageCache(directory: TemporaryDirectory().path)
        let data = try Fixtures.data("Animation/pillow.gif")
        let whole = try await Image.decode(data)
        await cache.store(whole, forKey: "whole")
        #expect(cache.diskEntry(forKey: "whole")?.data == data)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        let small = try await Image.decode(data, options: options)
        await cache.store(small, forKey: "small")
        #expect(cache.diskEntry(forKey: "small")?.data != data)
    }

    @Test func `A loader's animation is scaled down frame by frame`() throws {
        let provider = NumberedAnimation(count: 4)
        let image = try AnimatedImage(provider: provider)
        let whole = image.image.with(animation: image)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 1, height: 1)
        let small = try whole.reduced(by: options)
        #expect(small.pixelWidth == 1 && small.animation?.frameCount == 4 && small.metadata.isThumbnail)
        #expect(try small.animation?.frame(at: 3).pixelWidth == 1)
        let same = try whole.reduced(by: ImageDecodeOptions())
        #expect(same.animation === image)
        options.decodeFirstFrameOnly = true
        #expect(try whole.reduced(by: options).animation == nil)
    }

    @Test func `The cost of scaling a loader's frames is reported`() throws {
        let image = try AnimatedImage(provider: NumberedAnimation(count: 4))
        let whole = image.image.with(animation: image)
        var options = ImageDecodeOptions()
        options.pixelFormat = .rgbaHalfPremultiplied
        let wide = try whole.reduced(by: options)
        let provider = try #require(wide.animation?.provider as? MappedAnimation)
        let need = try #require(provider.need?())
        #expect(
            need.output == ImageExtent(width: image.image.pixelWidth, height: image.image.pixelHeight, bytesPerPixel: 8)
        )
        #expect(need.output.byteCount >= wide.pixelByteCount)
    }

    @Test func `A download applies the options, too`() async throws {
        let gif = [UInt8](try Fixtures.data("Animation/pillow.gif"))
        let fake = [UInt8](FakeCoder.data(frames: 3))
        let server = try LoopbackServer { .response(body: $0.path == "/a.gif" ? gif : fake) }
        let downloader = WebImageDownloader()
        let image = try await downloader.downloadImage(with: server.url("/a.gif"), options: .preloadAllFrames).image
        #expect(image.animation?.isAllFramesLoaded == true)
        let error = await #expect(throws: WebImageError.self) {
            try await downloader.downloadImage(
                with: server.url("/b"),
                options: .matchAnimatedImageClass,
                coder: FakeCoder()
            )
        }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test func `All owners of an image share one frame provider`() async throws {
        let harness = Harness("Animation/pillow.gif")
        let first = try await harness.result().image
        let second = try await harness.result().image
        #expect(first.animation === second.animation)
        let scaled = first.with(scale: 2)
        #expect(scaled.animation === first.animation && scaled.scale == 2)
    }
}
