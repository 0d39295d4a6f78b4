import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Generates images as requested without reporting what it did. Bytes are the letter "P", width, height and frames.
private final class CarelessCoder: ImageCoder {
    let tellsSize: Bool
    init(tellsSize: Bool) { self.tellsSize = tellsSize }

    func canDecode(_ data: Data) -> Bool { true }
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        ImageProperties(format: .png, width: 8, height: 4)
    }
    func canEncode(to format: ImageFormat) -> Bool { format == .png }
    func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError) -> Data {
        Data([80, UInt8(image.pixelWidth), UInt8(image.pixelHeight), 1])
    }
    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let bytes = [UInt8](data)
        guard bytes.count == 4, bytes[0] == 80 else { throw WebImageError(.badImageData, "no P") }
        var (width, height) = (Int(bytes[1]), Int(bytes[2]))
        var metadata = ImageMetadata()
        if tellsSize { (metadata.sourceWidth, metadata.sourceHeight) = (width, height) }
        metadata.frameCount = Int(bytes[3])
        if let size = options.thumbnailPixelSize, Int(size.width) < width {
            (width, height) = (Int(size.width), Int(size.height))
        }
        if options.scaleDownLimitBytes > 0, width * height * 4 > options.scaleDownLimitBytes {
            (width, height) = (1, 1)
        }
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgb8)
        return Image(bitmap: bitmap, metadata: metadata)
    }
}

@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct CarelessCoderTests {
    private let harness = ManagerHarness()
    private static let picture = "P\u{8}\u{4}\u{1}"

    private func result(
        _ coder: CarelessCoder,
        _ options: WebImageOptions = [],
        _ change: (inout WebImageContext) -> Void = { _ in }
    ) async throws -> WebImageResult {
        let count = harness.loader.loads.count
        let context = harness.context {
            $0.imageCoder = coder
            change(&$0)
        }
        let outcome = harness.start(options: options.union([.waitStoreCache, .fromLoaderOnly]), context: context)
            .outcome
        await harness.loader.waitForLoads(count + 1)[count].succeed(Self.picture)
        return try await outcome.value().get()
    }

    @Test(arguments: [false, true])
    func `A thumbnail that its coder does not report as one is cached only under the thumbnail's key`(tellsSize: Bool)
        async throws
    {
        let result = try await result(CarelessCoder(tellsSize: tellsSize)) {
            $0.thumbnailPixelSize = ImageSize(width: 2, height: 1)
            $0.originalStoreCacheType = .all
        }
        #expect(result.image.pixelWidth == 2 && result.image.metadata.isThumbnail && result.data == nil)
        #expect(harness.cache.memoryKeys == [result.cacheKey], "and not as the original")
        #expect(harness.cache.diskKeys == [result.cacheKey, harness.url.absoluteString])
        #expect(result.image.decodeOptions?.thumbnailPixelSize == ImageSize(width: 2, height: 1))
    }

    @Test func `An image that already fits is not a thumbnail`() async throws {
        let result = try await result(CarelessCoder(tellsSize: true)) {
            $0.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        }
        #expect(!result.image.metadata.isThumbnail && result.image.pixelWidth == 8)
        #expect(result.data == Data(Self.picture.utf8))
    }

    @Test func `An image scaled down by a byte limit does not serve a load without it`() async throws {
        let coder = CarelessCoder(tellsSize: true)
        let small = try await result(coder) { $0.scaleDownLimitBytes = 10 }
        #expect(small.image.pixelWidth == 1 && small.image.metadata.scaleDownLimitBytes == 10)
        let plain = try await harness.start(context: harness.context { $0.imageCoder = coder }).outcome.value().get()
        #expect(plain.cacheType == .disk && plain.image.pixelWidth == 8)
    }

    @Test func `Scale and options of the load are the image's`() async throws {
        let result = try await result(CarelessCoder(tellsSize: true)) { $0.imageScaleFactor = 2 }
        #expect(result.image.scale == 2 && result.image.decodeOptions?.scaleFactor == 2)
        var options = ImageDecodeOptions()
        options.scaleFactor = .nan
        let coder = CarelessCoder(tellsSize: true)
        #expect(try await Image.decode(Data(Self.picture.utf8), options: options, coder: coder).scale == 1)
        let animation = Data([80, 8, 4, 5])
        options.decodeFirstFrameOnly = true
        let first = try await Image.decode(animation, options: options, coder: coder)
        #expect(!first.metadata.isAnimated && first.metadata.isFirstFrame)
    }

    @Test func `Metadata set by a coder is kept`() async throws {
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 16, height: 16)
        options.scaleFactor = 2
        let image = try JPEGCoder().decode(data, options: options)
        #expect(image.completed(by: options) === image)
    }
}
