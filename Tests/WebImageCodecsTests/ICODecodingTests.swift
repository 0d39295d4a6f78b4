import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ICODecodingTests {
    private let coder = ICOCoder()

    /// Files with the pixels of their largest image.
    static let files =
        Fixtures.names(in: "ICO", ending: "ico").map { $0 + ".ico" }.filter {
            $0 != "only-nested.ico" && !$0.hasPrefix("photo")
        } + Fixtures.names(in: "ICO", ending: "cur").map { $0 + ".cur" }

    private func decode(_ file: String, box: Int? = nil) throws -> Image {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = box.map { ImageSize(width: $0, height: $0) }
        return try coder.decode(Fixtures.data("ICO/\(file)"), options: options)
    }

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    @Test(arguments: files)
    func `The largest and deepest image is the icon, pixel by pixel`(file: String) throws {
        let image = try decode(file)
        let expected = try Fixtures.pixels("ICO/\(file.dropLast(4)).pam")
        #expect(PixelDifference(image.bitmap, expected).maximum == 0)
        let properties = try coder.properties(of: Fixtures.data("ICO/\(file)"), limits: ImageLimits())
        #expect((properties.width, properties.height) == (image.pixelWidth, image.pixelHeight))
        #expect(properties.hasAlpha == image.hasAlpha && image.hasAlpha == (expected.channels == 4))
        #expect(properties.format == .ico && image.format == .ico && properties.frameCount == 1)
        #expect(!image.metadata.isThumbnail)
    }

    @Test(arguments: ["mask-8bit", "mask-1bit", "opaque-24bit", "alpha-32bit"])
    func `A bitmap's own header gives its length, whatever the directory says`(name: String) throws {
        var data = try Fixtures.data("ICO/\(name).ico")
        for length: UInt8 in [0, 8, 60] {
            data.replaceSubrange(14..<18, with: [length, 0, 0, 0])
            let image = try coder.decode(data, options: ImageDecodeOptions())
            #expect(try PixelDifference(image.bitmap, Fixtures.pixels("ICO/\(name).pam")).maximum == 0, "\(length)")
        }
    }

    @Test func `All fixtures were found`() { #expect(Self.files.count >= 16) }

    @Test(arguments: ["pillow-png.ico", "pillow-bmp.ico", "icotool.ico"], [16, 24])
    func `A thumbnail uses the image that was drawn for its size`(file: String, size: Int) throws {
        let image = try decode(file, box: size)
        let expected = try Fixtures.pixels("ICO/\(file.dropLast(4))-\(size).pam")
        #expect(PixelDifference(image.bitmap, expected).maximum == 0)
        #expect(image.metadata.isThumbnail)
        #expect(image.metadata.sourceWidth == 40 && image.metadata.sourceHeight == 40)
    }

    @Test func `A thumbnail between two sizes is made from the bigger one`() throws {
        let image = try decode("pillow-png.ico", box: 20)
        let source = try decode("pillow-png.ico", box: 24)
        let expected = try Resampler.resize(source.bitmap, width: 20, height: 20)
        #expect((image.pixelWidth, image.pixelHeight) == (20, 20))
        for place in 0..<20 {
            let found = image.bitmap.premultipliedRGBA(x: place, y: 19 - place)
            for (a, b) in zip(found, expected.premultipliedRGBA(x: place, y: 19 - place)) {
                #expect(abs(Int(a) - Int(b)) <= 1)
            }
        }
    }

    @Test func `A byte limit selects a smaller image, too`() throws {
        var options = ImageDecodeOptions()
        options.scaleDownLimitBytes = 4 * 16 * 16
        let image = try coder.decode(Fixtures.data("ICO/pillow-png.ico"), options: options)
        #expect(PixelDifference(image.bitmap, try Fixtures.pixels("ICO/pillow-png-16.pam")).maximum == 0)
        #expect(image.metadata.scaleDownLimitBytes == 4 * 16 * 16 && !image.metadata.isThumbnail)
    }

    @Test func `An image of another aspect ratio does not replace a smaller one`() throws {
        // 256 x 12, and 16 x 16.
        let image = try decode("png-256.ico", box: 16)
        #expect((image.pixelWidth, image.pixelHeight) == (16, 1))
    }

    @Test func `A stretched thumbnail has the size of the box`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 30, height: 10)
        options.preserveAspectRatio = false
        let image = try coder.decode(Fixtures.data("ICO/icotool.ico"), options: options)
        #expect((image.pixelWidth, image.pixelHeight) == (30, 10))
    }

    @Test func `An icon inside an icon is an error`() throws {
        #expect(error(try Fixtures.data("ICO/only-nested.ico"))?.code == .badImageData)
    }

    @Test func `Every truncation is an error`() throws {
        for file in ["icotool.ico", "mask-4bit.ico", "cursor.cur"] {
            let data = try Fixtures.data("ICO/\(file)")
            for length in stride(from: 0, to: data.count - 1, by: 5) {
                #expect(error(data.prefix(length))?.code == .badImageData, "\(length) of \(data.count)")
            }
        }
    }

    @Test func `An image above a limit is refused by its own header`() throws {
        var data = try Fixtures.data("ICO/mask-24bit.ico")
        data.replaceSubrange(22 + 4..<22 + 12, with: [0x60, 0xEA, 0, 0, 0xC0, 0xD4, 1, 0])
        #expect(error(data)?.limit?.name == "maximumPixelCount")
        #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: ImageLimits()) }
    }

    @Test func `A directory of 65 535 entries is decoded`() throws {
        let picture = try Fixtures.data("ICO/mask-24bit.ico").dropFirst(22)
        var data = Data([0, 0, 1, 0, 0xFF, 0xFF])
        let place = 6 + 16 * 65_535
        let entry =
            Data([24, 24, 0, 0, 1, 0, 24, 0])
            + [picture.count, place].map { number in
                Data((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
            }.reduce(Data(), +)
        for _ in 0..<65_535 { data.append(entry) }
        let image = try coder.decode(data + picture, options: ImageDecodeOptions())
        #expect(PixelDifference(image.bitmap, try Fixtures.pixels("ICO/mask-24bit.pam")).maximum == 0)
    }

    @Test(arguments: ["pillow-png.ico", "icotool.ico", "mask-8bit.ico", "alpha-32bit.ico", "nested.ico"])
    func `Damage never traps`(file: String) throws {
        let data = try Fixtures.data("ICO/\(file)")
        for damaged in DamagedFiles.truncations(of: data) + DamagedFiles.corruptions(of: data) {
            #expect(DamagedFiles.complaint(of: coder, about: damaged) == nil)
        }
        for damaged in DamagedFiles.corruptions(of: data.prefix(100)) {
            #expect(DamagedFiles.complaint(of: coder, about: damaged + data.dropFirst(100)) == nil)
        }
    }

    @Test func `Icons are not encoded`() {
        #expect(!coder.canEncode(to: .ico))
        #expect(throws: WebImageError.self) { try coder.encode(.tiny(), to: .ico, options: ImageEncodeOptions()) }
    }
}
