import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ProgressiveEqualityTests {
    private static func options(_ name: String) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        switch name {
        case "thumbnail": options.thumbnailPixelSize = ImageSize(width: 13, height: 9)
        case "fast":
            options.thumbnailPixelSize = ImageSize(width: 20, height: 20)
            options.scalingQuality = .fast
        case "stretch":
            options.thumbnailPixelSize = ImageSize(width: 7, height: 30)
            options.preserveAspectRatio = false
        case "byte limit": options.scaleDownLimitBytes = 3000
        case "bgra": options.pixelFormat = .bgra8Premultiplied
        case "half": options.pixelFormat = .rgbaHalfPremultiplied
        case "wide": options.decodeToHDR = true
        case "wide thumbnail":
            options.decodeToHDR = true
            options.thumbnailPixelSize = ImageSize(width: 11, height: 11)
        case "first frame":
            options.decodeFirstFrameOnly = true
            options.scaleFactor = 2
        default: break
        }
        return options
    }

    @Test(arguments: ProgressiveFixtures.allKinds)
    func `For any division of a file the final image equals that of one decode`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        #expect(expected.code == nil)
        var random = SeededGenerator(seed: UInt64(data.count))
        for round in 0..<20 {
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let looks = round % 2 == 0
            let outcome = ProgressiveOutcome(pieces: pieces, of: data, coder, .init()) {
                (decoder) throws(WebImageError) in
                if looks { _ = try decoder.image(maximumPreviewPixelCount: 1000) }
            }
            #expect(outcome.matches(expected), "\(pieces)")
        }
    }

    @Test(
        arguments: ProgressiveFixtures.allKinds,
        ["thumbnail", "fast", "stretch", "byte limit", "bgra", "half", "wide", "wide thumbnail", "first frame"]
    )
    func `Every option applies as in one decode`(name: String, kind: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        let options = Self.options(kind)
        let expected = ProgressiveOutcome(whole: data, coder, options)
        var random = SeededGenerator(seed: UInt64(data.count))
        for _ in 0..<3 {
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let outcome = ProgressiveOutcome(pieces: pieces, of: data, coder, options) {
                (decoder) throws(WebImageError) in
                _ = try decoder.image(maximumPreviewPixelCount: 300)
            }
            #expect(outcome.matches(expected), "\(pieces)")
        }
    }

    @Test(arguments: [
        "JPEG/gray.jpg", "JPEG/progressive.jpg", "JPEG/orientation-6.jpg", "PNG/type3-8bit-trns.png",
        "PNG/type6-8bit-interlaced.png",
        "PNG/type2-8bit.png", "WebP/lossy-odd.webp", "WebP/lossless-palette.webp", "WebP/one-pixel.webp",
        "GIF/interlaced-5.gif",
        "GIF/loop-netscape-forever.gif", "GIF/comment-and-text.gif",
    ])
    func `A file may arrive byte by byte`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        let first = max(data.count - 6000, 1)
        let outcome = ProgressiveOutcome(pieces: Array(first...data.count), of: data, coder, .init())
        #expect(outcome.matches(expected))
    }

    @Test func `A coder tells from the first bytes whether it decodes incrementally`() throws {
        for name in ["JPEG/gray.jpg", "PNG/tiny-1x1.png", "WebP/lossy.webp", "GIF/photo.gif"] {
            let data = try Fixtures.data(name)
            let coder = ProgressiveFixtures.coder(name)
            #expect(coder.canDecodeIncrementally(data.prefix(16)))
            #expect(!coder.canDecodeIncrementally(data.prefix(2)))
            #expect(!coder.canDecodeIncrementally(Data("<svg></svg>".utf8)))
        }
    }

    @Test func `An empty file is an error at its end and not before`() throws {
        for name in ["a.jpg", "a.png", "a.webp", "a.gif"] {
            let decoder = ProgressiveFixtures.coder(name).makeProgressiveDecoder(options: .init())
            try decoder.update(Data(), isFinished: false)
            #expect(decoder.properties == nil)
            #expect(try decoder.image(maximumPreviewPixelCount: 100) == nil)
            #expect(throws: WebImageError(.badImageData, "")) { try decoder.update(Data(), isFinished: true) }
        }
    }

    @Test func `The image is the same object at each request, and further updates change nothing`() throws {
        let data = try Fixtures.data("PNG/photo-rgb.png")
        let decoder = PNGCoder().makeProgressiveDecoder(options: .init())
        try decoder.update(data, isFinished: true)
        let image = try #require(try decoder.image(maximumPreviewPixelCount: 10))
        try decoder.update(data, isFinished: true)
        #expect(try decoder.image(maximumPreviewPixelCount: 10) === image)
        #expect(!image.metadata.isIncremental)
        #expect(decoder.properties?.width == image.pixelWidth)
    }
}
