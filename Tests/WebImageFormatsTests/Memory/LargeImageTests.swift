import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageAVIF
@testable import WebImageHEIF

/// Small files of formats that are decoded at full size, for any requested size.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct LargeImageTests {
    private static let files = ["grid-16384x12288.heic", "grid-16384x12288.avif"]
    private let manager = ImageCodersManager(coders: [AVIFCoder(), HEIFCoder()])

    private func data(_ file: String) throws -> Data { try Fixtures.data("CodedSizes/\(file)") }

    private func thumbnail(limits: ImageLimits = ImageLimits()) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        options.limits = limits
        return options
    }

    private func error(_ file: String, _ options: ImageDecodeOptions) throws -> WebImageError? {
        let data = try data(file)
        do throws(WebImageError) {
            _ = try manager.decode(data, options: options)
            return nil
        } catch { return error }
    }

    @Test(arguments: files)
    func `A thumbnail of 200 megapixels is refused if the full decode exceeds the limit`(file: String) throws {
        #expect(try manager.properties(of: data(file), limits: ImageLimits()).width == 16_384)
        var limits = ImageLimits()
        // More than the planes of the codec, and than those of RGB.
        limits.maximumDecodedByteCount = 16_384 * 12_288 * 7 / 2
        let refused = try error(file, thumbnail(limits: limits))
        #expect(refused?.limit?.name == "maximumDecodedByteCount")
        let required = try #require(refused?.limit?.required)
        #expect(required < 1 << 30)
        #expect(throws: WebImageError.self) {
            try manager.memoryNeed(of: data(file), options: thumbnail(limits: limits))
        }
    }

    @Test(arguments: files)
    func `A thumbnail of 200 megapixels is refused by a budget of half a gigabyte`(file: String) throws {
        let (budget, data) = (DecodedMemoryBudget(byteLimit: 512 << 20), try data(file))
        let refused = #expect(throws: WebImageError.self) {
            _ = try budget.perform(.decode(data, manager, thumbnail())) { (options) throws(WebImageError) in
                try manager.decode(data, options: options ?? thumbnail())
            }
        }
        #expect(refused?.limit?.name == "memoryBudget")
    }

    @Test(arguments: files)
    func `The policy for untrusted sources refuses 200 megapixels by their number`(file: String) throws {
        let refused = try error(file, thumbnail(limits: SourcePolicy.untrusted.limits()))
        // With its tiles a HEIC has more than four times the limit.
        #expect(refused?.limit?.name == (file.hasSuffix("heic") ? "HEIF pixels to decode" : "maximumPixelCount"))
    }

    @Test func `Many small tiles of AVIF count with a codec each`() throws {
        var limits = ImageLimits()
        limits.maximumDecodedByteCount = 64 << 20
        let refused = try error("tiles-1024x1024.avif", thumbnail(limits: limits))
        #expect(refused?.limit?.name == "maximumDecodedByteCount")
        #expect(
            try manager.memoryNeed(of: data("tiles-1024x1024.avif"), options: thumbnail()).totalByteCount > 100 << 20
        )
        #expect(try error("tiles-1024x1024.avif", thumbnail()) == nil)
    }

    @Test(arguments: ["10bit-alpha-8bit.heic", "8bit-alpha-10bit.heic"])
    func `HEIC whose alpha has another bit depth than its colours is an error, unless libheif converts them`(
        file: String
    ) throws {
        var wide = ImageDecodeOptions()
        wide.decodeToHDR = true
        for options in [ImageDecodeOptions(), wide] {
            if let error = try error(file, options) {
                #expect(error.code == .badImageData)
            } else {
                let image = try manager.decode(data(file), options: options)
                let bitmap = try image.bitmap.converted(to: .bgra8Premultiplied)
                #expect(abs(Int(bitmap.premultipliedRGBA(x: 32, y: 32)[3]) - 90) <= 2)
            }
        }
    }

    @Test(arguments: ["420-1536x1536", "444-1536x1536", "10bit-1536x1536", "10bit-444-1536x1536", "grid-2048x1536"])
    func `HEIC of one colour has it everywhere`(name: String) throws {
        let image = try manager.decode(data("\(name).heic"), options: ImageDecodeOptions())
        let (right, bottom) = (image.pixelWidth - 1, image.pixelHeight - 1)
        for (x, y) in [(0, 0), (right, 0), (0, bottom), (right, bottom), (right / 2, bottom / 2)] {
            for channel in 0..<3 {
                #expect(abs(Int(image.bitmap.premultipliedRGBA(x: x, y: y)[channel]) - 90) <= 2)
            }
        }
    }
}
