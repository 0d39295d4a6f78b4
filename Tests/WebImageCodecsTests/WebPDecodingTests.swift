import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct WebPDecodingTests {
    private let coder = WebPCoder()

    private func properties(_ name: String) throws -> ImageProperties {
        try coder.properties(of: Fixtures.data("WebP/\(name).webp"), limits: ImageLimits())
    }

    private func error(_ data: Data, _ options: ImageDecodeOptions = .init()) -> WebImageError? {
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    @Test(arguments: Fixtures.names(in: "WebP", ending: "pam"))
    func `Pixels are those of the file`(name: String) throws {
        let image = try coder.decode(Fixtures.data("WebP/\(name).webp"), options: ImageDecodeOptions())
        let found = try PixelDifference(image.bitmap, Fixtures.pixels("WebP/\(name).pam"))
        if name.hasPrefix("icc") {
            #expect(found.maximum <= 1, "\(found)")
        } else {
            #expect(found.maximum == 0, "\(found)")
        }
        let properties = try properties(name)
        #expect(properties.hasAlpha == image.hasAlpha)
    }

    /// An animation of two equal frames, somewhere on a big canvas.
    private func animation(of name: String, canvas: Int, x: Int, y: Int) throws -> Data {
        let file = try Fixtures.data("WebP/\(name).webp")
        let properties = try coder.properties(of: file, limits: ImageLimits())
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        func chunk(_ kind: String, _ body: [UInt8]) -> [UInt8] {
            Array(kind.utf8) + little(body.count, 4) + body + (body.count % 2 == 0 ? [] : [0])
        }
        let place = little(x / 2, 3) + little(y / 2, 3)
        let size = little(properties.width - 1, 3) + little(properties.height - 1, 3)
        let frame = chunk("ANMF", place + size + little(100, 3) + [0] + file.dropFirst(12))
        let head = chunk("VP8X", [0x12, 0, 0, 0] + little(canvas - 1, 3) + little(canvas - 1, 3))
        let body = Array("WEBP".utf8) + head + chunk("ANIM", [0, 0, 0, 0, 0, 0]) + frame + frame
        return Data(Array("RIFF".utf8) + little(body.count, 4) + body)
    }

    @Test func `A thumbnail of a small frame on a huge canvas allocates no canvas`() throws {
        let data = try animation(of: "lossless", canvas: 3000, x: 1400, y: 1600)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 300, height: 300)
        // The canvas would have 36 MB.
        options.limits.maximumDecodedByteCount = 1 << 20
        #expect(try coder.memoryNeed(of: data, options: options).totalByteCount < 3 << 20)
        let file = try coder.properties(of: Fixtures.data("WebP/lossless.webp"), limits: ImageLimits())
        for isStill in [true, false] {
            options.decodeFirstFrameOnly = isStill
            let image = try coder.decode(data, options: options)
            #expect(image.pixelWidth == 300 && image.hasAlpha)
            func alpha(_ x: Int, _ y: Int) -> UInt8 {
                image.bitmap.mutableRow(y).load(fromByteOffset: 4 * x + 3, as: UInt8.self)
            }
            #expect(alpha(140 + file.width / 20, 160 + file.height / 20) == 255)
            for (x, y) in [(0, 0), (299, 299), (130, 161), (141, 150), (160, 170)] { #expect(alpha(x, y) == 0) }
        }
    }

    @Test func `The rows of a frame beside its canvas are those of the whole canvas`() throws {
        let data = try Fixtures.data("WebP/animated-offset.webp")
        let container = try data.withBytes { (bytes) throws(WebImageError) in
            try WebPContainer(bytes, limits: ImageLimits())
        }
        #expect(!container.firstCoversCanvas)
        func reader() -> WebPRowReader {
            WebPRowReader(
                data,
                container: container,
                width: container.width,
                height: container.height,
                limits: ImageLimits()
            )
        }
        let stride = container.width * 4
        var (whole, rows) = ([UInt8](), [UInt8]())
        let buffer = try ScratchBuffer(byteCount: stride * container.height)
        func bytes(_ count: Int) -> [UInt8] { Array(UnsafeBufferPointer(start: buffer.bytes, count: count)) }
        try reader().readRows(container.height, into: buffer.base, bytesPerRow: stride)
        whole = bytes(stride * container.height)
        let other = reader()
        for _ in 0..<container.height {
            try other.readRows(1, into: buffer.base, bytesPerRow: stride)
            rows += bytes(stride)
        }
        #expect(rows == whole)
    }

    @Test func `All fixtures were found`() { #expect(Fixtures.names(in: "WebP", ending: "pam").count == 22) }

    @Test func `Frames, durations and loops are reported`() throws {
        let animated = try properties("animated")
        #expect(animated.frameCount == 3)
        #expect(animated.frameDurations == [0.07, 0.1, 0.9])
        #expect(animated.loopCount == 4)
        let offset = try properties("animated-offset")
        #expect(offset.frameCount == 2 && offset.frameDurations == [0.08, 0.08] && offset.loopCount == 0)
        #expect(offset.hasAlpha)
        let still = try properties("lossy")
        #expect(still.frameCount == 1 && still.frameDurations.isEmpty && still.loopCount == 0 && !still.hasAlpha)
        #expect(try properties("lossless-alpha").hasAlpha)
    }

    @Test func `Orientation and profile are reported`() throws {
        for number in 1...8 { #expect(try properties("orientation-\(number)").orientation.rawValue == number) }
        #expect(try properties("icc-wide").colorProfile == "Test wide RGB")
    }

    @Test(arguments: ["lossy", "lossy-alpha", "lossless-palette", "animated", "orientation-6"])
    func `Every truncation is an error`(name: String) throws {
        let data = try Fixtures.data("WebP/\(name).webp")
        for length in stride(from: 0, to: data.count, by: name == "orientation-6" ? 1 : 3) {
            #expect(error(data.prefix(length))?.code == .badImageData, "\(length) of \(data.count)")
        }
    }

    @Test(arguments: ["lossy", "lossy-alpha", "lossless-alpha", "animated-offset", "icc-wide"])
    func `Random damage never traps`(name: String) throws {
        let original = try Fixtures.data("WebP/\(name).webp")
        var random = SeededGenerator(seed: 44)
        for _ in 0..<300 {
            var data = original
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                // More often in the headers than a uniform choice would.
                let range = Bool.random(using: &random) ? 12..<min(100, data.count) : 12..<data.count
                data[Int.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
            }
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1 << 20
            _ = try? coder.decode(data, options: options)
            _ = try? coder.properties(of: data, limits: options.limits)
        }
    }

    @Test func `The memory of a thumbnail's decoder is within the limit too`() throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        for (name, bytesPerPixel) in [("lossless", 4), ("lossless-alpha", 4), ("lossy-alpha", 1)] {
            let data = try Fixtures.data("WebP/\(name).webp")
            let size = try coder.properties(of: data, limits: ImageLimits())
            options.limits.maximumDecodedByteCount = size.width * size.height * bytesPerPixel
            #expect(error(data, options) == nil)
            options.limits.maximumDecodedByteCount -= 1
            #expect(error(data, options)?.limit?.name == "maximumDecodedByteCount")
        }
        // Lossy colours are decoded some rows at a time.
        options.limits.maximumDecodedByteCount = 20 * 20 * 3
        #expect(error(try Fixtures.data("WebP/lossy.webp"), options) == nil)
    }

    @Test func `Errors name the exceeded limit`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 120 * 90 - 1
        #expect(error(try Fixtures.data("WebP/lossy.webp"), options)?.limit?.name == "maximumPixelCount")
        options.limits = ImageLimits()
        options.limits.maximumFrameCount = 2
        let animated = try Fixtures.data("WebP/animated.webp")
        #expect(error(animated, options)?.limit?.name == "maximumFrameCount")
        options.decodeFirstFrameOnly = true
        #expect(error(animated, options) == nil)
    }

    @Test(arguments: [ImageDecodeOptions.ScalingQuality.high, .fast])
    func `The decoder scales down by itself as far as the quality allows`(quality: ImageDecodeOptions.ScalingQuality) {
        var properties = ImageProperties(format: .webp, width: 1000, height: 600)
        properties.hasAlpha = false
        var options = ImageDecodeOptions()
        options.scalingQuality = quality
        func size(_ width: Int, _ height: Int, isAnimated: Bool = false) -> [Int] {
            let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: true)
            let size = WebPCoder.decoderSize(for: plan, of: properties, isAnimated: isAnimated, options: options)
            return [size.width, size.height]
        }
        // Unless the image is one of several that must look alike, and the others are available.
        #expect(size(100, 60, isAnimated: true) == [1000, 600])
        options.decodeFirstFrameOnly = true
        #expect(size(100, 60, isAnimated: true) != [1000, 600])
        options.decodeFirstFrameOnly = false
        options.limits.maximumDecodedByteCount = 1000 * 600 * 4 - 1
        #expect(size(100, 60, isAnimated: true) != [1000, 600])
        #expect(size(100, 60) == (quality == .high ? [200, 120] : [100, 60]))
        #expect(size(600, 360) == (quality == .high ? [1000, 600] : [600, 360]))
        #expect(size(1000, 600) == [1000, 600])
    }
}
