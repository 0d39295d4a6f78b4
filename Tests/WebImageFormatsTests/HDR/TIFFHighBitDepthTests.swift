import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageTIFF

/// TIFF of high bit depth and high dynamic range, against numpy.
@Suite(.tags(.addressSanitizer)) struct TIFFHighBitDepthTests {
    private static let files = Fixtures.names(in: "TIFF", ending: "half")
    private static let bright = ["rgb-float16", "rgb-float32", "rgb-float64", "logl", "logluv"]
    private let coder = TIFFCoder()

    private func decode(_ name: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try coder.decode(Fixtures.data("TIFF/\(name).tiff"), options: options)
    }

    @Test func `All fixtures were found`() { #expect(Self.files.count == 14) }

    @Test(arguments: files)
    func `Half floats match the samples`(name: String) throws {
        let image = try decode(name) { $0.decodeToHDR = true }
        #expect(image.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        #expect(image.metadata.isHighDynamicRange == Self.bright.contains(name))
        let bytes = [UInt8](try Fixtures.data("TIFF/\(name).half"))
        #expect(bytes.count == image.pixelWidth * image.pixelHeight * 8)
        let storage = try PixelStorage.allocate(byteCount: bytes.count)
        UnsafeMutableRawBufferPointer(start: storage.base, count: bytes.count).copyBytes(from: bytes)
        let expected = Bitmap(
            width: image.pixelWidth,
            height: image.pixelHeight,
            bytesPerRow: image.pixelWidth * 8,
            pixelFormat: .rgbaHalfPremultiplied,
            storage: storage
        )
        for y in 0..<image.pixelHeight {
            for x in 0..<image.pixelWidth {
                let (found, wanted) = (image.bitmap.halfComponents(x: x, y: y), expected.halfComponents(x: x, y: y))
                for channel in 0..<4 {
                    // Light is converted to numbers by a table.
                    let tolerance = 0.001 + (name.hasPrefix("log") ? 0.004 : 0.001) * abs(wanted[channel])
                    #expect(abs(found[channel] - wanted[channel]) <= tolerance, "\(x), \(y): \(found) \(wanted)")
                }
            }
        }
    }

    @Test(arguments: files)
    func `Headers report bits`(name: String) throws {
        let properties = try coder.properties(of: Fixtures.data("TIFF/\(name).tiff"), limits: ImageLimits())
        let bits = ["float16": 16, "float32": 32, "float64": 64, "16bit": 16, "12bit": 12, "32bit": 32, "log": 32]
        let expected = bits.first { name.contains($0.key) }
        #expect(properties.bitsPerComponent == expected?.value && !properties.isHighDynamicRange)
    }

    @Test func `Images of 8 bits and fewer, and palettes, have 8`() throws {
        for name in ["gray-1bit", "rgb-8bit", "palette-8bit", "cmyk", "ycbcr-2x2", "jpeg-ycbcr", "cielab"] {
            let properties = try coder.properties(of: Fixtures.data("TIFF/\(name).tiff"), limits: ImageLimits())
            #expect(properties.bitsPerComponent == 8, "\(name)")
            #expect(try decode(name) { $0.decodeToHDR = true }.bitmap.pixelFormat != .rgbaHalfPremultiplied)
        }
    }

    @Test(arguments: files)
    func `Half floats convert to the 8 bits that are decoded by default`(name: String) throws {
        let wide = try decode(name) { $0.decodeToHDR = true }
        let narrow = try wide.bitmap.converted(to: .bgra8Premultiplied, toneMaps: wide.metadata.isHighDynamicRange)
        let plain = try decode(name)
        #expect(plain.bitmap.pixelFormat != .rgbaHalfPremultiplied && !plain.metadata.isHighDynamicRange)
        // CMYK is rounded before it is mixed.
        let most = name.hasPrefix("cmyk") ? 2 : 1
        for (found, wanted) in zip(narrow.components, plain.bitmap.components) {
            for channel in 0..<4 { #expect(abs(Int(found[channel]) - Int(wanted[channel])) <= most, "\(name)") }
        }
    }

    @Test(arguments: ["rgb-16bit", "rgba-16bit-planes", "rgb-float32", "logluv", "gray-16bit-white-is-zero"])
    func `Options apply to high bit depth images`(name: String) throws {
        let full = try decode(name) { $0.decodeToHDR = true }
        let small = try decode(name) {
            $0.decodeToHDR = true
            $0.thumbnailPixelSize = ImageSize(width: 9, height: 9)
        }
        #expect(max(small.pixelWidth, small.pixelHeight) == 9 && small.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        let resized = try Resampler.resize(full.bitmap, width: small.pixelWidth, height: small.pixelHeight)
        for y in 0..<small.pixelHeight {
            for x in 0..<small.pixelWidth {
                let (found, wanted) = (small.bitmap.halfComponents(x: x, y: y), resized.halfComponents(x: x, y: y))
                for channel in 0..<4 {
                    #expect(abs(found[channel] - wanted[channel]) <= 0.003 + 0.003 * abs(wanted[channel]))
                }
            }
        }
        let format = try decode(name) {
            $0.decodeToHDR = true
            $0.pixelFormat = .bgra8Premultiplied
        }
        #expect(format.bitmap.pixelFormat == .bgra8Premultiplied && !format.metadata.isHighDynamicRange)
        let bytes = full.pixelWidth * full.pixelHeight * 8
        for limit in [bytes - 1, bytes] {
            let image = try? decode(name) {
                $0.decodeToHDR = true
                $0.limits.maximumDecodedByteCount = limit
            }
            #expect((image != nil) == (limit == bytes))
        }
    }
}
