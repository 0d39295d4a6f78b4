import FoundationEssentials
import TestSupport
import Testing

@testable import WebImage

@Suite struct WebPDecodingTests {
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

    @Test func `All fixtures were found`() { #expect(Fixtures.names(in: "WebP", ending: "pam").count == 22) }

    @Test func `Frames, durations and loops are told`() throws {
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

    @Test func `Orientation and profile are told`() throws {
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
                // More often in the headers than a fair choice would.
                let range = Bool.random(using: &random) ? 12..<min(100, data.count) : 12..<data.count
                data[Int.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
            }
            var options = ImageDecodeOptions()
            options.limits.maximumPixelCount = 1 << 20
            _ = try? coder.decode(data, options: options)
            _ = try? coder.properties(of: data, limits: options.limits)
        }
    }

    @Test func `What a thumbnail's decoder must hold is within the limit too`() throws {
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

    @Test func `Limits name themselves`() throws {
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
        // Unless the picture is one of several that must look alike, and the others can be had.
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
