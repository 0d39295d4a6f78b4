import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// Each decode option on the frames of GIF, PNG and WebP animations. Frames of full size are compared with other
/// programs in
/// `AnimationDecodingTests`, so here they serve as the expected pixels.
@Suite(.tags(.addressSanitizer)) struct AnimationOptionTests {
    private static let opaque = ["Animation/pillow.gif", "Animation/apng-rgb.png", "WebP/animated.webp"]
    private static let clear = [
        "Animation/erased.gif", "Animation/apng-rgba-1.png", "Animation/webp-lossy-alpha-2.webp",
    ]
    private static let all = opaque + clear
    private let coder = ImageCodersManager()

    /// The frames of an animation, requested in an arbitrary order.
    private func frames(
        _ name: String,
        _ options: ImageDecodeOptions = .init(),
        seed: UInt64 = 1
    ) throws -> [Image] {
        let animation = try coder.animation(of: try Fixtures.data(name), options: options)
        var generator = SeededGenerator(seed: seed)
        let order = (0..<animation.frameCount).shuffled(using: &generator)
        let made = try order.map { (index: $0, image: try animation.frame(at: $0)) }
        return made.sorted { $0.index < $1.index }.map(\.image)
    }

    /// The pixels as 8 bits.
    private func pixels(_ image: Image) -> [UInt8] {
        let bitmap = image.bitmap
        guard bitmap.pixelFormat == .rgbaHalfPremultiplied else { return bitmap.pixels }
        return (0..<bitmap.height).flatMap { y in
            (0..<bitmap.width).flatMap { x in
                let components = bitmap.premultipliedRGBA(x: x, y: y)
                return [components[2], components[1], components[0], components[3]]
            }
        }
    }

    /// Checks that every frame is the one of full size made smaller.
    private func expect(
        _ frames: [Image],
        of name: String,
        width: Int,
        height: Int,
        quality: ImageDecodeOptions.ScalingQuality = .high
    ) throws {
        let whole = try self.frames(name)
        try #require(frames.count == whole.count && frames.count > 1)
        for (index, frame) in frames.enumerated() {
            #expect((frame.pixelWidth, frame.pixelHeight) == (width, height))
            let resized = try Resampler.resize(whole[index].bitmap, width: width, height: height, quality: quality)
            #expect(pixels(frame) == resized.pixels, "\(name) frame \(index)")
        }
    }

    @Test(arguments: all, [ImageDecodeOptions.ScalingQuality.high, .fast])
    func `Thumbnails of frames are the frames made smaller`(
        name: String,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws {
        let whole = try frames(name)[0]
        let box = ImageSize(width: 13, height: 11)
        let size = DecodePlan.fit(width: whole.pixelWidth, height: whole.pixelHeight, box: box)
        var options = ImageDecodeOptions()
        options.scalingQuality = quality
        options.thumbnailPixelSize = box
        let small = try frames(name, options)
        try expect(small, of: name, width: size.width, height: size.height, quality: quality)
        for frame in small {
            #expect(frame.metadata.isThumbnail && frame.metadata.frameCount == 1)
            #expect((frame.metadata.sourceWidth, frame.metadata.sourceHeight) == (whole.pixelWidth, whole.pixelHeight))
            #expect(frame.decodeOptions == options)
        }
    }

    @Test(arguments: all) func `Frames are stretched if the aspect ratio is not kept`(name: String) throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 7, height: 13)
        options.preserveAspectRatio = false
        try expect(try frames(name, options), of: name, width: 7, height: 13)
    }

    @Test(arguments: all) func `A box that a frame fits into changes nothing`(name: String) throws {
        let whole = try frames(name)
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 1000, height: 1000)
        for preserves in [true, false] {
            options.preserveAspectRatio = preserves
            for (frame, other) in zip(try frames(name, options, seed: 2), whole) {
                #expect(pixels(frame) == pixels(other))
                #expect(!frame.metadata.isThumbnail && frame.bitmap.pixelFormat == other.bitmap.pixelFormat)
            }
        }
    }

    @Test(arguments: all) func `The byte limit applies to all frames together`(name: String) throws {
        let count = try frames(name).count
        var options = ImageDecodeOptions()
        options.scaleDownLimitBytes = count * 4 * 70 + 3
        let limited = try frames(name, options)
        let (width, height) = (limited[0].pixelWidth, limited[0].pixelHeight)
        #expect(width * height <= 70 && (width + 1) * (height + 1) > 60)
        try expect(limited, of: name, width: width, height: height)
        for frame in limited {
            #expect(frame.metadata.scaleDownLimitBytes == options.scaleDownLimitBytes && !frame.metadata.isThumbnail)
        }
        // With only the first frame it applies to that.
        options.scaleDownLimitBytes = 4 * 70
        options.decodeFirstFrameOnly = true
        let first = try frames(name, options)
        #expect(first.count == 1 && (first[0].pixelWidth, first[0].pixelHeight) == (width, height))
        // With a thumbnail the smaller of both holds.
        options.decodeFirstFrameOnly = false
        options.scaleDownLimitBytes = count * 4 * 30
        options.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        #expect(try frames(name, options).allSatisfy { $0.pixelWidth * $0.pixelHeight <= 30 })
    }

    @Test(arguments: all) func `Scales are reported, and change no pixel`(name: String) throws {
        let whole = try frames(name)
        for (factor, scale) in [(2.5, 2.5), (0.25, 1), (.nan, 1)] {
            var options = ImageDecodeOptions()
            options.scaleFactor = factor
            for (frame, other) in zip(try frames(name, options), whole) {
                #expect(frame.scale == scale)
                #expect(pixels(frame) == pixels(other))
            }
        }
    }

    @Test(arguments: all, [nil, PixelFormat.rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied])
    func `Frames have the requested layout, unless it would lose information`(
        name: String,
        format: PixelFormat?
    ) throws {
        let whole = try frames(name)
        var options = ImageDecodeOptions()
        options.pixelFormat = format
        let made = try frames(name, options)
        let isOpaque = Self.opaque.contains(name)
        let expected = isOpaque ? format ?? .rgb8 : format == .rgbaHalfPremultiplied ? .rgbaHalfPremultiplied : nil
        for (frame, other) in zip(made, whole) {
            #expect(frame.bitmap.pixelFormat == expected ?? .bgra8Premultiplied)
            #expect(pixels(frame) == pixels(other))
        }
        options.thumbnailPixelSize = ImageSize(width: 9, height: 9)
        let plain = ImageDecodeOptions.with(thumbnail: 9)
        for (frame, other) in zip(try frames(name, options), try frames(name, plain)) {
            #expect(frame.bitmap.pixelFormat == expected ?? .bgra8Premultiplied)
            #expect(pixels(frame) == pixels(other))
        }
    }

    @Test(arguments: all + ["Animation/apng-rgba16.png"])
    func `Frames have 8 bits for every requested range`(name: String) throws {
        var options = ImageDecodeOptions()
        options.decodeToHDR = true
        for (frame, other) in zip(try frames(name, options), try frames(name)) {
            #expect(frame.bitmap.pixelFormat == other.bitmap.pixelFormat)
            #expect(frame.bitmap.pixelFormat != .rgbaHalfPremultiplied)
            #expect(pixels(frame) == pixels(other))
        }
        options.pixelFormat = .rgbaHalfPremultiplied
        #expect(try frames(name, options).allSatisfy { $0.bitmap.pixelFormat == .rgbaHalfPremultiplied })
    }

    @Test(arguments: all) func `decodeFirstFrameOnly gives one frame, and reads no others`(name: String) throws {
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        options.limits.maximumFrameCount = 1
        let first = try coder.animation(of: try Fixtures.data(name), options: options)
        #expect(first.frameCount == 1 && first.loopCount == 0 && first.duration(at: 1) == 0)
        #expect(try pixels(first.frame(at: 0)) == pixels(frames(name)[0]))
        #expect(throws: WebImageError.self) { try first.frame(at: 1) }
    }

    @Test(arguments: all) func `Limits are checked when an animation is opened`(name: String) throws {
        let data = try Fixtures.data(name)
        let size = try coder.properties(of: data, limits: ImageLimits())
        func refusal(_ change: (inout ImageLimits) -> Void) -> String? {
            var options = ImageDecodeOptions()
            change(&options.limits)
            let error = #expect(throws: WebImageError.self) { try coder.animation(of: data, options: options) }
            return error?.limit?.name
        }
        #expect(refusal { $0.maximumFrameCount = size.frameCount - 1 } == "maximumFrameCount")
        #expect(refusal { $0.maximumPixelCount = size.width * size.height - 1 } == "maximumPixelCount")
        #expect(refusal { $0.maximumSideLength = max(size.width, size.height) - 1 } == "maximumSideLength")
        let canvas = size.width * size.height * 4
        #expect(refusal { $0.maximumDecodedByteCount = canvas - 1 } == "maximumDecodedByteCount")
        // Frames of a thumbnail are drawn at full size, too.
        var small = ImageDecodeOptions.with(thumbnail: 5)
        small.limits.maximumDecodedByteCount = canvas - 1
        #expect(throws: WebImageError.self) { try coder.animation(of: data, options: small) }
    }

    @Test(arguments: all) func `All frames are preloaded on request`(name: String) async throws {
        let data = try Fixtures.data(name)
        var options = ImageDecodeOptions()
        let plain = try await Image.decode(data, options: options)
        #expect(plain.animation?.isAllFramesLoaded == false)
        options.preloadsAllFrames = true
        let animation = try #require(try await Image.decode(data, options: options).animation)
        let whole = try frames(name)
        #expect(animation.isAllFramesLoaded && animation.frameCount == whole.count)
        for (index, frame) in whole.enumerated() {
            #expect(try pixels(animation.frame(at: index)) == pixels(frame))
            #expect(try animation.frame(at: index) === animation.frame(at: index))
        }
    }

    @Test(arguments: ["Animation/pillow.gif", "Animation/apng-rgb.png", "Animation/webp-lossy-0.webp"])
    func `A required animation is an error if its canvas is refused; otherwise a still image is decoded`(
        name: String
    ) async throws {
        let data = try Fixtures.data(name)
        let size = try coder.properties(of: data, limits: ImageLimits())
        // Enough for a thumbnail decoded by rows, but not for a canvas.
        var options = ImageDecodeOptions.with(thumbnail: 8)
        options.limits.maximumDecodedByteCount = size.width * size.height * 4 - 1
        let still = try await Image.decode(data, options: options)
        #expect(still.animation == nil && still.metadata.isAnimated)
        options.requiresAnimation = true
        let strict = options
        let error = await #expect(throws: WebImageError.self) { try await Image.decode(data, options: strict) }
        #expect(error?.limit?.name == "maximumDecodedByteCount")
        options.limits = ImageLimits()
        #expect(try await Image.decode(data, options: options).animation?.frameCount == size.frameCount)
    }
}

extension ImageDecodeOptions {
    fileprivate static func with(thumbnail side: Double) -> ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: side, height: side)
        return options
    }
}
