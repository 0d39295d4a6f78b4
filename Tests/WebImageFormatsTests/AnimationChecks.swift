import FoundationEssentials
import TestSupport
import Testing
import WebImage

extension FormatFixture {
    func animation(_ name: String, _ options: ImageDecodeOptions = .init()) throws -> any AnimatedImageProvider {
        let coder = try #require(coder as? any AnimatedImageCoder)
        return try coder.animation(of: data(name), options: options)
    }

    /// Checks that every frame, in order, backwards and at random, twice, equals the reference decoder's.
    func checkFrames(_ name: String, count: Int, most: Int, mean: Double) throws {
        let animation = try animation(name)
        #expect(animation.frameCount == count)
        #expect(try animation.animatedImageData == (data(name)))
        var random = SeededGenerator(seed: 7)
        let order = Array(0..<count) + Array(0..<count) + (0..<count).reversed() + (0..<count).shuffled(using: &random)
        var seen: [Int: [[UInt8]]] = [:]
        for index in order {
            let frame = try animation.frame(at: index)
            let found = try difference(frame, "\(name).\(index)")
            #expect(found.maximum <= most && found.mean <= mean, "\(name) frame \(index): \(found)")
            #expect(
                try frame.metadata.frameCount == 1 && frame.metadata.format == ImageFormat(detecting: data(name))
            )
            // A frame is the same by any path.
            let components = frame.bitmap.components
            #expect(seen[index] == nil || seen[index] == components)
            seen[index] = components
        }
        // Released frames are decoded again.
        animation.releaseDecoder()
        #expect(try animation.frame(at: count - 1).bitmap.components == seen[count - 1])
        #expect(throws: WebImageError.self) { try animation.frame(at: count) }
        #expect(throws: WebImageError.self) { try animation.frame(at: -1) }
        #expect(animation.duration(at: -1) == 0 && animation.duration(at: count) == 0)
    }

    func checkAnimationOptions(_ name: String, count: Int) throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 12, height: 12)
        options.scaleFactor = 3
        let small = try animation(name, options)
        let full = try animation(name)
        for index in 0..<count {
            let frame = try small.frame(at: index)
            #expect(frame.pixelWidth == 12 && frame.metadata.isThumbnail && frame.scale == 3)
            let whole = try full.frame(at: index).bitmap
            let resized = try Resampler.resize(whole, width: frame.pixelWidth, height: frame.pixelHeight)
            #expect(frame.bitmap.components == resized.components)
        }
        options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        let first = try animation(name, options)
        #expect(first.frameCount == 1 && first.loopCount == 0)
        #expect(throws: WebImageError.self) { try first.frame(at: 1) }
        // The byte limit is for all frames together.
        options = ImageDecodeOptions()
        options.scaleDownLimitBytes = count * 4 * 50
        let limited = try animation(name, options).frame(at: 0)
        #expect(limited.pixelWidth * limited.pixelHeight <= 50)
        options = ImageDecodeOptions()
        options.limits.maximumFrameCount = count - 1
        #expect(throws: WebImageError.self) { try animation(name, options) }
        #expect(try error(data(name), options)?.limit?.name == "maximumFrameCount")
        options.decodeFirstFrameOnly = true
        #expect(try error(data(name), options) == nil)
        try checkFrameLayouts(name, count: count)
        try checkFrameSizes(name)
        try checkFrameLimits(name)
        try checkLoading(name, count: count)
    }

    private func checkFrameLayouts(_ name: String, count: Int) throws {
        let plain = try animation(name).frame(at: count - 1)
        var options = ImageDecodeOptions()
        options.pixelFormat = .rgbaHalfPremultiplied
        let wide = try animation(name, options).frame(at: count - 1)
        #expect(wide.bitmap.pixelFormat == .rgbaHalfPremultiplied && !wide.metadata.isHighDynamicRange)
        #expect(try wide.bitmap.converted(to: .bgra8Premultiplied).components == plain.bitmap.components)
        // Frames of 8 bits stay 8 bits.
        options.pixelFormat = nil
        options.decodeToHDR = true
        let frame = try animation(name, options).frame(at: count - 1)
        #expect(frame.bitmap.pixelFormat == plain.bitmap.pixelFormat)
        #expect(frame.bitmap.components == plain.bitmap.components)
    }

    private func checkFrameSizes(_ name: String) throws {
        let full = try animation(name).frame(at: 1).bitmap
        for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
            var options = ImageDecodeOptions()
            options.scalingQuality = quality
            options.preserveAspectRatio = false
            options.thumbnailPixelSize = ImageSize(width: 13, height: 5)
            let frame = try animation(name, options).frame(at: 1)
            let resized = try Resampler.resize(full, width: 13, height: 5, quality: quality)
            #expect(frame.bitmap.components == resized.components && frame.metadata.isThumbnail)
        }
    }

    private func checkFrameLimits(_ name: String) throws {
        let size = try properties(name)
        let changes: [(String, (inout ImageLimits) -> Void)] = [
            ("maximumPixelCount", { $0.maximumPixelCount = size.width * size.height - 1 }),
            ("maximumSideLength", { $0.maximumSideLength = max(size.width, size.height) - 1 }),
            ("maximumDecodedByteCount", { $0.maximumDecodedByteCount = size.width * size.height }),
        ]
        for (limit, change) in changes {
            var options = ImageDecodeOptions()
            change(&options.limits)
            let refused = #expect(throws: WebImageError.self) {
                _ = try animation(name, options).frame(at: 0)
            }
            #expect(refused?.code == .limitExceeded, "\(limit)")
        }
    }

    /// Checks loads of an animation: preloaded frames, and an error where frames are required and cannot be decoded.
    private func checkLoading(_ name: String, count: Int) throws {
        var options = ImageDecodeOptions()
        options.preloadsAllFrames = true
        options.requiresAnimation = true
        let manager = ImageCodersManager(coders: [coder])
        let image = try manager.completeImage(of: data(name), options: options)
        #expect(image.animation?.frameCount == count && image.animation?.isAllFramesLoaded == true)
        options.preloadsAllFrames = false
        #expect(try manager.completeImage(of: data(name), options: options).animation?.isAllFramesLoaded == false)
    }

    /// Checks that several threads can request frames at once.
    func checkConcurrency(_ name: String, count: Int) async throws {
        let animation = try animation(name)
        let expected = try (0..<count).map { try animation.frame(at: $0).bitmap.components }
        await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(seed))
                    return (0..<count).shuffled(using: &random).allSatisfy { index in
                        (try? animation.frame(at: index))?.bitmap.components == expected[index]
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
