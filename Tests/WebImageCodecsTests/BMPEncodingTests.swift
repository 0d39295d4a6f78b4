import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// The expected files were written by `Scripts/make-fixtures/bmp.py` from samples; Pillow and ImageMagick read those samples from them.
@Suite(.tags(.addressSanitizer)) struct BMPEncodingTests {
    private let coder = BMPCoder()

    @Test(arguments: ["written-rgb", "written-rgba"])
    func `The bytes are those of a file that other programs read`(name: String) throws {
        let data = try Fixtures.data("BMP/\(name).bmp")
        let samples = try Fixtures.pixels("BMP/\(name).pam")
        let image = try coder.decode(data, options: ImageDecodeOptions())
        #expect(PixelDifference(image.bitmap, samples).maximum == 0)
        #expect(image.hasAlpha == (name == "written-rgba"))
        #expect(try coder.encode(image, to: .bmp, options: ImageEncodeOptions()) == data)
    }

    @Test(arguments: 1...9)
    func `Rows of every width are padded to four bytes`(width: Int) throws {
        for alpha: UInt8 in [255, 100] {
            let bitmap = try Bitmap.make(width, 3) { x, y in [UInt8(x * 11), UInt8(y * 30), 90, alpha] }
            let opaque = alpha == 255 ? try bitmap.converted(to: .rgb8) : bitmap
            let data = try coder.encode(Image(bitmap: opaque), to: .bmp, options: ImageEncodeOptions())
            let (header, pixel) = alpha == 255 ? (54, 3) : (122, 4)
            #expect(data.count == header + (width * pixel + 3) / 4 * 4 * 3)
            let copy = try coder.decode(data, options: ImageDecodeOptions())
            #expect(copy.bitmap.pixels == opaque.pixels && copy.bitmap.pixelFormat == opaque.pixelFormat)
        }
    }

    @Test func `BMP is written on request, and keeps its alpha; otherwise it becomes a compressed format`() async throws
    {
        for (name, format) in [("header40-24bit", .jpeg), ("header124-32bit-alpha", .png)] as [(String, ImageFormat)] {
            let image = try coder.decode(Fixtures.data("BMP/\(name).bmp"), options: ImageDecodeOptions())
            let data = try await image.encoded(as: .bmp)
            #expect(ImageFormat(detecting: data) == .bmp)
            #expect(try coder.decode(data, options: ImageDecodeOptions()).bitmap.pixels == image.bitmap.pixels)
            #expect(ImageFormat(detecting: try await image.encoded()) == format)
        }
        #expect(coder.canEncode(to: .bmp) && !coder.canEncode(to: .png) && !coder.canEncode(to: .ico))
    }

    @Test func `Half floats are rounded to 8 bits`() throws {
        let bitmap = try Bitmap.make(4, 4) { x, y in [UInt8(x * 60), UInt8(y * 60), 7, 255] }
        let wide = try Image(bitmap: bitmap.converted(to: .rgbaHalfPremultiplied))
        let copy = try coder.decode(coder.encode(wide, to: .bmp, options: .init()), options: ImageDecodeOptions())
        #expect(copy.bitmap.pixels == bitmap.pixels)
    }
}
