import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageTIFF

/// Output is read back by the decoder, which is tested against other programs.
@Suite(.tags(.addressSanitizer)) struct TIFFEncodingTests {
    private let coder = TIFFCoder()

    private func image(_ name: String) throws -> Image {
        try coder.decode(Fixtures.data("TIFF/\(name).tiff"), options: ImageDecodeOptions())
    }

    private func pixels(_ image: Image) -> [UInt8] {
        (0..<image.pixelHeight).flatMap { y in
            (0..<image.pixelWidth).flatMap { image.bitmap.premultipliedRGBA(x: $0, y: y) }
        }
    }

    @Test(arguments: ["same-lzw", "rgba-8bit", "photo-lzw", "gray-1bit"], [0, 1, 2, 3])
    func `Pixels are read back exactly, and the image is not changed`(name: String, compression: Int) throws {
        let original = try image(name)
        let before = pixels(original)
        var options = ImageEncodeOptions()
        options.values[TIFFCoder.Compression.self] = try #require(TIFFCoder.Compression(rawValue: compression))
        let data = try coder.encode(original, to: .tiff, options: options)
        #expect(ImageFormat(detecting: data) == .tiff)
        let copy = try coder.decode(data, options: ImageDecodeOptions())
        #expect(copy.hasAlpha == original.hasAlpha)
        #expect(pixels(copy) == before && pixels(original) == before)
    }

    @Test func `LZW is the default compression, and makes files smaller`() throws {
        let original = try image("photo-lzw")
        var sizes: [TIFFCoder.Compression: Int] = [:]
        for compression in [TIFFCoder.Compression.lzw, .deflate, .packBits, .none] {
            var options = ImageEncodeOptions()
            options.values[TIFFCoder.Compression.self] = compression
            sizes[compression] = try coder.encode(original, to: .tiff, options: options).count
        }
        #expect(try coder.encode(original, to: .tiff, options: .init()).count == sizes[.lzw])
        #expect((sizes[.none] ?? 0) > 120 * 90 * 3)
        #expect((sizes[.lzw] ?? .max) < 120 * 90 * 2 && (sizes[.deflate] ?? .max) < (sizes[.lzw] ?? 0))
    }

    @Test func `The maximum size holds and never enlarges`() throws {
        let original = try image("photo-alpha-planes")
        for (box, width, height) in [((60, 60), 60, 45), ((1000, 30), 40, 30), ((500, 500), 120, 90)] {
            var options = ImageEncodeOptions()
            options.maxPixelSize = ImageSize(width: box.0, height: box.1)
            let copy = try coder.decode(coder.encode(original, to: .tiff, options: options), options: .init())
            #expect((copy.pixelWidth, copy.pixelHeight) == (width, height) && copy.hasAlpha)
        }
    }

    @Test func `The orientation of the image is applied`() throws {
        let stored = try image("orientation-1")
        let turned = Image(bitmap: stored.bitmap, orientation: .right)
        let copy = try coder.decode(coder.encode(turned, to: .tiff, options: .init()), options: .init())
        #expect(PixelDifference(copy.bitmap, try Fixtures.pixels("TIFF/orientation-6.pam")).maximum == 0)
    }

    @Test func `Only TIFF is written`() throws {
        #expect(coder.canEncode(to: .tiff) && !coder.canEncode(to: .png))
        let error = #expect(throws: WebImageError.self) { try coder.encode(.tiny(), to: .png, options: .init()) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test func `A file above the size limit is an error with the bytes needed`() throws {
        let original = try image("photo-lzw")
        var options = ImageEncodeOptions()
        let data = try coder.encode(original, to: .tiff, options: options)
        options.maxFileSize = data.count
        #expect(try coder.encode(original, to: .tiff, options: options) == data)
        options.maxFileSize -= 1
        let error = #expect(throws: WebImageError.self) { try coder.encode(original, to: .tiff, options: options) }
        #expect(error?.limit?.name == "maxFileSize" && error?.limit?.required == Int64(data.count))
    }

    @Test func `Quality, loss, background, first frame and loops change nothing`() throws {
        let original = try image("rgba-8bit")
        let plain = try coder.encode(original, to: .tiff, options: .init())
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.1
        options.isLossless = true
        options.backgroundColor = .black
        options.encodeFirstFrameOnly = true
        options.loopCount = 4
        options.encodeEmbedThumbnail = true
        #expect(try coder.encode(original, to: .tiff, options: options) == plain)
    }
}
