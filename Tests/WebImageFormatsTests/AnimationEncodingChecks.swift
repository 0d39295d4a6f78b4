import FoundationEssentials
import TestSupport
import Testing
import WebImage

extension FormatFixture {
    private func source(_ name: String) throws -> any AnimatedImageProvider {
        let parts = name.split(separator: "/")
        let data = try Fixtures.data("Animation/\(parts[1]).\(parts[0])")
        return try ImageCodersManager().animation(of: data, options: ImageDecodeOptions())
    }

    private func reopen(
        _ animation: any AnimatedImageProvider,
        _ format: ImageFormat,
        _ change: (inout ImageEncodeOptions) -> Void = { _ in }
    ) throws -> (any AnimatedImageProvider, Int) {
        var options = ImageEncodeOptions()
        options.isLossless = true
        change(&options)
        let encoder = try #require(coder as? any AnimatedImageEncoder)
        let data = try encoder.encode(animation, to: format, options: options)
        #expect(ImageFormat(detecting: data) == format)
        let decoder = try #require(coder as? any AnimatedImageCoder)
        return (try decoder.animation(of: data, options: ImageDecodeOptions()), data.count)
    }

    private var format: ImageFormat { folder == "AVIF" ? .avif : .jpegXL }

    /// Checks lossless frames, durations and loops of an animation of another format.
    func checkAnimationRoundTrip(_ name: String) throws {
        let original = try source(name)
        let (copy, _) = try reopen(original, format)
        #expect(copy.frameCount == original.frameCount && copy.loopCount == original.loopCount)
        for index in 0..<original.frameCount {
            let (found, wanted) = (try copy.frame(at: index).bitmap, try original.frame(at: index).bitmap)
            #expect((found.width, found.height) == (wanted.width, wanted.height))
            #expect(found.components == wanted.components, "frame \(index)")
            #expect(abs(copy.duration(at: index) - original.duration(at: index)) < 0.0011)
        }
    }

    /// - Parameter lossy: The maximum mean difference of a frame at the best quality.
    func checkAnimationEncoding(_ format: ImageFormat, lossy: Double) throws {
        let encoder = try #require(coder as? any AnimatedImageEncoder)
        #expect(encoder.canEncodeAnimation(to: format) && !encoder.canEncodeAnimation(to: .gif))
        let original = try source("webp/webp-0")
        #expect(throws: WebImageError(.unsupportedFormat, "")) {
            try encoder.encode(original, to: .gif, options: ImageEncodeOptions())
        }
        try checkQuality(original, format, lossy: lossy)
        for loops in [0, 1, 3] {
            #expect(try reopen(original, format) { $0.loopCount = loops }.0.loopCount == loops)
        }
        let (first, _) = try reopen(original, format) { $0.encodeFirstFrameOnly = true }
        #expect(first.frameCount == 1)
        let (small, _) = try reopen(original, format) { $0.maxPixelSize = ImageSize(width: 9, height: 9) }
        #expect(try small.frameCount == original.frameCount && small.frame(at: 1).pixelWidth <= 9)
        // Alpha needs no background.
        let (clear, _) = try reopen(original, format) { $0.backgroundColor = ImageColor(red: 1, green: 0, blue: 0) }
        #expect(try clear.frame(at: 1).bitmap.components == original.frame(at: 1).bitmap.components)
        #expect(throws: WebImageError.self) { try reopen(original, format) { $0.maxFileSize = 20 } }
        try checkTimes(format)
    }

    private func checkQuality(_ original: any AnimatedImageProvider, _ format: ImageFormat, lossy: Double) throws {
        let (best, bestCount) = try reopen(original, format) { $0.isLossless = false }
        for index in 0..<original.frameCount {
            let (found, wanted) = (try best.frame(at: index).bitmap, try original.frame(at: index).bitmap)
            let differences = zip(found.components.joined(), wanted.components.joined())
                .map { abs(Int($0) - Int($1)) }
            let mean = Double(differences.reduce(0, +)) / Double(differences.count)
            #expect(mean < lossy, "frame \(index): \(mean)")
        }
        let (_, poorCount) = try reopen(original, format) {
            $0.isLossless = false
            $0.compressionQuality = 0.1
        }
        #expect(poorCount < bestCount)
        let limit = (poorCount + bestCount) / 2
        let (_, limited) = try reopen(original, format) {
            $0.isLossless = false
            $0.maxFileSize = limit
        }
        #expect(limited <= limit && limited > poorCount)
    }

    private func checkTimes(_ format: ImageFormat) throws {
        let image = Image(bitmap: try .make(5, 3) { x, y in [UInt8(x * 20), UInt8(y * 50), 7, 255] })
        let durations = [0.1, 0.0333, 0.0333, 0.0334, 2.5, 0.005]
        let frames = durations.map { ImageFrame(image: image, duration: $0) }
        let (copy, _) = try reopen(try #require(ImageFrameSequence(frames: frames)), format)
        #expect(copy.frameCount == durations.count)
        let expected = [0.1, 0.0333, 0.0333, 0.0334, 2.5, 0.1]
        for index in durations.indices { #expect(abs(copy.duration(at: index) - expected[index]) < 0.001) }
        let other = Image(bitmap: try .make(4, 3) { _, _ in [0, 0, 0, 255] })
        let uneven = try #require(
            ImageFrameSequence(frames: [frames[0], ImageFrame(image: other, duration: 0.1)])
        )
        #expect(throws: WebImageError(.encodingFailed, "")) { try reopen(uneven, format) }
    }
}
