import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct BMPDecodingTests {
    private let coder = BMPCoder()

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    private func put(_ value: UInt32, at offset: Int, of data: inout Data) {
        for index in 0..<4 { data[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index))) }
    }

    @Test(arguments: Fixtures.names(in: "BMP", ending: "pam"))
    func `Pixels are those that the file was written from`(name: String) throws {
        let data = try Fixtures.data("BMP/\(name).bmp")
        #expect(ImageFormat(detecting: data) == .bmp)
        let image = try coder.decode(data, options: ImageDecodeOptions())
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("BMP/\(name).pam"))
        let isLossless = name != "embedded-jpeg" && name != "icc-wide"
        #expect(difference.maximum <= (isLossless ? 0 : 2) && difference.mean <= 0.5, "\(difference)")
        let properties = try coder.properties(of: data, limits: ImageLimits())
        #expect(properties.hasAlpha == image.hasAlpha)
        #expect((properties.width, properties.height) == (image.pixelWidth, image.pixelHeight))
        #expect(properties.format == .bmp && image.format == .bmp)
        #expect(properties.frameCount == 1 && properties.pageCount == 1 && properties.orientation == .up)
        #expect(properties.colorProfile == (name == "icc-wide" ? "Test wide RGB" : nil))
        #expect(image.metadata.colorProfile == properties.colorProfile)
    }

    /// The file with another number of colours and another offset of its pixels.
    private func changed(_ name: String, colors: UInt32, offset: UInt32? = nil) throws -> Data {
        var data = try Fixtures.data("BMP/\(name).bmp")
        for byte in 0..<4 { data[46 + byte] = UInt8(truncatingIfNeeded: colors >> (8 * UInt32(byte))) }
        if let offset {
            for byte in 0..<4 { data[10 + byte] = UInt8(truncatingIfNeeded: offset >> (8 * UInt32(byte))) }
        }
        return data
    }

    @Test(arguments: ["header40-8bit", "header40-4bit", "header40-1bit", "header40-24bit", "header40-32bit", "rle8"])
    func `An invalid number of colours counts as none`(name: String) throws {
        let expected = try Fixtures.pixels("BMP/\(name).pam")
        for colors: UInt32 in [0x1234_5678, 0xFFFF_FFFF, 70_000] {
            let image = try coder.decode(changed(name, colors: colors), options: .init())
            #expect(PixelDifference(image.bitmap, expected).maximum == 0, "\(colors)")
        }
    }

    @Test(arguments: [("header40-8bit", 256), ("header40-4bit", 16), ("header40-1bit", 2)])
    func `Pixels whose offset lies in the palette begin behind it`(name: String, most: UInt32) throws {
        let expected = try Fixtures.pixels("BMP/\(name).pam")
        let file = try Fixtures.data("BMP/\(name).bmp")
        let used = file[46..<50].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        for colors in Set([used, used == 0 ? most : used]) {
            let image = try coder.decode(changed(name, colors: colors, offset: 54), options: .init())
            #expect(PixelDifference(image.bitmap, expected).maximum == 0, "\(colors)")
        }
    }

    @Test(arguments: ["header40-24bit", "header40-32bit"])
    func `An oversized unused palette moves no pixel, unless there is room for it`(name: String) throws {
        let expected = try Fixtures.pixels("BMP/\(name).pam")
        for colors: UInt32 in [1, 100, 0x1234_5678] {
            let image = try coder.decode(changed(name, colors: colors, offset: 0), options: .init())
            #expect(PixelDifference(image.bitmap, expected).maximum == 0, "\(colors)")
        }
        var roomy = try changed(name, colors: 10, offset: 0)
        roomy.insert(contentsOf: [UInt8](repeating: 7, count: 40), at: 54)
        #expect(try PixelDifference(coder.decode(roomy, options: .init()).bitmap, expected).maximum == 0)
    }

    @Test func `All fixtures were found`() { #expect(Fixtures.names(in: "BMP", ending: "pam").count >= 60) }

    @Test(arguments: ["rle8-delta", "rle4-delta", "rle8-early-end", "header56-32bit-alpha"])
    func `Pixels that the file leaves out are transparent`(name: String) throws {
        let image = try coder.decode(Fixtures.data("BMP/\(name).bmp"), options: ImageDecodeOptions())
        #expect(image.hasAlpha)
        #expect(!(try coder.decode(Fixtures.data("BMP/rle8.bmp"), options: ImageDecodeOptions())).hasAlpha)
    }

    @Test(arguments: ["header40-24bit", "header12-4bit", "rle8", "rle24-os2", "header124-32bit-alpha", "embedded-png"])
    func `A file with truncated pixels is an error`(name: String) throws {
        let data = try Fixtures.data("BMP/\(name).bmp")
        // Padding, the end marks of run lengths, and the end of the PNG may be missing.
        let spare = name.hasPrefix("rle") ? 5 : name == "embedded-png" ? 12 : 3
        for length in 0..<data.count - spare {
            #expect(error(data.prefix(length))?.code == .badImageData, "\(length) of \(data.count)")
        }
    }

    @Test func `A size above a limit is refused before memory is allocated`() throws {
        var data = try Fixtures.data("BMP/header40-24bit.bmp")
        put(60_000, at: 18, of: &data)
        put(60_000, at: 22, of: &data)
        #expect(error(data)?.limit?.name == "maximumPixelCount")
        put(0x7FFF_FFFF, at: 18, of: &data)
        #expect(error(data)?.limit?.name == "maximumSideLength")
        #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: ImageLimits()) }
    }

    @Test func `Sides of 0 and negative widths are errors`() throws {
        for (offset, value) in [(18, 0), (22, 0), (18, UInt32.max), (22, 0x8000_0000)] {
            var data = try Fixtures.data("BMP/header40-24bit.bmp")
            put(value, at: offset, of: &data)
            #expect(error(data) != nil)
        }
    }

    @Test func `Unknown depths and compressions are errors`() throws {
        let original = try Fixtures.data("BMP/header40-8bit.bmp")
        for (depth, compression) in [(3, 0), (0, 0), (64, 0), (8, 2), (4, 1), (24, 3), (8, 9), (1, 0xFFFF_FFFF)] {
            var data = original
            data[28] = UInt8(depth)
            put(UInt32(compression), at: 30, of: &data)
            #expect(error(data)?.code == .badImageData, "\(depth) bits, compression \(compression)")
        }
    }

    @Test func `Offsets outside the file are errors`() throws {
        let original = try Fixtures.data("BMP/header40-8bit.bmp")
        for offset in [1, 53, UInt32(original.count) + 1, .max] {
            var data = original
            put(offset, at: 10, of: &data)
            #expect(error(data)?.code == .badImageData, "\(offset)")
        }
    }

    @Test func `A profile that is truncated or too long is ignored`() throws {
        var data = try Fixtures.data("BMP/icc-wide.bmp")
        let plain = try Fixtures.pixels("BMP/declared-srgb.pam")
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 100
        #expect(PixelDifference(try coder.decode(data, options: options).bitmap, plain).maximum == 0)
        put(0xFFFF_FFFF, at: 14 + 112, of: &data)
        #expect(PixelDifference(try coder.decode(data, options: .init()).bitmap, plain).maximum == 0)
    }

    @Test func `A thumbnail of a huge image needs little memory`() throws {
        // 4 000 x 3 000 pixels of one bit: 1.5 MB on disk, 36 MB in memory.
        var data = try Fixtures.data("BMP/header40-1bit.bmp")
        let offset = Int(data[10])
        put(4000, at: 18, of: &data)
        put(3000, at: 22, of: &data)
        data = data.prefix(offset) + Data(count: 500 * 3000)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 80, height: 60)
        options.limits.maximumDecodedByteCount = 80 * 60 * 3
        let image = try coder.decode(data, options: options)
        #expect((image.pixelWidth, image.pixelHeight) == (80, 60))
    }
}
