import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct PNGDecodingTests {
    private let coder = PNGCoder()

    private func difference(_ name: String, expected: String? = nil) throws -> PixelDifference {
        let image = try coder.decode(Fixtures.data("PNG/\(name).png"), options: ImageDecodeOptions())
        return try PixelDifference(image.bitmap, Fixtures.pixels("PNG/\(expected ?? name).pam"))
    }

    /// Pixels that were computed, or converted by another program, in floating point.
    private static let converted: Set<String> = [
        "gamma-1.0", "gamma-1.0-gray", "chrm-adobe", "icc-wide", "icc-gray-alpha", "icc-linear-16bit",
        "icc-linear-16bit-alpha",
    ]
    private static let exact = Fixtures.names(in: "PNG", ending: "pam").filter { !converted.contains($0) }
    private static let matrix = exact.filter { $0.hasPrefix("type") }

    @Test(arguments: exact)
    func `Pixels are exactly those of the file`(name: String) throws {
        #expect(try difference(name).maximum == 0)
    }

    @Test(arguments: matrix)
    func `An interlaced image has the same pixels`(name: String) throws {
        #expect(try difference(name + "-interlaced", expected: name).maximum == 0)
    }

    @Test func `All fifteen kinds and their transparent forms are there`() { #expect(Self.matrix.count == 26) }

    @Test(arguments: converted)
    func `Unusual colours are converted to sRGB`(name: String) throws {
        let found = try difference(name)
        #expect(found.maximum <= 2 && found.mean < 0.6, "\(found)")
    }

    @Test func `Frames of 16 bits are converted before they are rounded`() throws {
        let data = try Fixtures.data("PNG/icc-linear-16bit.png")
        // A file without an animation has one frame.
        let frame = try coder.animation(of: data, options: ImageDecodeOptions()).frame(at: 0)
        #expect(try PixelDifference(frame.bitmap, Fixtures.pixels("PNG/icc-linear-16bit.pam")).maximum <= 2)
    }

    @Test(arguments: [
        "PNG/type3-8bit-trns", "PNG/type3-2bit-trns", "PNG/type3-8bit-trns-interlaced", "Animation/apng-palette",
        "Animation/apng-palette-interlaced",
    ])
    func `A transparency chunk before the palette counts`(name: String) throws {
        let data = try Fixtures.data("\(name).png")
        let swapped = try Self.withTransparencyFirst(data)
        #expect(swapped != data)
        let plain = try coder.decode(data, options: ImageDecodeOptions())
        let expected = name.replacing("-interlaced", with: "")
        if name.hasPrefix("PNG") {
            let image = try coder.decode(swapped, options: ImageDecodeOptions())
            #expect(try PixelDifference(image.bitmap, Fixtures.pixels("\(expected).pam")).maximum == 0)
        }
        let arriving = coder.makeProgressiveDecoder(options: ImageDecodeOptions())
        for part in 1...9 { try arriving.update(swapped.prefix(swapped.count * part / 9), isFinished: part == 9) }
        let image = try #require(try arriving.image(maximumPreviewPixelCount: 1000))
        #expect(image.metadata == plain.metadata && image.hasAlpha == plain.hasAlpha)
        let animation = try coder.animation(of: swapped, options: ImageDecodeOptions())
        let same = try coder.animation(of: data, options: ImageDecodeOptions())
        for index in 0..<animation.frameCount {
            let (frame, other) = (try animation.frame(at: index), try same.frame(at: index))
            #expect(Self.pixels(frame) == Self.pixels(other), "frame \(index)")
        }
    }

    @Test func `A transparency chunk before a suggested palette counts`() throws {
        func chunk(_ name: String, _ data: Data) throws -> Range<Int> {
            let start = try #require(data.firstRange(of: Array(name.utf8))).lowerBound - 4
            return start..<start + 12 + data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        var data = try Fixtures.data("PNG/type2-8bit-trns.png")
        let other = try Fixtures.data("PNG/type3-8bit.png")
        data.insert(contentsOf: other[try chunk("PLTE", other)], at: try chunk("tRNS", data).upperBound)
        let image = try coder.decode(data, options: ImageDecodeOptions())
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("PNG/type2-8bit-trns.pam")).maximum == 0)
    }

    private static func pixels(_ image: Image) -> [[UInt8]] {
        (0..<image.pixelHeight).map { row in
            let count = image.pixelWidth * image.bitmap.pixelFormat.bytesPerPixel
            return Array(UnsafeRawBufferPointer(start: image.bitmap.mutableRow(row), count: count))
        }
    }

    /// The same chunks, with those of transparency before those of the palette.
    private static func withTransparencyFirst(_ data: Data) throws -> Data {
        func chunk(_ name: String) throws -> Range<Int> {
            let start = try #require(data.firstRange(of: Array(name.utf8))).lowerBound - 4
            let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            return start..<start + 12 + length
        }
        let (palette, alpha) = (try chunk("PLTE"), try chunk("tRNS"))
        var result = data
        result.removeSubrange(alpha)
        result.insert(contentsOf: data[alpha], at: palette.lowerBound)
        return result
    }

    @Test func `The name of a profile is the profile's own`() throws {
        let wide = try coder.properties(of: Fixtures.data("PNG/icc-wide.png"), limits: ImageLimits())
        #expect(wide.colorProfile == "Test wide RGB")
        #expect(
            try coder.decode(Fixtures.data("PNG/icc-wide.png"), options: .init()).metadata.colorProfile
                == "Test wide RGB"
        )
        #expect(try coder.properties(of: Fixtures.data("PNG/photo-rgb.png"), limits: .init()).colorProfile == nil)
        let sRGB = try coder.properties(of: Fixtures.data("PNG/icc-srgb.png"), limits: ImageLimits())
        #expect(sRGB.colorProfile?.contains("sRGB") == true)
    }

    @Test func `A profile above the limit is ignored`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumColorProfileByteCount = 200
        let image = try coder.decode(Fixtures.data("PNG/icc-wide.png"), options: options)
        let plain = try Fixtures.pixels("PNG/gamma-0.45455.pam")
        #expect(PixelDifference(image.bitmap, plain).maximum == 0)
    }

    @Test func `Opaque images are packed RGB and others BGRA`() throws {
        for (name, format) in [
            ("type0-8bit", PixelFormat.rgb8), ("type2-16bit", .rgb8), ("type3-4bit", .rgb8),
            ("type0-1bit-trns", .bgra8Premultiplied), ("type3-2bit-trns", .bgra8Premultiplied),
            ("type4-8bit", .bgra8Premultiplied), ("type6-16bit", .bgra8Premultiplied),
        ] {
            let image = try coder.decode(Fixtures.data("PNG/\(name).png"), options: ImageDecodeOptions())
            #expect(image.bitmap.pixelFormat == format, "\(name)")
            let properties = try coder.properties(of: Fixtures.data("PNG/\(name).png"), limits: ImageLimits())
            #expect(properties.hasAlpha == format.hasAlpha)
        }
    }

    @Test(arguments: 1...8)
    func `The orientation is reported as stored, and applied`(number: Int) throws {
        let data = try Fixtures.data("PNG/orientation-\(number).png")
        let properties = try coder.properties(of: data, limits: ImageLimits())
        #expect(properties.orientation.rawValue == number)
        #expect((properties.width, properties.height) == (24, 16))
        let image = try coder.decode(data, options: ImageDecodeOptions())
        #expect(image.orientation == .up)
        #expect((image.pixelWidth, image.pixelHeight) == (number < 5 ? (24, 16) : (16, 24)))
    }

    @Test func `Of an animation the first frame is decoded and the frames are reported`() throws {
        let animated = try coder.properties(of: Fixtures.data("PNG/animated.png"), limits: ImageLimits())
        #expect(animated.frameCount == 3)
        #expect(animated.frameDurations == [0.05, 0.1, 0.25])
        #expect(animated.loopCount == 3)
        let other = try coder.properties(of: Fixtures.data("PNG/animated-default-image.png"), limits: ImageLimits())
        #expect(other.frameCount == 2)
        #expect(other.frameDurations == [0.1, 0.25])
        // The default image of the other is not part of the animation.
        for name in ["animated", "animated-default-image"] {
            let image = try coder.decode(Fixtures.data("PNG/\(name).png"), options: ImageDecodeOptions())
            #expect(try PixelDifference(image.bitmap, Fixtures.pixels("PNG/\(name).pam")).maximum == 0)
        }
        let image = try coder.decode(Fixtures.data("PNG/animated.png"), options: ImageDecodeOptions())
        #expect(image.metadata.frameCount == 3 && image.metadata.loopCount == 3)
        let still = try coder.properties(of: Fixtures.data("PNG/photo-rgb.png"), limits: ImageLimits())
        #expect(still.frameCount == 1 && still.frameDurations.isEmpty && still.loopCount == 0)
    }

    @Test func `A slice of data is read from its own start`() throws {
        let data = try Fixtures.data("PNG/photo-rgb.png")
        let slice = (Data(repeating: 1, count: 17) + data + Data(repeating: 2, count: 5))[17..<17 + data.count]
        let image = try coder.decode(slice, options: ImageDecodeOptions())
        #expect(try PixelDifference(image.bitmap, Fixtures.pixels("PNG/photo-rgb.pam")).maximum == 0)
    }

    @Test(arguments: ["many-rows", "long-rows"])
    func `Images and rows above 64 KiB are whole`(name: String) throws {
        let data = try Fixtures.data("PNG/\(name).png")
        let image = try coder.decode(data, options: ImageDecodeOptions())
        var differences = 0
        for y in 0..<image.pixelHeight {
            let row = image.bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<image.pixelWidth {
                let expected = [x & 255, y & 255, (x + y) / 3 & 255]
                for channel in 0..<3 where Int(row[x * 3 + channel]) != expected[channel] { differences += 1 }
            }
        }
        #expect(differences == 0)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 100, height: 100)
        #expect(try coder.decode(data, options: options).pixelWidth == 100)
    }
}
