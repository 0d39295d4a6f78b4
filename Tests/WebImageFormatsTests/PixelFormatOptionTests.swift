import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Half floats of formats that have at most 8 bits, or contain other formats.
@Suite(.tags(.addressSanitizer)) struct PixelFormatOptionTests {
    private let manager = ImageCodersManager.allInProcess()

    private func decode(_ data: Data, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try manager.decode(data, options: options)
    }

    /// An icon of one image, which is a PNG file.
    private func icon(_ png: Data) -> Data {
        func bytes(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
        // Its own size is in the PNG.
        return Data([0, 0, 1, 0, 1, 0, 24, 18, 0, 0, 1, 0, 32, 0] + bytes(png.count) + bytes(22)) + png
    }

    @Test(arguments: [
        "BMP/header124-24bit.bmp", "BMP/header124-32bit-alpha.bmp", "ICO/pillow-png.ico", "ICO/pillow-bmp.ico",
        "TIFF/photo-lzw.tiff", "TIFF/photo-alpha-planes.tiff", "TIFF/rgb-16bit.tiff", "SVG/shapes.svg",
        "AVIF/sequence.avif", "JPEGXL/animated.jxl",
    ])
    func `Half floats are returned on request, and decodeToHDR changes nothing that has 8 bits`(
        file: String
    ) throws {
        let data = try Fixtures.data(file)
        let plain = try decode(data)
        let wide = try decode(data) { $0.pixelFormat = .rgbaHalfPremultiplied }
        #expect(wide.bitmap.pixelFormat == .rgbaHalfPremultiplied && !wide.metadata.isHighDynamicRange)
        let back = try wide.bitmap.converted(to: .bgra8Premultiplied)
        for (found, wanted) in zip(back.components, plain.bitmap.components) {
            // Colours are un-premultiplied in between.
            for channel in 0..<4 {
                #expect(abs(Int(found[channel]) - Int(wanted[channel])) <= (plain.hasAlpha ? 1 : 0))
            }
        }
        #expect(wide.metadata.isVector == plain.metadata.isVector)
        let hdr = try decode(data) { $0.decodeToHDR = true }
        if file == "TIFF/rgb-16bit.tiff" {
            #expect(hdr.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        } else {
            #expect(hdr.bitmap.pixelFormat == plain.bitmap.pixelFormat)
            #expect(hdr.bitmap.components == plain.bitmap.components)
        }
        // Eight bytes a pixel count for the limit.
        let count = plain.pixelWidth * plain.pixelHeight * 8
        let refused = #expect(throws: WebImageError.self) {
            try decode(data) {
                $0.pixelFormat = .rgbaHalfPremultiplied
                $0.limits.maximumDecodedByteCount = count - 1
            }
        }
        #expect(refused?.limit?.name == "maximumDecodedByteCount")
    }

    @Test func `Icons with PNG of 16 bits have 8 unless more is requested`() throws {
        let png = try Fixtures.data("HDR/png16-rgba.png")
        let plain = try decode(icon(png))
        #expect(plain.bitmap.pixelFormat == .bgra8Premultiplied && plain.format == .ico)
        #expect(try plain.bitmap.components == (decode(png)).bitmap.components)
        let hdr = try decode(icon(png)) { $0.decodeToHDR = true }
        let narrow = try hdr.bitmap.converted(to: .bgra8Premultiplied)
        for (found, wanted) in zip(narrow.components, plain.bitmap.components) {
            for channel in 0..<4 { #expect(abs(Int(found[channel]) - Int(wanted[channel])) <= 1) }
        }
    }

    @Test func `A colour profile above the limit in an icon is ignored`() throws {
        let png = try Fixtures.data("PNG/icc-wide.png")
        let (full, bare) = (
            try decode(icon(png)), try decode(icon(png)) { $0.limits.maximumColorProfileByteCount = 100 }
        )
        #expect(full.bitmap.components != bare.bitmap.components)
        #expect(try full.bitmap.components == (decode(png)).bitmap.components)
    }

    @Test func `An SVG above the length limit is refused`() throws {
        let data = try Fixtures.data("SVG/shapes.svg")
        let refused = #expect(throws: WebImageError.self) {
            try decode(data) { $0.limits.maximumEncodedByteCount = data.count - 1 }
        }
        #expect(refused?.limit?.name == "maximumEncodedByteCount")
    }
}
