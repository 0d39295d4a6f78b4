import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageLoading

/// Decodes bytes that start with "anim" as an animation, those with "vector" as a drawing.
private final class KindCoder: ImageCoder {
    private let plain = PlainCoder()

    var decodeCount: Int { plain.decodes.count }
    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try plain.properties(of: data, limits: limits)
    }
    func canEncode(to format: ImageFormat) -> Bool { true }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        try plain.encode(image, to: format, options: options)
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let image = try plain.decode(data, options: options)
        var metadata = image.metadata
        if data.starts(with: Data("anim".utf8)) { metadata.frameCount = 3 }
        if data.starts(with: Data("vector".utf8)) { metadata.isVector = true }
        return image.with(metadata: metadata)
    }
}

private struct FailingTransformer: ImageTransformer {
    let transformerKey = "fails"
    func transform(_ image: Image) throws(WebImageError) -> Image { throw WebImageError(.transformFailed, "no") }
}

@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct TransformGateTests {
    private struct Harness {
        let fakes: ManagerHarness
        let coder = KindCoder()
        let transformer = FakeTransformer("t")
        let plainKey = "http://host/picture.png"

        init(_ text: String) { fakes = .answering(text) }

        func context(_ change: (inout WebImageContext) -> Void = { _ in }) -> WebImageContext {
            fakes.context {
                $0.imageCoder = coder
                $0.imageTransformer = .transformer(transformer)
                change(&$0)
            }
        }

        func result(_ options: WebImageOptions = [], _ context: WebImageContext? = nil) async throws -> WebImageResult {
            let options = options.union(.waitStoreCache)
            return try await fakes.start(options: options, context: context ?? self.context()).outcome.value().get()
        }
    }

    private static let kinds: [(String, WebImageOptions)] = [
        ("animation", .transformAnimatedImage), ("vector", .transformVectorImage),
    ]

    @Test(arguments: kinds.indices)
    func `An animation is transformed only on request`(kind: Int) async throws {
        let (text, option) = Self.kinds[kind]
        let harness = Harness(text)
        let plain = try await harness.result()
        #expect(!plain.image.metadata.isTransformed && harness.transformer.count == 0)
        #expect(plain.cacheKey == harness.plainKey && plain.data == Data(text.utf8))
        let other = Self.kinds[1 - kind].1
        #expect(try await !harness.result([other, .fromLoaderOnly]).image.metadata.isTransformed)
        let transformed = try await harness.result(option)
        #expect(transformed.image.metadata.isTransformed && harness.transformer.count == 1)
        #expect(!transformed.image.metadata.isAnimated && !transformed.image.metadata.isVector)
        #expect(
            transformed.cacheKey == harness.fakes.manager.cacheKey(for: harness.fakes.url, context: harness.context())
        )
    }

    @Test func `An untransformed image is cached only under the plain key`() async throws {
        let harness = Harness("animation")
        _ = try await harness.result()
        #expect(harness.fakes.cache.memoryKeys == [harness.plainKey])
        #expect(harness.fakes.cache.diskKeys == [harness.plainKey])
    }

    @Test func `An animation in memory serves a load with a transformer synchronously`() async throws {
        let harness = Harness("animation")
        let plain = try await harness.result([], harness.context { $0.imageTransformer = .none })
        let (_, outcome) = harness.fakes.start(context: harness.context())
        #expect(outcome.count == 1)
        let result = try await outcome.value().get()
        #expect(result.image === plain.image && result.cacheType == .memory && result.cacheKey == harness.plainKey)
        #expect(harness.coder.decodeCount == 1 && harness.fakes.loader.loads.count == 1)
        let (_, sync) = harness.fakes.start(options: .queryDiskDataSync, context: harness.context())
        #expect(sync.count == 1 && harness.coder.decodeCount == 1)
    }

    @Test func `A still image in memory does not serve a load with a transformer`() async throws {
        let harness = Harness("still")
        _ = try await harness.result([], harness.context { $0.imageTransformer = .none })
        let result = try await harness.result()
        #expect(result.image.metadata.isTransformed && harness.transformer.count == 1)
    }

    @Test func `On disk the animation is found as the original`() async throws {
        let harness = Harness("animation")
        _ = try await harness.result()
        for options in [WebImageOptions(), .queryDiskDataSync] {
            harness.fakes.cache.edit { $0.memory = [:] }
            let result = try await harness.result(options)
            #expect(result.cacheType == .disk && result.cacheKey == harness.plainKey)
            #expect(result.data == Data("animation".utf8))
            #expect(harness.fakes.cache.memoryKeys == [harness.plainKey])
        }
        #expect(harness.fakes.loader.loads.count == 1 && harness.transformer.count == 0)
    }

    @Test func `A first frame is a still image, and is transformed`() async throws {
        let harness = Harness("animation")
        #expect(try await harness.result(.decodeFirstFrameOnly).image.metadata.isTransformed)
    }

    @Test func `A chain is skipped as a whole`() async throws {
        let harness = Harness("animation")
        let parts = [FakeTransformer("a"), FakeTransformer("b")]
        let context = harness.context { $0.imageTransformer = .transformer(PipelineTransformer(parts)) }
        #expect(try await !harness.result([], context).image.metadata.isTransformed)
        #expect(parts.allSatisfy { $0.count == 0 })
        #expect(try await harness.result(.transformAnimatedImage, context).image.metadata.isTransformed)
        #expect(parts.allSatisfy { $0.count == 1 })
    }

    @Test func `An untransformed thumbnail is cached under the thumbnail's key`() async throws {
        let harness = Harness("animation")
        let size = ImageSize(width: 2, height: 2)
        let result = try await harness.result([], harness.context { $0.thumbnailPixelSize = size })
        let plain = harness.fakes.thumbnail(2)
        let key = harness.fakes.manager.cacheKey(for: harness.fakes.url, context: plain)
        #expect(result.cacheKey == key && harness.fakes.cache.memoryKeys == [key])
        #expect(harness.fakes.cache.diskKeys == [harness.plainKey])
    }

    @Test func `Concurrent loads with and without the option are not shared`() async throws {
        let harness = Harness("animation")
        let fakes = ManagerHarness()
        let outcomes = [WebImageOptions(), .transformAnimatedImage].map {
            fakes.start(options: $0, context: harness.context()).outcome
        }
        let loads = await fakes.loader.waitForLoads(1)
        loads[0].succeed("animation")
        #expect(try await !outcomes[0].image().metadata.isTransformed)
        #expect(try await outcomes[1].image().metadata.isTransformed)
        #expect(fakes.loader.loads.count == 1 && harness.coder.decodeCount == 1)
    }

    @Test func `An original in memory is not transformed either`() async throws {
        let harness = Harness("animation")
        _ = try await harness.result([], harness.context { $0.imageTransformer = .none })
        harness.fakes.manager.transformer = harness.transformer
        let context = harness.context {
            $0.originalQueryCacheType = .all
            $0.queryCacheType = ImageCacheType.none
        }
        let result = try await harness.result([], context)
        #expect(!result.image.metadata.isTransformed && result.cacheKey == harness.plainKey)
    }

    @Test func `Animations and still images in one batch are each handled their own way`() async throws {
        let resize = ResizingTransformer(size: ImageSize(width: 8, height: 8), scaleMode: .fill)
        let chain = PipelineTransformer([resize, FakeTransformer("blur")])
        let manager = WebImageManager(cache: FakeCache(), loader: FileImageLoader.shared, pipeline: Pipeline())
        var context = WebImageContext()
        context.imageTransformer = .transformer(chain)
        let batch = context
        let names = ["GIF/animated.gif", "JPEG/baseline-420.jpg", "GIF/photo.gif", "WebP/animated.webp"]
        for options in [WebImageOptions(), .transformAnimatedImage] {
            for name in names {
                let url = URL(fileURLWithPath: Fixtures.path(name))
                let image = try await manager.image(with: url, options: options, context: batch)
                let isTransformed = !name.contains("animated") || options.contains(.transformAnimatedImage)
                #expect(image.metadata.isTransformed == isTransformed, "\(name)")
                #expect((image.pixelWidth == 8 && image.pixelHeight == 8) == isTransformed, "\(name)")
            }
        }
    }

    @Test func `A transformed animation in memory does not serve a load that leaves animations as they are`()
        async throws
    {
        let manager = WebImageManager(cache: FakeCache(), loader: FileImageLoader.shared, pipeline: Pipeline())
        let context = WebImageContext.with {
            $0.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        }
        let url = URL(fileURLWithPath: Fixtures.path("GIF/animated.gif"))
        let transformed = try await manager.result(with: url, options: .transformAnimatedImage, context: context)
        #expect(transformed.image.metadata.isTransformed && transformed.image.metadata.isAnimated)
        for _ in 0..<2 {
            let plain = try await manager.result(with: url, context: context)
            #expect(!plain.image.metadata.isTransformed && plain.image.metadata.isAnimated)
            #expect(plain.cacheKey == url.absoluteString)
            let again = try await manager.result(with: url, options: .transformAnimatedImage, context: context)
            #expect(again.image === transformed.image && again.cacheType == .memory)
        }
    }

    @Test func `A transformed drawing is known by its format`() throws {
        var metadata = ImageMetadata()
        (metadata.format, metadata.isTransformed) = (.svg, true)
        let image = try PlainCoder().decode(Data("a".utf8), options: ImageDecodeOptions()).with(metadata: metadata)
        #expect(TransformGate.open.admits(transformed: image))
        #expect(!TransformGate([], decodesFirstFrameOnly: true).admits(transformed: image))
        #expect(TransformGate(.transformVectorImage, decodesFirstFrameOnly: false).admits(transformed: image))
    }

    @Test func `An image whose transformation failed is not stored`() async throws {
        let harness = Harness("still")
        let context = harness.context { $0.imageTransformer = .transformer(FailingTransformer()) }
        let error = await harness.fakes.start(options: .waitStoreCache, context: context).outcome.error()
        #expect(error?.code == .transformFailed && error?.url == harness.fakes.url)
        #expect(harness.fakes.cache.memoryKeys.isEmpty)
        #expect(harness.fakes.cache.diskKeys == [harness.plainKey], "the original is a valid image")
    }
}
