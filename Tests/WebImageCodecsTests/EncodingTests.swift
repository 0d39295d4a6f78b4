import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Output of the PNG and WebP encoders is read back by our decoders, which are tested against other programs.
@Suite(.tags(.addressSanitizer)) struct EncodingTests {
    private let manager = ImageCodersManager(coders: [PNGCoder(), GIFCoder(), WebPCoder(), BMPCoder()])

    private func image(_ name: String) throws -> Image {
        try manager.decode(Fixtures.data("PNG/\(name).png"), options: ImageDecodeOptions())
    }

    private func roundTrip(
        _ image: Image,
        _ format: ImageFormat,
        _ options: ImageEncodeOptions = .init()
    ) throws -> Image {
        let data = try manager.encode(image, to: format, options: options)
        #expect(ImageFormat(detecting: data) == format)
        return try manager.decode(data, options: ImageDecodeOptions())
    }

    private func pixels(_ image: Image) -> [UInt8] {
        (0..<image.pixelHeight).flatMap { y in
            (0..<image.pixelWidth).flatMap { image.bitmap.premultipliedRGBA(x: $0, y: y) }
        }
    }

    private static let lossless: [ImageFormat] = [.png, .webp, .bmp]
    private static let names = [
        "photo-rgb", "photo-rgba", "tiny-1x1", "tiny-5x1", "tiny-1x9", "type6-8bit", "opaque-rgba",
    ]

    @Test(arguments: lossless, names)
    func `Lossless formats return the exact pixels`(format: ImageFormat, name: String) throws {
        let original = try image(name)
        var options = ImageEncodeOptions()
        options.isLossless = true
        let copy = try roundTrip(original, format, options)
        #expect(pixels(copy) == pixels(original))
    }

    @Test(arguments: ["photo-rgb", "many-rows", "long-rows", "tiny-1x9"])
    func `libpng reads the output, too`(name: String) throws {
        let original = try image(name)
        var data = try manager.encode(original, to: .png, options: ImageEncodeOptions())
        // Images with a transparent colour are read only by libpng; this colour is in none of them.
        let chunk = Data("tRNS".utf8) + Data([0, 3, 0, 251, 0, 7])
        let checksum = CRC32.of(chunk)
        let tail = Data((0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) })
        let start = try #require(data.firstRange(of: Data("IDAT".utf8))).lowerBound - 4
        data.insert(contentsOf: Data([0, 0, 0, 6]) + chunk + tail, at: start)
        let copy = try manager.decode(data, options: ImageDecodeOptions())
        #expect(copy.hasAlpha)
        #expect(pixels(copy) == pixels(original))
    }

    @Test func `Every colour at every alpha is read back unchanged`() throws {
        // Premultiplied colours at or below their alpha, all 32 896 of them, with three different channels.
        var bytes: [UInt8] = []
        for alpha in 0...255 {
            for color in 0...255 {
                let value = UInt8(min(color, alpha))
                bytes += [value, UInt8(alpha) - value, value / 2, UInt8(alpha)]
            }
        }
        let bitmap = try Bitmap.allocate(width: 256, height: 256, pixelFormat: .bgra8Premultiplied)
        for row in 0..<256 {
            bitmap.mutableRow(row).copyMemory(from: Array(bytes[row * 1024..<row * 1024 + 1024]), byteCount: 1024)
        }
        let original = Image(bitmap: bitmap)
        #expect(pixels(try roundTrip(original, .png)) == pixels(original))
    }

    @Test func `Lossy WebP gets smaller and worse with less quality`() throws {
        let original = try image("photo-rgba")
        var sizes: [Int] = []
        var errors: [Double] = []
        for quality in [1.0, 0.8, 0.3, 0.0] {
            var options = ImageEncodeOptions()
            options.compressionQuality = quality
            let data = try manager.encode(original, to: .webp, options: options)
            let copy = try manager.decode(data, options: ImageDecodeOptions())
            sizes.append(data.count)
            let expected = try Fixtures.pixels("PNG/photo-rgba.pam")
            errors.append(PixelDifference(copy.bitmap, expected).mean)
            #expect(copy.hasAlpha)
        }
        #expect(sizes == sizes.sorted(by: >))
        #expect(errors == errors.sorted())
        #expect(errors[0] < 3)
    }

    @Test(arguments: [Double.nan, -.infinity, .infinity, 7])
    func `An invalid quality is clamped`(quality: Double) throws {
        var options = ImageEncodeOptions()
        options.compressionQuality = quality
        _ = try roundTrip(image("photo-rgb"), .webp, options)
    }

    @Test(arguments: lossless)
    func `The maximum size holds and never enlarges`(format: ImageFormat) throws {
        let original = try image("photo-rgba")
        for (box, width, height) in [
            ((60, 60), 60, 45), ((1000, 30), 40, 30), ((500, 500), 120, 90), ((0, 5), 120, 90),
        ] {
            var options = ImageEncodeOptions()
            options.maxPixelSize = ImageSize(width: box.0, height: box.1)
            let copy = try roundTrip(original, format, options)
            #expect((copy.pixelWidth, copy.pixelHeight) == (width, height))
        }
    }

    @Test(arguments: 1...8)
    func `The orientation of the image is applied`(number: Int) throws {
        let stored = try image("orientation-1")
        let turned = Image(bitmap: stored.bitmap, orientation: ImageOrientation(exif: number))
        let copy = try roundTrip(turned, .png)
        #expect(try PixelDifference(copy.bitmap, Fixtures.pixels("PNG/orientation-\(number).pam")).maximum == 0)
    }

    @Test func `A side that WebP cannot store is an error that names the limit`() throws {
        let bitmap = try Bitmap.allocate(width: 16_384, height: 1, pixelFormat: .rgb8)
        let error = #expect(throws: WebImageError.self) {
            try WebPCoder().encode(Image(bitmap: bitmap), to: .webp, options: ImageEncodeOptions())
        }
        #expect(error?.code == .limitExceeded && error?.limit?.allowed == 16_383)
        var options = ImageEncodeOptions()
        options.maxPixelSize = ImageSize(width: 100, height: 100)
        _ = try WebPCoder().encode(Image(bitmap: bitmap), to: .webp, options: options)
    }

    @Test
    func `An opaque image is stored as JPEG, and a page of PDF as PNG, if its format is not encoded or not compressed`()
    {
        var metadata = ImageMetadata()
        let formats: [(ImageFormat, ImageFormat)] = [
            (.pdf, .png), (.ico, .jpeg), (.bmp, .jpeg), (.undefined, .jpeg), (.webp, .webp),
        ]
        for (format, expected) in formats {
            metadata.format = format
            let image = Image.tiny().with(metadata: metadata)
            #expect(image.encodingFormat(of: ImageCodersManager(), options: ImageEncodeOptions()) == expected)
        }
    }

    @Test func `A format without a coder is unsupported`() throws {
        let original = try image("tiny-1x1")
        for coder in [PNGCoder(), WebPCoder(), BMPCoder()] as [any ImageCoder] {
            let error = #expect(throws: WebImageError.self) { try coder.encode(original, to: .tiff, options: .init()) }
            #expect(error?.code == .unsupportedFormat)
        }
        #expect(PNGCoder().canEncode(to: .png) && !PNGCoder().canEncode(to: .webp))
        #expect(WebPCoder().canEncode(to: .webp) && !WebPCoder().canEncode(to: .jpeg))
    }
}
