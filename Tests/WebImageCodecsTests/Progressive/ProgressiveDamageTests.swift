import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ProgressiveDamageTests {
    static let names = [
        "JPEG/baseline-420.jpg", "JPEG/progressive.jpg", "JPEG/restart.jpg", "PNG/photo-rgb.png",
        "PNG/photo-interlaced.png",
        "PNG/type3-8bit-trns.png", "WebP/lossy.webp", "WebP/lossless-alpha.webp", "WebP/lossy-alpha.webp",
        "WebP/animated.webp", "Animation/webp-lossy-1.webp", "Animation/webp-lossy-alpha-2.webp", "PNG/animated.png",
        "PNG/animated-default-image.png", "Animation/apng-rgba-1.png",
        "GIF/photo.gif", "GIF/photo-interlaced.gif", "GIF/animated.gif",
    ]

    @Test(arguments: names)
    func `Missing bytes are an error only at the end, the same as for one decode`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        for part in 0..<16 {
            let cut = Data(data.prefix(data.count * part / 16))
            let decoder = coder.makeProgressiveDecoder(options: .init())
            for count in [cut.count / 3, cut.count * 2 / 3, cut.count] {
                try decoder.update(Data(cut.prefix(count)), isFinished: false)
            }
            let expected = ProgressiveOutcome(whole: cut, coder, .init())
            let outcome = ProgressiveOutcome(pieces: [cut.count / 2], of: cut, coder, .init())
            #expect(outcome.matches(expected), "\(cut.count) of \(data.count)")
            #expect(outcome.code == expected.code, "\(cut.count) of \(data.count)")
        }
    }

    @Test(arguments: names)
    func `Damage ends as it does in one decode`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        var random = SeededGenerator(seed: UInt64(data.count) &+ 77)
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1_000_000
        for round in 0..<70 {
            var damaged = data
            for _ in 0...random.next() % 3 {
                let position = Int(random.next() % UInt64(round % 2 == 0 ? data.count : min(data.count, 500)))
                damaged[position] ^= UInt8(1 << (random.next() % 8))
            }
            if round % 5 == 0 { options.thumbnailPixelSize = ImageSize(width: 11, height: 11) }
            if round % 5 == 1 { options.thumbnailPixelSize = nil }
            var sizes: [(width: Int, height: Int, properties: ImageProperties?)] = []
            let expected = ProgressiveOutcome(whole: damaged, coder, options)
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let outcome = ProgressiveOutcome(pieces: pieces, of: damaged, coder, options) {
                (decoder) throws(WebImageError) in
                guard let preview = try decoder.image(maximumPreviewPixelCount: 500) else { return }
                sizes.append((preview.pixelWidth, preview.pixelHeight, decoder.properties))
            }
            #expect(outcome.matches(expected), "round \(round): \(outcome) instead of \(expected)")
            for size in sizes { #expect(Self.isPreview(size, options), "round \(round): \(size)") }
        }
    }

    /// Returns whether a preview has the size given by the header and the options, or is a whole number of times
    /// smaller, for about 500 pixels.
    private static func isPreview(
        _ size: (width: Int, height: Int, properties: ImageProperties?),
        _ options: ImageDecodeOptions
    ) -> Bool {
        guard let properties = size.properties, let plan = try? DecodePlan.make(for: properties, options: options),
            size.width * size.height <= 2 * 500
        else { return false }
        let swaps = plan.orientation.swapsSides
        let (width, height) = swaps ? (plan.height, plan.width) : (plan.width, plan.height)
        return (1...max(width, height)).contains { factor in
            (width + factor - 1) / factor == size.width && (height + factor - 1) / factor == size.height
        }
    }

    @Test(arguments: [
        "JPEG/baseline-420.jpg", "JPEG/progressive.jpg", "PNG/photo-rgb.png", "WebP/lossy.webp", "GIF/photo.gif",
    ])
    func `A limit exceeded by the header is an error before the body arrives`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        for limit in ["maximumPixelCount", "maximumSideLength", "maximumDecodedByteCount"] {
            var options = ImageDecodeOptions()
            switch limit {
            case "maximumPixelCount": options.limits.maximumPixelCount = 10
            case "maximumSideLength": options.limits.maximumSideLength = 10
            default: options.limits.maximumDecodedByteCount = 10
            }
            let decoder = coder.makeProgressiveDecoder(options: options)
            let error = #expect(throws: WebImageError.self) {
                try decoder.update(data.prefix(min(1000, data.count * 3 / 4)), isFinished: false)
            }
            #expect(error?.limit?.name == limit)
            // Not needed any more.
            #expect(throws: try #require(error)) { try decoder.update(data, isFinished: true) }
            #expect(try decoder.image(maximumPreviewPixelCount: 100) == nil)
        }
    }

    @Test func `Scans above the limit are an error as soon as they begin`() throws {
        let data = try Fixtures.data("JPEG/many-scans.jpg")
        var options = ImageDecodeOptions()
        options.limits.maximumScanCount = 3
        let decoder = JPEGCoder().makeProgressiveDecoder(options: options)
        var refusal: (count: Int, error: WebImageError)?
        for count in stride(from: 100, to: data.count, by: 100) where refusal == nil {
            do throws(WebImageError) {
                try decoder.update(data.prefix(count), isFinished: false)
            } catch { refusal = (count, error) }
        }
        let found = try #require(refusal)
        #expect(found.error.limit?.name == "maximumScanCount")
        #expect(found.count < data.count - 200)
    }

    @Test func `Too many frames of a GIF are an error as soon as they are found`() throws {
        let data = try Fixtures.data("GIF/animated.gif")
        var options = ImageDecodeOptions()
        options.limits.maximumFrameCount = 1
        let decoder = GIFCoder().makeProgressiveDecoder(options: options)
        let error = #expect(throws: WebImageError.self) {
            for count in 1..<data.count { try decoder.update(data.prefix(count), isFinished: false) }
        }
        #expect(error?.limit?.name == "maximumFrameCount")
    }

    @Test(arguments: ["PNG/photo-rgb.png", "GIF/photo.gif"])
    func `An image whose rows cannot all be kept has no previews and is decoded at the end`(name: String) throws {
        let data = try Fixtures.data(name)
        let coder = ProgressiveFixtures.coder(name)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 8, height: 8)
        options.limits.maximumDecodedByteCount = 300
        let expected = ProgressiveOutcome(whole: data, coder, options)
        let outcome = ProgressiveOutcome(pieces: [data.count / 2, data.count * 3 / 4], of: data, coder, options) {
            (decoder) throws(WebImageError) in
            #expect(try decoder.image(maximumPreviewPixelCount: 100) == nil)
        }
        #expect(outcome.matches(expected))
        #expect((outcome.code == nil) == name.hasPrefix("PNG"))
    }

    @Test func `Fewer bytes than before are an error`() throws {
        let data = try Fixtures.data("JPEG/baseline-420.jpg")
        let decoder = JPEGCoder().makeProgressiveDecoder(options: .init())
        try decoder.update(data.prefix(900), isFinished: false)
        #expect(throws: WebImageError(.badImageData, "")) { try decoder.update(data.prefix(800), isFinished: false) }
    }
}
