import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageRAW

/// What a development takes of the process, and what of a file is refused before.
@Suite(.tags(.addressSanitizer)) struct RAWDevelopmentTests {
    private static let coder = RAWCoder()

    private static var options: ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.rawDevelopment = .full
        return options
    }

    /// LibRaw allocates whole tiles for floats. It takes a side below 0 for no tiles.
    @Test(arguments: [(322, 1 << 30), (323, 1 << 30), (322, 1 << 17), (322, -1)])
    func `Tiles that are larger than the image are an error before they are allocated`(tag: Int, side: Int) throws {
        let data = try RAWBytes.changing(tag, to: side, in: Fixtures.data("RAW/float.dng"))
        let error = #expect(throws: WebImageError.self) { try Self.coder.decode(data, options: Self.options) }
        #expect([.badImageData, .unsupportedFormat].contains(error?.code), "\(error as Any)")
        #expect(side < 0 || error?.message.contains("tiles") == true, "\(error as Any)")
    }

    /// LibRaw 0.20 divides by the width of a slice, and does not check where slices end.
    @Test(arguments: [[1, 0, 96], [1, 96, 0], [0xFFFF, 96, 96], [1, 0xFFFF, 96]])
    func `Slices of a CR2 without width or beyond the image are an error`(slices: [Int]) throws {
        var data = try Fixtures.data("RAW/canon.cr2")
        let entry: [UInt8] = [0x40, 0xC6, 3, 0, 3, 0, 0, 0]
        let index = try #require(data.indices.first { data[$0...].starts(with: entry) })
        let offset = Int(data[index + 8]) | Int(data[index + 9]) << 8
        data.replaceSubrange(
            offset..<offset + 6,
            with: slices.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        )
        let error = #expect(throws: WebImageError.self) { try Self.coder.decode(data, options: Self.options) }
        #expect(error?.code == .badImageData, "\(error as Any)")
    }

    @Test func `A linear DNG of 48 megapixels fits into the default limits`() throws {
        var data = try Fixtures.data("RAW/linear.dng")
        // 96 by 64, in big-endian values.
        for (tag, value) in [(256, 8064), (257, 6048)] {
            let start = [UInt8(tag >> 8), UInt8(tag & 255), 0, 4, 0, 0, 0, 1]
            // The preview has a directory of its own behind this one.
            let index = try #require(data.indices.first { data[$0...].starts(with: start) })
            data.replaceSubrange(index + 8..<index + 12, with: [0, 0, UInt8(value >> 8), UInt8(value & 255)])
        }
        let properties = try Self.coder.properties(of: data, limits: ImageLimits())
        #expect((properties.width, properties.height) == (8064, 6048))
        let need = try Self.coder.memoryNeed(of: data, options: Self.options)
        let perPixel = Double(need.totalByteCount) / (8064 * 6048)
        #expect(perPixel >= 18 && perPixel <= 24, "\(need)")
        // The data is missing.
        let error = #expect(throws: WebImageError.self) { try Self.coder.decode(data, options: Self.options) }
        #expect(error?.code == .badImageData, "\(error as Any)")
    }

    @Test func `The number of threads that the program has set for OpenMP stays`() throws {
        _ = try Self.coder.decode(Fixtures.data("RAW/pidng.dng"), options: Self.options)
        // LibRaw has loaded it, if it uses it.
        guard let library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD),
            let get = dlsym(library, "omp_get_max_threads"), let set = dlsym(library, "omp_set_num_threads")
        else { return }
        let number = unsafeBitCast(get, to: (@convention(c) () -> Int32).self)
        let setNumber = unsafeBitCast(set, to: (@convention(c) (Int32) -> Void).self)
        let former = number()
        defer { setNumber(former) }
        setNumber(3)
        for file in ["pidng.dng", "previews.dng", "olympus.orf"] {
            for development in [ImageDecodeOptions.RawDevelopment.preview, .full] {
                var options = Self.options
                options.rawDevelopment = development
                _ = try? Self.coder.decode(Fixtures.data("RAW/\(file)"), options: options)
                #expect(number() == 3, "\(file) \(development)")
            }
        }
    }
}
