import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// Output of coders is read back by our decoders, which are tested against other programs.
extension FormatFixture {
    private func picture(_ name: String) throws -> Image {
        try PNGCoder().decode(Fixtures.data("PNG/\(name).png"), options: ImageDecodeOptions())
    }

    private func roundTrip(_ image: Image, _ options: ImageEncodeOptions, _ format: ImageFormat) throws -> (Image, Int)
    {
        let data = try coder.encode(image, to: format, options: options)
        #expect(ImageFormat(detecting: data) == format)
        return (try coder.decode(data, options: ImageDecodeOptions()), data.count)
    }

    private func mean(_ left: Bitmap, _ right: Bitmap) -> Double {
        let differences = zip(left.components.joined(), right.components.joined()).map { abs(Double($0) - Double($1)) }
        return differences.reduce(0, +) / Double(differences.count)
    }

    /// - Parameter lossy: The maximum mean difference at the best quality.
    func checkEncoding(_ format: ImageFormat, lossy: Double) throws {
        #expect(coder.canEncode(to: format))
        #expect(!coder.canEncode(to: .png) && !coder.canEncode(to: .undefined))
        for name in ["photo-rgb", "photo-rgba", "tiny-5x1", "tiny-1x9"] {
            let image = try picture(name)
            var options = ImageEncodeOptions()
            options.isLossless = true
            let (exact, _) = try roundTrip(image, options, format)
            #expect(exact.bitmap.components == image.bitmap.components, "\(name)")
            #expect(exact.hasAlpha == image.hasAlpha)
            options.isLossless = false
            let (best, bestCount) = try roundTrip(image, options, format)
            #expect(mean(best.bitmap, image.bitmap) <= lossy, "\(name) \(mean(best.bitmap, image.bitmap))")
            options.compressionQuality = 0.3
            let (poor, poorCount) = try roundTrip(image, options, format)
            #expect([poor.pixelWidth, poor.pixelHeight] == [image.pixelWidth, image.pixelHeight])
            if image.pixelWidth > 20 { #expect(poorCount < bestCount) }
            for quality in [Double.nan, -1, 0, 7] {
                options.compressionQuality = quality
                _ = try roundTrip(image, options, format)
            }
        }
        try checkEncodeOptions(format)
        try checkFileSize(format)
    }

    private func checkFileSize(_ format: ImageFormat) throws {
        let image = try picture("photo-rgb")
        var options = ImageEncodeOptions()
        let best = try coder.encode(image, to: format, options: options).count
        options.compressionQuality = 0.1
        let poor = try coder.encode(image, to: format, options: options).count
        options.maxFileSize = (best + poor) / 2
        let limited = try coder.encode(image, to: format, options: options).count
        #expect(limited <= options.maxFileSize && limited > poor, "\(poor) < \(limited) <= \(options.maxFileSize)")
        options.maxFileSize = 10
        for isLossless in [false, true] {
            options.isLossless = isLossless
            do throws(WebImageError) {
                _ = try coder.encode(image, to: format, options: options)
                Issue.record("ten bytes cannot hold the image")
            } catch { #expect(error.limit?.name == "maxFileSize" && error.limit?.allowed == 10) }
        }
    }

    private func checkEncodeOptions(_ format: ImageFormat) throws {
        let image = try picture("photo-rgb")
        var options = ImageEncodeOptions()
        options.isLossless = true
        options.maxPixelSize = ImageSize(width: 20, height: 20)
        let (small, _) = try roundTrip(image, options, format)
        #expect(max(small.pixelWidth, small.pixelHeight) == 20)
        options.maxPixelSize = nil
        let turned = Image(bitmap: image.bitmap, orientation: .right)
        let (upright, _) = try roundTrip(turned, options, format)
        #expect(try upright.bitmap.components == (image.bitmap.upright(from: .right)).components)
        // Half floats are converted to 8 bits first.
        let wide = Image(bitmap: try image.bitmap.converted(to: .rgbaHalfPremultiplied))
        let (narrow, _) = try roundTrip(wide, options, format)
        #expect(narrow.bitmap.components == image.bitmap.components && !narrow.hasAlpha)
        // Alpha is kept for any background, and a still image has one frame and no loops.
        let clear = try picture("photo-rgba")
        options.backgroundColor = ImageColor(red: 1, green: 0, blue: 0)
        options.encodeFirstFrameOnly = true
        options.loopCount = 3
        let (kept, _) = try roundTrip(clear, options, format)
        #expect(kept.bitmap.components == clear.bitmap.components && kept.hasAlpha)
        #expect(kept.metadata.frameCount == 1 && kept.metadata.loopCount == 0)
        #expect(throws: WebImageError.self) { try coder.encode(image, to: .png, options: options) }
    }
}
