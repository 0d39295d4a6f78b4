import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageTIFF

@Suite(.tags(.addressSanitizer)) struct TIFFDecodingTests {
    private let coder = TIFFCoder()

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    private static let files = Fixtures.names(in: "TIFF", ending: "tiff").filter { !$0.hasPrefix("photo") }

    /// The tolerance for lossy codecs, or colours that are converted differently.
    private static func tolerance(_ name: String) -> Int {
        let isExact = !["jpeg", "icc", "ycbcr", "cielab"].contains { name.hasPrefix($0) }
        // Tone mapping uses tables.
        let isMapped = name.hasPrefix("rgb-float") || name.hasPrefix("log")
        return isMapped || name.hasPrefix("rgba-premultiplied-16bit") ? 1 : isExact ? 0 : 2
    }

    @Test(arguments: files)
    func `Pixels are those that the file was written from`(name: String) throws {
        let data = try Fixtures.data("TIFF/\(name).tiff")
        #expect(ImageFormat(detecting: data) == .tiff)
        let image = try coder.decode(data, options: ImageDecodeOptions())
        let expected = try Fixtures.pixels("TIFF/\(name.hasPrefix("same-") ? "same" : name).pam")
        let difference = PixelDifference(image.bitmap, expected)
        #expect(difference.maximum <= Self.tolerance(name) && difference.mean <= 0.5, "\(difference)")
        #expect(image.hasAlpha == (expected.channels % 2 == 0))
        let properties = try coder.properties(of: data, limits: ImageLimits())
        #expect(properties.hasAlpha == image.hasAlpha && properties.format == .tiff && image.format == .tiff)
        #expect(properties.frameCount == 1 && image.metadata.frameCount == 1)
        #expect(properties.pageCount == (name == "pages-3" ? 3 : 1))
        #expect(image.metadata.sourceWidth == properties.width && image.metadata.sourceHeight == properties.height)
    }

    @Test func `All fixtures were found`() { #expect(Self.files.count >= 80) }

    @Test(arguments: 1...8)
    func `The orientation is reported and applied`(number: Int) throws {
        let data = try Fixtures.data("TIFF/orientation-\(number).tiff")
        #expect(try coder.properties(of: data, limits: .init()).orientation.rawValue == number)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 8, height: 8)
        let image = try coder.decode(data, options: options)
        #expect((image.pixelWidth, image.pixelHeight) == (number >= 5 ? (5, 8) : (8, 5)))
        #expect(image.metadata.sourceOrientation.rawValue == number && image.orientation == .up)
    }

    @Test func `The profile is reported`() throws {
        for (name, profile) in [("icc-wide", "Test wide RGB"), ("icc-cmyk", "Test CMYK")] {
            let data = try Fixtures.data("TIFF/\(name).tiff")
            #expect(try coder.properties(of: data, limits: .init()).colorProfile == profile)
            #expect(try coder.decode(data, options: .init()).metadata.colorProfile == profile)
            var limits = ImageLimits()
            limits.maximumColorProfileByteCount = 100
            #expect(try coder.properties(of: data, limits: limits).colorProfile == nil)
        }
    }

    @Test func `A size above a limit is refused before memory is allocated`() throws {
        // The entries of width and height are the first two of the directory at the end.
        var data = try Fixtures.data("TIFF/gray-8bit.tiff")
        let directory = data[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        for entry in 0..<2 {
            data.replaceSubrange(directory + 2 + 12 * entry + 8..<directory + 2 + 12 * entry + 10, with: [0x60, 0xEA])
        }
        #expect(error(data)?.limit?.name == "maximumPixelCount")
        let refused = #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: ImageLimits()) }
        #expect(refused?.limit?.required == 3_600_000_000)
    }

    @Test func `A row of tiles above the limit is refused`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 4, height: 4)
        options.limits.maximumDecodedByteCount = 2000
        #expect(error(try Fixtures.data("TIFF/same-lzw.tiff"), options) == nil)
        #expect(error(try Fixtures.data("TIFF/same-tiles.tiff"), options)?.limit?.name == "maximumDecodedByteCount")
    }

    @Test(arguments: ["same-lzw", "same-planes", "same-tiles", "same-one-strip", "photo-jpeg", "fax-g4", "ycbcr-2x2"])
    func `Missing pixels are an error`(name: String) throws {
        // The directory is at the end of most files: the bytes before it are removed from the middle of the pixels.
        let data = try Fixtures.data("TIFF/\(name).tiff")
        for part in 1..<16 { #expect(error(data.prefix(data.count * part / 16)) != nil, "\(part)/16") }
    }

    @Test func `A strip that ends too early is an error, also a JPEG strip`() throws {
        for name in ["photo-jpeg", "photo-lzw", "fax-g4", "same-packbits", "same-deflate"] {
            var data = try Fixtures.data("TIFF/\(name).tiff")
            let half = data.count / 2
            // Pixels are by far most of the file.
            data.resetBytes(in: half - data.count / 6..<half)
            #expect(error(data)?.code == .badImageData, "\(name)")
        }
    }

    @Test func `Invalid samples are errors`() throws {
        let original = try Fixtures.data("TIFF/rgb-8bit.tiff")
        let directory = original[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        let count = Int(original[directory])
        for (tag, value) in [(262, 99), (277, 0), (277, 2), (256, 0), (257, 0)] {
            var data = original
            for entry in 0..<count {
                let place = directory + 2 + 12 * entry
                guard Int(data[place]) | Int(data[place + 1]) << 8 == tag else { continue }
                data[place + 8] = UInt8(value & 255)
                data[place + 9] = UInt8(value >> 8)
            }
            #expect(error(data)?.code == .badImageData, "tag \(tag) of \(value)")
        }
    }

    @Test func `Pages are counted, and a broken chain ends`() throws {
        let data = try Fixtures.data("TIFF/pages-3.tiff")
        #expect(try coder.properties(of: data, limits: .init()).pageCount == 3)
        #expect(try coder.properties(of: Fixtures.data("TIFF/pages-in-a-circle.tiff"), limits: .init()).pageCount == 1)
        #expect(try coder.properties(of: Fixtures.data("TIFF/same-bigtiff.tiff"), limits: .init()).pageCount == 1)
    }

    @Test func `Data that only begins like a TIFF is an error`() {
        for bytes: [UInt8] in [
            [], [0x49, 0x49], [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 0],
        ] {
            #expect(error(Data(bytes))?.code == .badImageData)
        }
    }
}
