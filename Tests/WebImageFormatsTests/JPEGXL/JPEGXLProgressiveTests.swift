import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageJPEGXL

@Suite(.tags(.addressSanitizer)) struct JPEGXLProgressiveTests {
    private let coder = JPEGXLCoder()
    private static let names = Fixtures.names(in: "JPEGXL", ending: "jxl")

    private func data(_ name: String) throws -> Data { try Fixtures.data("JPEGXL/\(name).jxl") }

    private static func options(_ name: String) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        switch name {
        case "thumbnail": options.thumbnailPixelSize = ImageSize(width: 13, height: 9)
        case "stretch":
            options.thumbnailPixelSize = ImageSize(width: 7, height: 30)
            options.preserveAspectRatio = false
            options.scalingQuality = .fast
        case "byte limit": options.scaleDownLimitBytes = 1500
        case "bgra": options.pixelFormat = .bgra8Premultiplied
        case "half": options.pixelFormat = .rgbaHalfPremultiplied
        case "first frame":
            options.decodeFirstFrameOnly = true
            options.scaleFactor = 2
        default: break
        }
        return options
    }

    @Test(arguments: names)
    func `For any division of JPEG XL the final image equals that of one decode`(name: String) throws {
        let data = try data(name)
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        #expect(expected.code == nil)
        var random = SeededGenerator(seed: UInt64(data.count))
        for round in 0..<TestEffort.rounds(data.count > 10_000 ? 3 : 10) {
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let outcome = ProgressiveOutcome(pieces: pieces, of: data, coder, .init()) {
                (decoder) throws(WebImageError) in
                if round % 2 == 0 { _ = try decoder.image(maximumPreviewPixelCount: 1000) }
            }
            #expect(outcome.matches(expected), "\(pieces)")
        }
    }

    @Test(arguments: TestEffort.some(of: names), ["thumbnail", "stretch", "byte limit", "bgra", "half", "first frame"])
    func `Every option applies to arriving JPEG XL as in one decode`(name: String, kind: String) throws {
        let data = try data(name)
        let options = Self.options(kind)
        let expected = ProgressiveOutcome(whole: data, coder, options)
        var random = SeededGenerator(seed: UInt64(data.count))
        let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
        let outcome = ProgressiveOutcome(pieces: pieces, of: data, coder, options) { (decoder) throws(WebImageError) in
            _ = try decoder.image(maximumPreviewPixelCount: 300)
        }
        #expect(outcome.matches(expected), "\(pieces)")
    }

    @Test(arguments: ["lossy", "container", "icc-lossy", "lossless-premultiplied"])
    func `JPEG XL may arrive byte by byte`(name: String) throws {
        let data = try data(name)
        let expected = ProgressiveOutcome(whole: data, coder, .init())
        let outcome = ProgressiveOutcome(pieces: Array(1...data.count), of: data, coder, .init())
        #expect(outcome.matches(expected))
    }

    /// The previews after each hundredth of a file.
    private func previews(_ data: Data, _ options: ImageDecodeOptions = .init()) throws -> [Image] {
        let decoder = coder.makeProgressiveDecoder(options: options)
        return try (1..<100).compactMap { part in
            try decoder.update(data.prefix(data.count * part / 100), isFinished: false)
            return try decoder.image(maximumPreviewPixelCount: 1 << 20)
        }
    }

    private func mean(_ left: Bitmap, _ right: Bitmap) -> Double {
        let differences = zip(left.components.joined(), right.components.joined()).map { abs(Double($0) - Double($1)) }
        return differences.reduce(0, +) / Double(differences.count)
    }

    @Test func `A lossy image has a preview of the whole long before its end`() throws {
        let data = try data("arriving-lossy")
        let whole = try coder.decode(data, options: ImageDecodeOptions())
        let previews = try previews(data)
        #expect(previews.count > 40)
        let first = try #require(previews.first)
        #expect(first.metadata.isIncremental && first.opaqueRowCount == 200)
        #expect([first.pixelWidth, first.pixelHeight] == [300, 200])
        let wide = try whole.bitmap.converted(to: .bgra8Premultiplied)
        #expect(mean(first.bitmap, wide) < 12, "\(mean(first.bitmap, wide))")
        let last = try #require(previews.last)
        #expect(mean(last.bitmap, wide) <= mean(first.bitmap, wide))
    }

    @Test func `Only previews of lossy images fill in missing parts, until nothing is missing`() throws {
        for (name, isLossy) in [("arriving-lossy", true), ("arriving-squares", false)] {
            let data = try data(name)
            let manager = ImageCodersManager(coders: [coder])
            for decoder in [
                coder.makeProgressiveDecoder(options: .init()), manager.makeProgressiveDecoder(options: .init()),
            ] {
                try decoder.update(data.prefix(data.count / 2), isFinished: false)
                #expect((decoder.missingPartPreviewCost > 1) == isLossy)
                try decoder.update(data, isFinished: true)
                #expect(decoder.missingPartPreviewCost == 0)
            }
        }
    }

    @Test(arguments: ["arriving-squares", "arriving-squares-premultiplied"])
    func `Previews of a lossless image show its final rows from the top`(name: String) throws {
        let data = try data(name)
        var options = ImageDecodeOptions()
        options.pixelFormat = .bgra8Premultiplied
        let whole = try coder.decode(data, options: options)
        var counts: [Int] = []
        for preview in try previews(data, options) {
            let rows = (0..<200).prefix { !preview.hasRow($0, ofAlpha: 0) }.count
            #expect((0..<rows).allSatisfy { preview.hasSameRow($0, as: whole) })
            #expect((rows..<200).allSatisfy { preview.hasRow($0, ofAlpha: 0) })
            counts.append(rows)
        }
        #expect(counts == counts.sorted())
        #expect(counts.contains(128) && !counts.contains(0))
    }

    @Test func `A preview is at most the requested size, and is rotated like the image`() throws {
        let decoder = coder.makeProgressiveDecoder(options: .init())
        let data = try data("arriving-lossy")
        try decoder.update(data.prefix(data.count * 3 / 4), isFinished: false)
        let preview = try #require(try decoder.image(maximumPreviewPixelCount: 1000))
        #expect(preview.pixelWidth * preview.pixelHeight <= 1000)
        let turned = try self.data("orientation-6")
        let other = coder.makeProgressiveDecoder(options: .init())
        try other.update(turned.dropLast(1), isFinished: false)
        #expect(other.properties?.orientation == .right)
        if let seen = try other.image(maximumPreviewPixelCount: 1000) {
            #expect([seen.pixelWidth, seen.pixelHeight] == [9, 13])
        }
    }

    @Test func `Previews of an animation show its first frame, and the end has all`() throws {
        let data = try data("animated")
        let decoder = coder.makeProgressiveDecoder(options: .init())
        try decoder.update(data.prefix(data.count / 2), isFinished: false)
        let preview = try #require(try decoder.image(maximumPreviewPixelCount: 1000))
        let first = try coder.decode(data, options: ImageDecodeOptions())
        #expect(mean(preview.bitmap, try first.bitmap.converted(to: .bgra8Premultiplied)) == 0)
        #expect(decoder.properties?.frameCount == 1)
        try decoder.update(data, isFinished: true)
        #expect(decoder.properties?.frameCount == 5)
        #expect(try decoder.image(maximumPreviewPixelCount: 1)?.metadata.frameCount == 5)
    }

    @Test func `The size is known from the first bytes of JPEG XL`() throws {
        for (name, count) in [("arriving-lossy", 64), ("container", 100), ("lossless", 64)] {
            let decoder = coder.makeProgressiveDecoder(options: .init())
            try decoder.update(data(name).prefix(count), isFinished: false)
            let stated = try coder.properties(of: data(name), limits: .init())
            #expect(decoder.properties?.width == stated.width && decoder.properties?.height == stated.height)
            #expect(decoder.properties?.format == .jpegXL)
        }
    }

    @Test(arguments: ["arriving-lossy", "lossless-alpha", "animated-blended", "icc-lossless"])
    func `Missing bytes of JPEG XL are an error only at the end`(name: String) throws {
        let data = try data(name)
        for part in 0..<16 {
            let cut = Data(data.prefix(data.count * part / 16))
            let expected = ProgressiveOutcome(whole: cut, coder, .init())
            let outcome = ProgressiveOutcome(pieces: [cut.count / 3, cut.count / 2], of: cut, coder, .init())
            #expect(outcome.matches(expected) && outcome.code == expected.code, "\(part)/16")
        }
    }

    @Test(arguments: ["lossy-alpha", "lossless-alpha", "animated-blended", "icc-lossless", "arriving-lossy"])
    func `Damage of arriving JPEG XL ends as it does in one decode`(name: String) throws {
        let data = try data(name)
        var random = SeededGenerator(seed: UInt64(data.count) &+ 77)
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1_000_000
        for (round, damaged) in DamagedFiles.corruptions(of: data, count: 40).enumerated() {
            let expected = ProgressiveOutcome(whole: damaged, coder, options)
            let pieces = ProgressiveOutcome.pieces(of: data.count, &random)
            let outcome = ProgressiveOutcome(pieces: pieces, of: damaged, coder, options) {
                (decoder) throws(WebImageError) in
                _ = try decoder.image(maximumPreviewPixelCount: 500)
            }
            #expect(outcome.matches(expected), "round \(round): \(outcome) instead of \(expected)")
        }
    }

    @Test func `A limit exceeded by the header of JPEG XL is an error before the body arrives`() throws {
        for limit in ["maximumPixelCount", "maximumSideLength", "maximumDecodedByteCount"] {
            var options = ImageDecodeOptions()
            switch limit {
            case "maximumPixelCount": options.limits.maximumPixelCount = 10
            case "maximumSideLength": options.limits.maximumSideLength = 10
            default: options.limits.maximumDecodedByteCount = 10
            }
            let decoder = coder.makeProgressiveDecoder(options: options)
            let error = #expect(throws: WebImageError.self) {
                try decoder.update(data("arriving-lossy").prefix(200), isFinished: false)
            }
            #expect(error?.limit?.name == limit)
        }
    }

    @Test func `The coder of JPEG XL tells from the first bytes whether it decodes incrementally`() throws {
        #expect(try coder.canDecodeIncrementally(data("lossy").prefix(16)))
        #expect(try coder.canDecodeIncrementally(data("container").prefix(16)))
        #expect(!coder.canDecodeIncrementally(Data("<svg></svg>".utf8)) && !coder.canDecodeIncrementally(Data([0xFF])))
    }
}
