import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// Every decode option on every format: an option that one coder forgets shows here.
@Suite(.tags(.addressSanitizer)) struct DecodeOptionsTests {
    private let manager = ImageCodersManager()

    /// Images of 120 x 90 pixels, stills and animations.
    private static let files = [
        "Options/photo.jpg", "Options/photo-progressive.jpg", "Options/photo-gray.jpg", "Options/photo-cmyk.jpg",
        "PNG/photo-rgb.png", "PNG/photo-rgba.png", "PNG/photo-interlaced.png", "PNG/photo-gray16.png",
        "GIF/photo-120.gif",
        "GIF/photo-120-interlaced.gif", "WebP/lossy.webp", "WebP/lossy-alpha.webp", "WebP/lossless.webp",
        "WebP/lossless-alpha.webp", "WebP/animated.webp", "WebP/animated-offset.webp", "PNG/animated-120.png",
        "GIF/animated-120.gif", "BMP/photo-8bit.bmp", "BMP/photo-rle8.bmp", "BMP/photo-16bit-alpha.bmp",
        "ICO/photo-120.ico", "ICO/photo-120-4bit.ico",
    ]

    private func decode(_ file: String, _ change: (inout ImageDecodeOptions) -> Void) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try manager.decode(Fixtures.data(file), options: options)
    }

    private func size(_ image: Image) -> [Int] { [image.pixelWidth, image.pixelHeight] }

    @Test(arguments: files)
    func `A thumbnail fits its box and keeps its aspect ratio`(file: String) throws {
        for (box, expected) in [
            ((40, 40), [40, 30]), ((1000, 9), [12, 9]), ((119, 90), [119, 89]), ((1, 1), [1, 1]),
        ] {
            for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
                let image = try decode(file) {
                    $0.thumbnailPixelSize = ImageSize(width: box.0, height: box.1)
                    $0.scalingQuality = quality
                }
                #expect(size(image) == expected)
                #expect(image.metadata.isThumbnail)
                #expect(image.metadata.sourceWidth == 120 && image.metadata.sourceHeight == 90)
            }
        }
    }

    @Test(arguments: files)
    func `An image is never enlarged`(file: String) throws {
        let image = try decode(file) { $0.thumbnailPixelSize = ImageSize(width: 400, height: 400) }
        #expect(size(image) == [120, 90])
        #expect(!image.metadata.isThumbnail)
    }

    @Test(arguments: files)
    func `Without its aspect ratio an image is stretched to the box`(file: String) throws {
        let image = try decode(file) {
            $0.thumbnailPixelSize = ImageSize(width: 50, height: 17)
            $0.preserveAspectRatio = false
        }
        #expect(size(image) == [50, 17])
    }

    @Test(arguments: files)
    func `A thumbnail looks like the image`(file: String) throws {
        let full = try decode(file) { _ in }
        let expected = try Resampler.resize(full.bitmap, width: 40, height: 30)
        for (quality, limit) in [(ImageDecodeOptions.ScalingQuality.high, 1.5), (.fast, 8.0)] {
            let image = try decode(file) {
                $0.thumbnailPixelSize = ImageSize(width: 40, height: 40)
                $0.scalingQuality = quality
            }
            var sum = 0
            for y in 0..<30 {
                for x in 0..<40 {
                    let found = image.bitmap.premultipliedRGBA(x: x, y: y)
                    for (a, b) in zip(found, expected.premultipliedRGBA(x: x, y: y)) { sum += abs(Int(a) - Int(b)) }
                }
            }
            #expect(Double(sum) / (40 * 30 * 4) < limit)
        }
    }

    @Test(arguments: files)
    func `The byte limit holds, counting all frames`(file: String) throws {
        let frames = try manager.properties(of: Fixtures.data(file), limits: ImageLimits()).frameCount
        let image = try decode(file) { $0.scaleDownLimitBytes = 4 * 60 * 45 * frames }
        #expect(size(image) == [60, 45])
        #expect(!image.metadata.isThumbnail)
        let first = try decode(file) {
            $0.scaleDownLimitBytes = 4 * 60 * 45
            $0.decodeFirstFrameOnly = true
        }
        #expect(size(first) == [60, 45])
        #expect(size(try decode(file) { $0.scaleDownLimitBytes = 100 << 20 }) == [120, 90])
    }

    @Test(arguments: files)
    func `The requested pixel format is used, except to drop alpha`(file: String) throws {
        let natural = try decode(file) { _ in }
        let wide = try decode(file) { $0.pixelFormat = .bgra8Premultiplied }
        #expect(wide.bitmap.pixelFormat == .bgra8Premultiplied)
        let packed = try decode(file) { $0.pixelFormat = .rgb8 }
        #expect(packed.bitmap.pixelFormat == natural.bitmap.pixelFormat)
        for (x, y) in [(0, 0), (60, 45), (119, 89), (17, 80)] {
            let expected = natural.bitmap.premultipliedRGBA(x: x, y: y)
            #expect(wide.bitmap.premultipliedRGBA(x: x, y: y) == expected)
            #expect(packed.bitmap.premultipliedRGBA(x: x, y: y) == expected)
        }
    }

    @Test(arguments: files)
    func `The scale factor sets points and keeps pixels`(file: String) throws {
        let image = try decode(file) { $0.scaleFactor = 2 }
        #expect(image.size == ImageSize(width: 60, height: 45))
        #expect(size(image) == [120, 90])
        #expect(try decode(file) { $0.scaleFactor = 0.1 }.scale == 1)
    }

    @Test(arguments: files)
    func `Limits hold and are named in errors`(file: String) throws {
        let changes: [(String, (inout ImageLimits) -> Void)] = [
            ("maximumPixelCount", { $0.maximumPixelCount = 120 * 90 - 1 }),
            ("maximumSideLength", { $0.maximumSideLength = 119 }),
            ("maximumEncodedByteCount", { $0.maximumEncodedByteCount = 100 }),
            ("maximumDecodedByteCount", { $0.maximumDecodedByteCount = 120 * 90 * 3 - 1 }),
        ]
        for (name, change) in changes {
            let error = #expect(throws: WebImageError.self) { try decode(file) { change(&$0.limits) } }
            #expect(error?.code == .limitExceeded)
            #expect(error?.limit?.name == name)
        }
    }

    @Test(arguments: files)
    func `Only the first frame is decoded either way`(file: String) throws {
        let all = try decode(file) { _ in }
        let first = try decode(file) { $0.decodeFirstFrameOnly = true }
        #expect(size(first) == size(all))
        #expect(first.bitmap.premultipliedRGBA(x: 60, y: 45) == all.bitmap.premultipliedRGBA(x: 60, y: 45))
        #expect(first.decodeOptions?.decodeFirstFrameOnly == true)
    }
}
