import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Every decode option on formats in separate targets, as `DecodeOptionsTests` has it for those of the core.
@Suite(.tags(.addressSanitizer)) struct FormatCoderTests {
    /// Images of 120 x 90 pixels.
    private static let files = [
        "TIFF/photo-lzw.tiff", "TIFF/photo-tiles.tiff", "TIFF/photo-alpha-planes.tiff", "TIFF/photo-jpeg.tiff",
    ]

    private let manager = ImageCodersManager.allInProcess()

    private func decode(_ file: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        change(&options)
        return try manager.decode(Fixtures.data(file), options: options)
    }

    private func size(_ image: Image) -> [Int] { [image.pixelWidth, image.pixelHeight] }

    @Test(arguments: files)
    func `A thumbnail fits its box, keeps its aspect ratio and is never enlarged`(file: String) throws {
        for (box, expected) in [
            ((40, 40), [40, 30]), ((1000, 9), [12, 9]), ((119, 90), [119, 89]), ((1, 1), [1, 1]),
            ((400, 400), [120, 90]),
        ] {
            for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
                let image = try decode(file) {
                    $0.thumbnailPixelSize = ImageSize(width: box.0, height: box.1)
                    $0.scalingQuality = quality
                }
                #expect(size(image) == expected)
                #expect(image.metadata.isThumbnail == (expected != [120, 90]))
                #expect(image.metadata.sourceWidth == 120 && image.metadata.sourceHeight == 90)
            }
        }
        let stretched = try decode(file) {
            $0.thumbnailPixelSize = ImageSize(width: 50, height: 17)
            $0.preserveAspectRatio = false
        }
        #expect(size(stretched) == [50, 17])
    }

    @Test(arguments: files)
    func `A thumbnail looks like the image`(file: String) throws {
        let full = try decode(file)
        let image = try decode(file) { $0.thumbnailPixelSize = ImageSize(width: 40, height: 40) }
        var sum = 0
        for y in 0..<30 {
            for x in 0..<40 {
                // The mean of the nine pixels that became one.
                var wanted = [0, 0, 0, 0]
                for place in 0..<9 {
                    let pixel = full.bitmap.premultipliedRGBA(x: 3 * x + place % 3, y: 3 * y + place / 3)
                    for channel in 0..<4 { wanted[channel] += Int(pixel[channel]) }
                }
                let found = image.bitmap.premultipliedRGBA(x: x, y: y)
                for channel in 0..<4 { sum += abs(wanted[channel] / 9 - Int(found[channel])) }
            }
        }
        #expect(Double(sum) / (40 * 30 * 4) < 6)
    }

    @Test(arguments: files)
    func `The byte limit holds`(file: String) throws {
        let image = try decode(file) { $0.scaleDownLimitBytes = 4 * 60 * 45 }
        #expect(size(image) == [60, 45] && !image.metadata.isThumbnail)
        #expect(image.metadata.scaleDownLimitBytes == 4 * 60 * 45)
        #expect(size(try decode(file) { $0.scaleDownLimitBytes = 100 << 20 }) == [120, 90])
    }

    @Test(arguments: files)
    func `The requested pixel format is used, except to drop alpha`(file: String) throws {
        let natural = try decode(file)
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
    func `The scale factor sets points, and only the first frame exists`(file: String) throws {
        let image = try decode(file) {
            $0.scaleFactor = 2
            $0.decodeFirstFrameOnly = true
        }
        #expect(image.size == ImageSize(width: 60, height: 45) && size(image) == [120, 90])
        #expect(!image.metadata.isFirstFrame && image.metadata.frameCount == 1)
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
}
