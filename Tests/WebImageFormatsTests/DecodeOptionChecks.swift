import FoundationEssentials
import TestSupport
import Testing
import WebImage

/// Checks each decode option, on any still image that is wider than high and opaque, or has alpha.
extension FormatFixture {
    func checkOptions(opaque: String, alpha: String) throws {
        for name in [opaque, alpha] {
            try checkSizes(name)
            try checkLimits(name)
        }
        try checkLayouts(opaque: opaque, alpha: alpha)
    }

    private func checkSizes(_ name: String) throws {
        let full = try decode(name)
        #expect(!full.metadata.isThumbnail && full.scale == 1 && full.metadata.scaleDownLimitBytes == 0)
        #expect(try full.format == ImageFormat(detecting: data(name)))
        for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
            var options = ImageDecodeOptions()
            options.scalingQuality = quality
            options.thumbnailPixelSize = ImageSize(width: 17, height: 17)
            let fit = try decode(name, options)
            let size = DecodePlan.fit(
                width: full.pixelWidth,
                height: full.pixelHeight,
                box: ImageSize(width: 17, height: 17)
            )
            #expect([fit.pixelWidth, fit.pixelHeight] == [size.width, size.height])
            #expect(fit.metadata.isThumbnail && fit.metadata.sourceWidth == full.metadata.sourceWidth)
            // Made from the same rows as the whole image.
            let resized = try Resampler.resize(full.bitmap, width: size.width, height: size.height, quality: quality)
            #expect(fit.bitmap.components == resized.components, "\(name) \(quality)")
            options.preserveAspectRatio = false
            options.scaleFactor = 2
            let stretched = try decode(name, options)
            #expect([stretched.pixelWidth, stretched.pixelHeight] == [17, 17] && stretched.scale == 2)
        }
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 1000, height: 1000)
        #expect(try decode(name, options).bitmap.components == full.bitmap.components)
        options.thumbnailPixelSize = nil
        options.scaleDownLimitBytes = 4 * 100
        let limited = try decode(name, options)
        #expect(limited.pixelWidth * limited.pixelHeight <= 100 && limited.metadata.scaleDownLimitBytes == 400)
        options.scaleDownLimitBytes = 0
        options.decodeFirstFrameOnly = true
        #expect(try decode(name, options).bitmap.components == full.bitmap.components)
    }

    private func checkLayouts(opaque: String, alpha: String) throws {
        var options = ImageDecodeOptions()
        #expect(try decode(opaque).bitmap.pixelFormat == .rgb8)
        #expect(try decode(alpha).bitmap.pixelFormat == .bgra8Premultiplied)
        options.pixelFormat = .bgra8Premultiplied
        let wide = try decode(opaque, options)
        #expect(wide.bitmap.pixelFormat == .bgra8Premultiplied)
        #expect(try wide.bitmap.components == (decode(opaque)).bitmap.components)
        options.pixelFormat = .rgb8
        #expect(try decode(alpha, options).bitmap.pixelFormat == .bgra8Premultiplied)
        options.pixelFormat = .rgbaHalfPremultiplied
        #expect(try decode(alpha, options).bitmap.pixelFormat == .rgbaHalfPremultiplied)
        // Images of 8 bits stay 8 bits.
        options.pixelFormat = nil
        options.decodeToHDR = true
        #expect(try decode(opaque, options).bitmap.pixelFormat == .rgb8)
        #expect(try decode(alpha, options).bitmap.components == (decode(alpha)).bitmap.components)
    }

    private func checkLimits(_ name: String) throws {
        let data = try data(name)
        let size = try properties(name)
        let bytes = size.width * size.height * (size.hasAlpha ? 4 : 3)
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = size.width * size.height - 1
        #expect(error(data, options)?.limit?.name == "maximumPixelCount")
        #expect(throws: WebImageError.self) { try coder.properties(of: data, limits: options.limits) }
        options.limits = ImageLimits()
        options.limits.maximumSideLength = max(size.width, size.height) - 1
        #expect(error(data, options)?.code == .limitExceeded)
        options.limits = ImageLimits()
        options.limits.maximumDecodedByteCount = bytes - 1
        #expect(error(data, options)?.limit?.name == "maximumDecodedByteCount")
    }

    /// The limits on bytes of the encoded data, which the manager checks for all coders.
    func checkEncodedLimit(_ name: String) throws {
        let data = try data(name)
        let manager = ImageCodersManager(coders: [coder])
        var options = ImageDecodeOptions()
        for isAllowed in [true, false] {
            options.limits.maximumEncodedByteCount = data.count - (isAllowed ? 0 : 1)
            for attempt in [
                { _ = try manager.decode(data, options: options) },
                { _ = try manager.properties(of: data, limits: options.limits) },
            ] {
                do {
                    try attempt()
                    #expect(isAllowed)
                } catch let error as WebImageError {
                    #expect(!isAllowed && error.limit?.name == "maximumEncodedByteCount")
                }
            }
        }
    }
}
