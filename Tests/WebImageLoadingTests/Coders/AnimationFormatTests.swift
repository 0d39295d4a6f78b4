import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// The format of an animation that has none. Nothing may be lost, so the frames are compared after reading them back.
@Suite(.tags(.addressSanitizer)) struct AnimationFormatTests {
    private let manager = ImageCodersManager()

    /// An animation of three frames of 40 by 30 pixels with so many colours, the last of them transparent or translucent.
    private static func frames(
        colors: Int,
        lastAlpha: UInt8 = 255,
        durations: [Double] = [0.1, 0.2, 0.05],
        loops: Int = 0
    ) throws -> ImageFrameSequence {
        let frames = try durations.enumerated().map { index, duration in
            let bitmap = try Bitmap.make(40, 30) { x, y in
                let number = (y * 40 + x + index * 7) % colors
                if number == colors - 1, lastAlpha < 255 { return [0, 0, lastAlpha, lastAlpha] }
                return [UInt8(number % 256), UInt8(number / 256 * 40), UInt8(index * 30), 255]
            }
            return ImageFrame(image: Image(bitmap: bitmap), duration: duration)
        }
        return try #require(ImageFrameSequence(frames: frames, loopCount: loops))
    }

    private func image(_ frames: ImageFrameSequence) throws -> Image {
        let animation = try AnimatedImage(provider: frames)
        let image = animation.image.with(animation: animation)
        #expect(image.format == .undefined)
        return image
    }

    /// Encodes in each way that chooses a format, and checks that nothing was lost.
    private func format(
        of frames: ImageFrameSequence,
        by coder: ImageCodersManager,
        loses: Bool = false
    ) async throws -> ImageFormat {
        let image = try image(frames)
        let cache = ImageCache(directory: TemporaryDirectory().path)
        var request = ImageStoreRequest(key: "k", image: image)
        request.coder = coder
        await withCheckedContinuation { done in cache.store(request) { done.resume() } }
        var formats: Set<ImageFormat> = []
        for data in try await [
            image.encoded(coder: coder), frames.encoded(coder: coder),
            coder.encode(frames, to: .undefined, options: ImageEncodeOptions()),
            try #require(cache.diskData(forKey: "k")),
        ] {
            formats.insert(ImageFormat(detecting: data))
            let copy = try manager.animation(of: data, options: ImageDecodeOptions())
            #expect(copy.frameCount == frames.frameCount)
            for index in 0..<copy.frameCount where !loses {
                #expect(try copy.frame(at: index).bitmap.pixels == frames.frame(at: index).bitmap.pixels)
                #expect(abs(copy.duration(at: index) - frames.duration(at: index)) < 1e-9)
            }
            #expect(loses || copy.loopCount == frames.loopCount)
        }
        #expect(formats.count == 1)
        return try #require(formats.first)
    }

    @Test func `What GIF holds exactly is written as GIF`() async throws {
        for (colors, alpha) in [(3, UInt8(255)), (256, 255), (256, 0), (2, 0)] {
            #expect(try await format(of: Self.frames(colors: colors, lastAlpha: alpha), by: manager) == .gif)
        }
        let slow = try Self.frames(colors: 9, durations: [0.02, 655.35, 1], loops: 65_535)
        #expect(try await format(of: slow, by: manager) == .gif)
    }

    @Test func `What GIF cannot hold is written as APNG`() async throws {
        for frames in try [
            Self.frames(colors: 257), Self.frames(colors: 257, lastAlpha: 0), Self.frames(colors: 1000),
            Self.frames(colors: 5, lastAlpha: 254), Self.frames(colors: 5, lastAlpha: 1),
            Self.frames(colors: 5, durations: [0.1, 0.125, 0.1]), Self.frames(colors: 5, durations: [0.012, 0.1, 0.1]),
            Self.frames(colors: 5, durations: [0.1, 656, 0.1]), Self.frames(colors: 5, loops: 65_536),
        ] { #expect(try await format(of: frames, by: manager) == .png) }
    }

    @Test func `Without an encoder of the one, another is used`() async throws {
        let (few, many) = try (Self.frames(colors: 5), Self.frames(colors: 400))
        let noGIF = ImageCodersManager(coders: [PNGCoder(), WebPCoder()])
        #expect(try await format(of: few, by: noGIF) == .png)
        let noPNG = ImageCodersManager(coders: [JPEGCoder(), GIFCoder(), WebPCoder()])
        #expect(try await format(of: few, by: noPNG) == .gif)
        #expect(try await format(of: many, by: noPNG, loses: true) == .webp)
        #expect(try await format(of: many, by: ImageCodersManager(coders: [GIFCoder()]), loses: true) == .gif)
    }

    @Test func `To fit a file size, an animation is written as WebP`() async throws {
        var options = ImageEncodeOptions()
        options.maxFileSize = 20_000
        for frames in try [Self.frames(colors: 3), Self.frames(colors: 1000)] {
            let data = try await frames.encoded(options: options)
            #expect(ImageFormat(detecting: data) == .webp && data.count <= options.maxFileSize)
        }
        let some = ImageCodersManager(coders: [PNGCoder(), GIFCoder()])
        let data = try await Self.frames(colors: 1000).encoded(options: options, coder: some)
        #expect(ImageFormat(detecting: data) == .gif && data.count <= options.maxFileSize)
    }

    @Test func `A smaller size mixes colours, and half floats are too precise`() async throws {
        var options = ImageEncodeOptions()
        options.maxPixelSize = ImageSize(width: 20, height: 20)
        let frames = try Self.frames(colors: 3)
        #expect(ImageFormat(detecting: try await frames.encoded(options: options)) == .png)
        for box in [ImageSize(width: 40, height: 30), ImageSize(width: 41, height: 500)] {
            options.maxPixelSize = box
            #expect(ImageFormat(detecting: try await frames.encoded(options: options)) == .gif)
        }
        let wide = try frames.frames.map {
            let bitmap = try $0.image.bitmap.converted(to: .rgbaHalfPremultiplied)
            return ImageFrame(image: Image(bitmap: bitmap), duration: $0.duration)
        }
        #expect(ImageFormat(detecting: try await #require(ImageFrameSequence(frames: wide)).encoded()) == .png)
    }

    @Test func `A frame that fails is an error, whatever the format`() async throws {
        let error = await #expect(throws: WebImageError.self) {
            try await NumberedAnimation(count: 5, bad: [3]).encoded()
        }
        #expect(error?.code == .badImageData)
    }
}
