import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageLoading

/// Makes an image of its own size, with only the metadata that the test gives.
private struct Stamp: ImageTransformer {
    let transformerKey = "stamp"
    var preservesImageMetadata = true
    var extendedData: Data?

    func transform(_ image: Image) throws(WebImageError) -> Image {
        let bitmap = try Bitmap.allocate(width: 1, height: 1, pixelFormat: .rgb8)
        return Image(bitmap: bitmap, scale: image.scale, extendedData: extendedData)
    }
}

@Suite struct ImageMetadataTests {
    private func picture() throws -> Image {
        var metadata = ImageMetadata()
        metadata.format = .webp
        metadata.loopCount = 3
        metadata.colorProfile = "a profile"
        metadata.sourceOrientation = .left
        metadata.isThumbnail = true
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        return Image(
            bitmap: try Bitmap.allocate(width: 4, height: 2, pixelFormat: .rgb8),
            scale: 2,
            metadata: metadata,
            decodeOptions: options,
            extendedData: Data([1, 2])
        )
    }

    @Test func `Another scale keeps everything else`() throws {
        let image = try picture()
        let other = image.with(scale: 4)
        #expect(other.scale == 4 && other.size == ImageSize(width: 1, height: 0.5))
        #expect(other.metadata == image.metadata && other.decodeOptions == image.decodeOptions)
        #expect(other.extendedData == image.extendedData && other.bitmap.storage === image.bitmap.storage)
        #expect(image.with(extendedData: .some(nil)).extendedData == nil && image.with().extendedData == Data([1, 2]))
        #expect(image.with(scale: 0.5).scale == 1 && image.with(scale: .nan).scale == 1)
    }

    @Test(arguments: [false, true])
    func `A transformed image keeps the original's metadata, if the transformer says so`(inChain: Bool) async throws {
        let image = try picture()
        func result(_ stamp: Stamp) throws -> Image {
            if inChain { return try PipelineTransformer([stamp]).transform(image) }
            let input = PipelineImage(image: image, data: Data([9]), source: .none, stores: StoreGroup())
            let output = try input.transformed(by: stamp)
            #expect(output.data == nil && output.image.metadata.isTransformed)
            return output.image
        }
        let kept = try result(Stamp())
        #expect(kept.pixelWidth == 1 && kept.scale == 2 && kept.memoryCost == kept.bitmap.bytesPerRow)
        #expect(kept.format == .webp && kept.metadata.colorProfile == "a profile" && kept.metadata.isThumbnail)
        #expect(kept.decodeOptions == image.decodeOptions && kept.extendedData == Data([1, 2]))
        #expect(try result(Stamp(extendedData: Data([3]))).extendedData == Data([3]), "its own value has precedence")
        let plain = try result(Stamp(preservesImageMetadata: false))
        #expect(plain.format == .undefined && plain.metadata.colorProfile == nil && !plain.metadata.isThumbnail)
        #expect(plain.decodeOptions == nil && plain.extendedData == nil)
        #expect(try result(Stamp(preservesImageMetadata: false, extendedData: Data([3]))).extendedData == Data([3]))
    }

    @Test func `An image's cost is the bytes of its rows, or the given number`() async throws {
        let bitmap = try Bitmap.allocate(width: 5, height: 3, pixelFormat: .rgb8)
        let image = Image(bitmap: bitmap)
        #expect(image.memoryCost == bitmap.bytesPerRow * 3)
        #expect(Image(bitmap: bitmap, memoryCost: 7).memoryCost == 7)
        #expect(Image(bitmap: bitmap, memoryCost: -7).memoryCost == 0)
        let dear = image.with(memoryCost: 1_000)
        #expect(dear.memoryCost == 1_000 && dear.with(scale: 2).memoryCost == 1_000)
        let directory = TemporaryDirectory()
        let cache = ImageCache(directory: directory.path)
        await cache.store(dear, forKey: "dear", to: .memory)
        #expect((cache.memoryCache as? MemoryCache)?.totalCost == 1_000)
        // An image waiting to be encoded retains its pixels, whatever its cost elsewhere.
        let waiting = PendingImage(image: image.with(memoryCost: 0), options: ImageEncodeOptions(), coder: FakeCoder())
        #expect(DiskWork.Source.image(waiting).cost == bitmap.bytesPerRow * 3)
    }

    @Test func `Built-in coders convert everything to the range of sRGB`() async throws {
        var options = ImageDecodeOptions()
        options.decodeToHDR = true
        for name in ["JPEG/baseline-420.jpg", "GIF/photo.gif", "GIF/animated.gif", "WebP/animated.webp"] {
            let image = try await Image.decode(try Fixtures.data(name), options: options)
            #expect(!image.metadata.isHighDynamicRange && !image.metadata.isVector && !image.metadata.isIncremental)
        }
        var metadata = ImageMetadata()
        metadata.isHighDynamicRange = true
        let image = Image(bitmap: try Bitmap.allocate(width: 1, height: 1, pixelFormat: .rgb8), metadata: metadata)
        #expect(image.with(scale: 2).metadata.isHighDynamicRange, "a custom coder may say so")
    }

    @Test func `An image is encoded and decoded again by the shared coders`() async throws {
        let original = try await Image.decode(try Fixtures.data("JPEG/baseline-420.jpg"))
        let png = try await original.encoded(as: .png)
        let copy = try await Image.decode(png)
        #expect(copy.format == .png && copy.pixelWidth == original.pixelWidth)
        for (x, y) in [(0, 0), (7, 9), (30, 20)] {
            #expect(copy.bitmap.premultipliedRGBA(x: x, y: y) == original.bitmap.premultipliedRGBA(x: x, y: y))
        }
        #expect(ImageFormat(detecting: try await original.encoded()) == .jpeg && !copy.hasAlpha)
        #expect(ImageFormat(detecting: try await copy.encoded()) == .png, "in its own format, unless told otherwise")
        let made = Image(bitmap: copy.bitmap)
        #expect(ImageFormat(detecting: try await made.encoded()) == .jpeg, "of no format, and without alpha")
        let gif = try await Image.decode(try Fixtures.data("GIF/transparent.gif"))
        #expect(gif.format == .gif && gif.hasAlpha)
        #expect(ImageFormat(detecting: try await gif.encoded()) == .png, "a format that may not hold all colours")
        #expect(ImageFormat(detecting: try await original.encoded(as: original.format)) == .jpeg)
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.1
        let small = try await original.encoded(as: .jpeg, options: options)
        #expect(small.count < (try await original.encoded(as: .jpeg)).count)
        var scale = ImageDecodeOptions()
        scale.scaleFactor = 2
        #expect(try await Image.decode(png, options: scale).scale == 2)
        await #expect(throws: WebImageError.self) { _ = try await Image.decode(Data()) }
        await #expect(throws: WebImageError.self) { _ = try await original.encoded(as: .heic) }
    }
}
