import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct JPEGDecodingTests {
    private let coder = JPEGCoder()

    private func decode(_ name: String, change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try coder.decode(Fixtures.data("JPEG/\(name).jpg"), options: options)
    }

    private func expectPixels(_ image: Image, _ expected: String, maximum: Int, mean: Double) throws {
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("JPEG/\(expected).ppm"))
        #expect(difference.maximum <= maximum && difference.mean <= mean, "\(expected): \(difference)")
    }

    @Test(arguments: [
        "baseline-420", "baseline-422", "baseline-444", "progressive", "rgb-kept", "gray", "restart", "many-scans",
    ])
    func `Pixels are exactly Pillow's, in both pixel formats`(_ name: String) throws {
        for format in [nil, PixelFormat.rgb8, .bgra8Premultiplied] {
            let image = try decode(name) { $0.pixelFormat = format }
            #expect(image.bitmap.pixelFormat == format ?? .rgb8)
            try expectPixels(image, name, maximum: 0, mean: 0)
        }
    }

    @Test(arguments: ["arithmetic", "non-interleaved"])
    func `Another coding of the same coefficients gives the same pixels`(_ name: String) throws {
        try expectPixels(try decode(name), "baseline-420", maximum: 0, mean: 0)
    }

    @Test(arguments: ["cmyk", "ycck"])
    func `CMYK without a profile is converted as in Pillow`(_ name: String) throws {
        for format in PixelFormat.allCases {
            try expectPixels(try decode(name) { $0.pixelFormat = format }, name, maximum: 1, mean: 0.5)
        }
    }

    @Test(arguments: [
        ("icc-wide", "Test wide RGB"), ("icc-long", "Test wide RGB"), ("icc-gray", "Test gray 1.6"),
        ("cmyk-icc", "Test CMYK"),
    ])
    func `Colours of an embedded profile are converted to sRGB`(_ name: String, profile: String) throws {
        for format in PixelFormat.allCases {
            let image = try decode(name) { $0.pixelFormat = format }
            try expectPixels(image, name, maximum: 2, mean: 0.5)
            #expect(image.metadata.colorProfile == profile)
            #expect(
                try coder.properties(of: Fixtures.data("JPEG/\(name).jpg"), limits: .init()).colorProfile == profile
            )
        }
    }

    @Test(arguments: ["icc-srgb", "icc-broken", "icc-misfit"])
    func `A profile that is sRGB, broken, or for another kind of colour changes nothing`(_ name: String) throws {
        try expectPixels(try decode(name), "no-conversion", maximum: 0, mean: 0)
    }

    @Test func `A profile above its limit is ignored`() throws {
        let image = try decode("icc-long") { $0.limits.maximumColorProfileByteCount = 70_000 }
        #expect(image.metadata.colorProfile == nil)
        try expectPixels(image, "no-conversion", maximum: 0, mean: 0)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Every orientation is decoded upright`(_ orientation: ImageOrientation) throws {
        let name = "orientation-\(orientation.rawValue)"
        for format in PixelFormat.allCases {
            let image = try decode(name) { $0.pixelFormat = format }
            try expectPixels(image, name, maximum: 0, mean: 0)
            #expect(image.orientation == .up)
            #expect(image.metadata.sourceOrientation == orientation)
            #expect(image.metadata.sourceWidth == 61 && image.metadata.sourceHeight == 45)
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Every orientation is decoded upright as a thumbnail`(_ orientation: ImageOrientation) throws {
        let swaps = orientation.swapsSides
        for format in PixelFormat.allCases {
            let image = try decode("orientation-\(orientation.rawValue)") {
                $0.pixelFormat = format
                $0.thumbnailPixelSize = swaps ? ImageSize(width: 22, height: 30) : ImageSize(width: 30, height: 22)
            }
            #expect(image.metadata.isThumbnail)
            try expectPixels(image, "orientation-\(orientation.rawValue)-thumbnail", maximum: 12, mean: 1)
        }
    }

    @Test(arguments: [(100, 75), (160, 120), (240, 180)])
    func `A thumbnail is as good as a full decode with Lanczos`(_ width: Int, _ height: Int) throws {
        let image = try decode("photo") { $0.thumbnailPixelSize = ImageSize(width: width, height: height) }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("JPEG/photo-\(width)x\(height).ppm"))
        #expect(difference.psnr >= 36, "\(difference)")
    }

    @Test func `A stretched thumbnail has exactly the requested size`() throws {
        let image = try decode("photo") {
            $0.thumbnailPixelSize = ImageSize(width: 60, height: 120)
            $0.preserveAspectRatio = false
        }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("JPEG/photo-60x120.ppm"))
        #expect(difference.psnr >= 36, "\(difference)")
    }

    @Test func `A fast thumbnail is close to the area average of the full decode`() throws {
        let image = try decode("photo") {
            $0.thumbnailPixelSize = ImageSize(width: 100, height: 75)
            $0.scalingQuality = .fast
        }
        let difference = PixelDifference(image.bitmap, try Fixtures.pixels("JPEG/photo-area-100x75.ppm"))
        #expect(difference.psnr >= 33.4, "\(difference)")
    }

    @Test(arguments: ["gray", "cmyk", "ycck", "icc-gray", "cmyk-icc", "icc-wide", "progressive", "arithmetic"])
    func `Every kind of image can be a thumbnail`(_ name: String) throws {
        let full = try decode(name)
        for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
            let image = try decode(name) {
                $0.thumbnailPixelSize = ImageSize(width: 7, height: 7)
                $0.scalingQuality = quality
            }
            let expected = try Resampler.resize(full.bitmap, width: 7, height: 5)
            #expect(image.pixelWidth == 7 && image.pixelHeight == 5)
            let samples = (0..<5).flatMap { y in (0..<7).flatMap { expected.premultipliedRGBA(x: $0, y: y).dropLast() }
            }
            let wanted = PortableAnymap(width: 7, height: 5, channels: 3, samples: samples)
            let difference = PixelDifference(image.bitmap, wanted)
            #expect(difference.mean < (quality == .high ? 8 : 18), "\(quality) \(difference)")
        }
    }

    @Test func `The byte limit scales a JPEG down without making it a thumbnail`() throws {
        let image = try decode("photo") { $0.scaleDownLimitBytes = 40_000 }
        #expect(image.pixelWidth == 115 && image.pixelHeight == 86)
        #expect(!image.metadata.isThumbnail)
    }

    @Test func `Options and scale are kept, and properties need no decode`() throws {
        let image = try decode("baseline-420") { $0.scaleFactor = 2 }
        #expect(image.scale == 2 && image.decodeOptions?.scaleFactor == 2 && image.format == .jpeg)
        let properties = try coder.properties(of: Fixtures.data("JPEG/orientation-6.jpg"), limits: .init())
        #expect(properties.width == 61 && properties.height == 45 && properties.orientation == .right)
        #expect(properties.format == .jpeg && properties.frameCount == 1 && !properties.hasAlpha)
    }

    @Test func `The shared manager decodes JPEG`() throws {
        let image = try ImageCodersManager().decode(Fixtures.data("JPEG/gray.jpg"), options: .init())
        #expect(image.format == .jpeg)
    }
}
