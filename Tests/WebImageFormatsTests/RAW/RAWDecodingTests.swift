import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageFormats
import WebImageRAW

/// Previews and developed images, beside those of other programs.
@Suite(.tags(.addressSanitizer)) struct RAWDecodingTests {
    private static let coder = RAWCoder()

    private static func decode(
        _ file: String,
        _ change: (inout ImageDecodeOptions) -> Void = { _ in }
    ) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try coder.decode(Fixtures.data("RAW/\(file)"), options: options)
    }

    private static func error(_ file: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) -> WebImageError?
    {
        do {
            _ = try decode(file, change)
            return nil
        } catch { return error as? WebImageError }
    }

    /// The header of each fixture: the sensor's size, the orientation, the bits.
    private static let headers: [(file: String, width: Int, height: Int, orientation: Int, bits: Int)] = [
        ("pidng.dng", 96, 64, 1, 12), ("lossless.dng", 96, 64, 8, 12), ("previews.dng", 96, 64, 6, 12),
        ("turned.dng", 96, 64, 8, 12), ("linear.dng", 96, 64, 1, 12), ("bitmap.dng", 96, 64, 1, 12),
        ("strips.dng", 96, 64, 1, 12), ("grey.dng", 96, 64, 1, 12), ("float.dng", 96, 64, 1, 8),
        ("nikon.nef", 95, 64, 8, 16), ("sony.arw", 96, 64, 6, 14), ("canon.cr2", 96, 64, 6, 12),
        ("olympus.orf", 96, 64, 3, 12), ("fujifilm.raf", 3030, 2036, 1, 14), ("panasonic.rw2", 3664, 2754, 1, 12),
        ("eosm50.cr3", 6024, 4020, 1, 14), ("canon350d.dng", 3474, 2314, 1, 12), ("d70.nef", 3039, 2014, 1, 12),
    ]

    @Test func `The header of every fixture is read, in all formats`() throws {
        let files = ["dng", "nef", "arw", "cr2", "orf", "raf", "rw2", "cr3"].flatMap { ending in
            Fixtures.names(in: "RAW", ending: ending).map { "\($0).\(ending)" }
        }
        #expect(Set(files) == Set(Self.headers.map(\.file)))
        for header in Self.headers {
            let data = try Fixtures.data("RAW/\(header.file)")
            #expect(Self.coder.canDecode(data) && ImageFormat(detecting: data) == .raw)
            let properties = try Self.coder.properties(of: data, limits: ImageLimits())
            #expect(properties.format == .raw && properties.frameCount == 1 && properties.pageCount == 1)
            #expect((properties.width, properties.height) == (header.width, header.height), "\(header.file)")
            #expect(properties.orientation.rawValue == header.orientation, "\(header.file)")
            #expect(properties.bitsPerComponent == header.bits, "\(header.file) \(properties.bitsPerComponent)")
            #expect(!properties.hasAlpha && !properties.isHighDynamicRange)
        }
    }

    // MARK: Previews

    private static let previews = [
        "previews.dng", "turned.dng", "linear.dng", "nikon.nef", "sony.arw", "canon.cr2", "olympus.orf", "fujifilm.raf",
        "panasonic.rw2", "eosm50.cr3",
    ]

    @Test(arguments: previews)
    func `The largest preview is decoded, upright, as ExifTool and Pillow do it`(file: String) throws {
        let image = try Self.decode(file)
        let difference = PixelDifference(
            image.bitmap,
            try Fixtures.pixels("RAW/\(file.prefix { $0 != "." }).ppm")
        )
        #expect(difference.maximum <= 2, "\(difference)")
        #expect(image.format == .raw && image.orientation == .up && !image.metadata.isThumbnail && !image.hasAlpha)
        let swaps = image.pixelHeight > image.pixelWidth && file != "turned.dng"
        let source = (image.metadata.sourceWidth, image.metadata.sourceHeight)
        #expect(source == (swaps ? (image.pixelHeight, image.pixelWidth) : (image.pixelWidth, image.pixelHeight)))
    }

    @Test func `A preview of packed pixels is decoded exactly, and scaled`() throws {
        let image = try Self.decode("bitmap.dng")
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("RAW/bitmap.ppm")).maximum == 0)
        let small = try Self.decode("bitmap.dng") { $0.thumbnailPixelSize = ImageSize(width: 12, height: 12) }
        #expect((small.pixelWidth, small.pixelHeight) == (12, 8) && small.metadata.isThumbnail)
    }

    @Test func `A thumbnail is made of the smallest preview that covers it`() throws {
        // Previews of 96x64 and 48x32, turned by 90 degrees, and packed pixels of 24x16.
        for (side, size) in [(20, (13, 20)), (48, (32, 48)), (49, (33, 49)), (90, (60, 90)), (500, (64, 96))] {
            let image = try Self.decode("previews.dng") { $0.thumbnailPixelSize = ImageSize(width: side, height: side) }
            #expect((image.pixelWidth, image.pixelHeight) == size, "\(side)")
            #expect(image.metadata.isThumbnail == (side < 96))
            #expect((image.metadata.sourceWidth, image.metadata.sourceHeight) == (96, 64))
        }
        // The whole of the smaller preview, which is compressed separately.
        let whole = try Self.decode("previews.dng") { $0.thumbnailPixelSize = ImageSize(width: 48, height: 48) }
        let reduced = try Self.decode("turned.dng") { $0.thumbnailPixelSize = ImageSize(width: 48, height: 48) }
        #expect((whole.pixelWidth, whole.pixelHeight) == (reduced.pixelWidth, reduced.pixelHeight))
        #expect(whole.bitmap.components != reduced.bitmap.components)
        // A preview of another shape, 40x30, is not used.
        let sony = try Self.decode("sony.arw") { $0.thumbnailPixelSize = ImageSize(width: 30, height: 30) }
        #expect((sony.pixelWidth, sony.pixelHeight) == (20, 30))
        let covering = try Self.decode("previews.dng") {
            $0.thumbnailPixelSize = ImageSize(width: 40, height: 40)
            $0.thumbnailCovers = true
        }
        #expect((covering.pixelWidth, covering.pixelHeight) == (40, 60))
        let limited = try Self.decode("previews.dng") { $0.scaleDownLimitBytes = 4000 }
        #expect(limited.pixelWidth * limited.pixelHeight <= 1000 && limited.metadata.scaleDownLimitBytes == 4000)
    }

    @Test(arguments: ["pidng.dng", "lossless.dng", "float.dng", "d70.nef"])
    func `Without a preview the error says what decodes the file`(file: String) {
        let error = Self.error(file)
        #expect(error?.code == .previewNotFound && error?.message.contains("full development") == true)
    }

    // MARK: Development

    /// LibRaw, which began as dcraw, interpolates green at edges slightly differently.
    @Test(arguments: [
        "pidng.dng", "lossless.dng", "previews.dng", "linear.dng", "nikon.nef", "sony.arw", "canon.cr2",
    ])
    func `Raw data is developed as dcraw or LibRaw's own program do it`(file: String) throws {
        let name = file.prefix { $0 != "." }
        let image = try Self.decode(file) { $0.rawDevelopment = .full }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("RAW/\(name)-full.ppm"))
        #expect(difference.maximum <= 8 && difference.mean <= 0.01, "\(difference)")
        #expect(image.format == .raw && !image.metadata.isThumbnail && image.bitmap.pixelFormat == .rgb8)
        let properties = try Self.coder.properties(of: Fixtures.data("RAW/\(file)"), limits: ImageLimits())
        let swaps = properties.orientation.swapsSides
        let size = (image.metadata.sourceWidth, image.metadata.sourceHeight)
        #expect(size == (properties.width, properties.height))
        #expect(size == (swaps ? (image.pixelHeight, image.pixelWidth) : (image.pixelWidth, image.pixelHeight)))
    }

    @Test(arguments: ["pidng.dng", "canon.cr2", "sony.arw"])
    func `Half the size is developed without interpolation`(file: String) throws {
        let image = try Self.decode(file) {
            $0.rawDevelopment = .full
            $0.thumbnailPixelSize = ImageSize(width: 48, height: 48)
        }
        // The reference is not turned.
        let expected = try Fixtures.pixels("RAW/\(file.prefix { $0 != "." })-half.ppm")
        let isTurned = image.pixelHeight > image.pixelWidth
        #expect((image.pixelWidth, image.pixelHeight) == (isTurned ? (32, 48) : (48, 32)))
        #expect(image.metadata.isThumbnail)
        var sum = 0
        for y in 0..<32 {
            for x in 0..<48 {
                let found = image.bitmap.premultipliedRGBA(x: isTurned ? 31 - y : x, y: isTurned ? x : y)
                for (found, wanted) in zip(found, expected.rgba(x: x, y: y)) { sum += abs(Int(found) - Int(wanted)) }
            }
        }
        #expect(sum == 0)
    }

    @Test func `With high dynamic range 16 bits are kept`() throws {
        let plain = try Self.decode("pidng.dng") { $0.rawDevelopment = .full }
        let image = try Self.decode("pidng.dng") { ($0.rawDevelopment, $0.decodeToHDR) = (.full, true) }
        #expect(image.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        for (x, y) in [(5, 5), (40, 30), (90, 60)] {
            let wide = image.bitmap.premultipliedRGBA(x: x, y: y)
            let narrow = plain.bitmap.premultipliedRGBA(x: x, y: y)
            #expect(zip(wide, narrow).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(wide) \(narrow)")
        }
        let preview = try Self.decode("previews.dng") { $0.decodeToHDR = true }
        #expect(preview.bitmap.pixelFormat == .rgb8)
    }

    @Test(arguments: PixelFormat.allCases, [ImageDecodeOptions.RawDevelopment.preview, .full])
    func `Pixels are the same in every format`(
        format: PixelFormat,
        development: ImageDecodeOptions.RawDevelopment
    ) throws {
        let plain = try Self.decode("previews.dng") { $0.rawDevelopment = development }
        let image = try Self.decode("previews.dng") { ($0.rawDevelopment, $0.pixelFormat) = (development, format) }
        #expect(image.bitmap.pixelFormat == format && image.metadata == plain.metadata)
        guard format != .rgbaHalfPremultiplied else { return }
        #expect(image.bitmap.components == plain.bitmap.components)
    }

    // MARK: Errors and limits

    @Test(arguments: ["canon350d.dng", "d70.nef", "olympus.orf"])
    func `Raw data that is missing or damaged is an error`(file: String) {
        let error = Self.error(file) { $0.rawDevelopment = .full }
        #expect(error?.code == .badImageData, "\(error as Any)")
    }

    /// LibRaw ends the process if their data is damaged.
    @Test(arguments: ["fujifilm.raf", "eosm50.cr3"])
    func `RAF and CR3 are not developed in this process`(file: String) {
        let error = Self.error(file) { $0.rawDevelopment = .full }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("worker") == true, "\(error as Any)")
    }

    @Test func `A DNG without all of its raw data is an error`() throws {
        let whole = try Fixtures.data("RAW/pidng.dng")
        // The entries are in the order of tags; the number of each tag is followed by its type.
        for (tag, value) in [(322, UInt8(1)), (323, 1), (257, 255)] {
            let start = [UInt8(tag & 255), UInt8(tag >> 8), 4, 0, 1, 0, 0, 0]
            let index = try #require(
                whole.indices.first {
                    whole[$0...].starts(with: start) || whole[$0...].starts(with: [start[0], start[1], 3, 0])
                }
            )
            var damaged = whole
            damaged.replaceSubrange(index + 8..<index + 12, with: [value, 0, 0, 0])
            var options = ImageDecodeOptions()
            options.rawDevelopment = .full
            let error = #expect(throws: WebImageError.self) { try Self.coder.decode(damaged, options: options) }
            #expect(error?.code == .badImageData, "\(tag) \(error as Any)")
        }
        let cut = #expect(throws: WebImageError.self) {
            var options = ImageDecodeOptions()
            options.rawDevelopment = .full
            _ = try Self.coder.decode(whole.dropLast(whole.count / 3), options: options)
        }
        #expect(cut?.code == .badImageData)
    }

    @Test func `Limits are checked before memory is allocated`() {
        let memory = Self.error("fujifilm.raf") {
            ($0.rawDevelopment, $0.limits.maximumDecodedByteCount) = (.full, 60_000_000)
        }
        #expect(memory?.limit?.name == "maximumDecodedByteCount")
        let time = Self.error("previews.dng") { ($0.rawDevelopment, $0.limits.maximumDecodeDuration) = (.full, 0) }
        #expect(time?.code == .decodeTimedOut, "\(time as Any)")
        for development in [ImageDecodeOptions.RawDevelopment.preview, .full] {
            let page = Self.error("previews.dng") { ($0.page, $0.rawDevelopment) = (1, development) }
            #expect(page?.code == .pageNotFound)
        }
    }

    @Test func `Other files are not raw files, and nothing is encoded`() throws {
        for file in ["TIFF/photo-lzw.tiff", "HEIF/420.heic", "JPEG/gray.jpg"] {
            let data = try Fixtures.data(file)
            #expect(!Self.coder.canDecode(data))
            let error = #expect(throws: WebImageError.self) {
                try Self.coder.properties(of: data, limits: ImageLimits())
            }
            #expect(error?.code == .badImageData)
        }
        #expect(!Self.coder.canEncode(to: .raw))
        let image = try Self.decode("previews.dng")
        let error = #expect(throws: WebImageError.self) {
            try Self.coder.encode(image, to: .raw, options: ImageEncodeOptions())
        }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test func `Every fixture of TIFF stays one`() throws {
        for name in Fixtures.names(in: "TIFF", ending: "tiff") {
            #expect(ImageFormat(detecting: try Fixtures.data("TIFF/\(name).tiff")) == .tiff, "\(name)")
        }
    }
}
