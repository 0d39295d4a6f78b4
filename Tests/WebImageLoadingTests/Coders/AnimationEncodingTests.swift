import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageLoading

/// Encoded animations are read back by our decoders, which are tested against other programs.
@Suite(.tags(.addressSanitizer)) struct AnimationEncodingTests {
    private let manager = ImageCodersManager()
    static let formats: [ImageFormat] = [.gif, .png, .webp]
    private static let sources = ["gif", "webp", "png"].flatMap { format in
        Fixtures.names(in: "Animation", ending: format).map { "\($0).\(format)" }
    }

    private func source(_ name: String) throws -> any AnimatedImageProvider {
        try manager.animation(of: Fixtures.data("Animation/\(name)"), options: ImageDecodeOptions())
    }

    private func encode(
        _ animation: any AnimatedImageProvider,
        _ format: ImageFormat,
        _ change: (inout ImageEncodeOptions) -> Void = { _ in }
    ) throws -> Data {
        var options = ImageEncodeOptions()
        options.isLossless = true
        change(&options)
        return try manager.encode(animation, to: format, options: options)
    }

    private func reopen(_ data: Data, _ format: ImageFormat) throws -> any AnimatedImageProvider {
        #expect(ImageFormat(detecting: data) == format)
        return try manager.animation(of: data, options: ImageDecodeOptions())
    }

    /// Frames of one colour each, and their expected values.
    static func colors(_ durations: [Double], loops: Int = 0, size: Int = 4) throws -> ImageFrameSequence {
        let frames = try durations.enumerated().map { index, duration in
            let shade = UInt8(truncatingIfNeeded: index * 40)
            return ImageFrame(
                image: Image(bitmap: try .make(size, size) { _, _ in [shade, 255 - shade, 9, 255] }),
                duration: duration
            )
        }
        return try #require(ImageFrameSequence(frames: frames, loopCount: loops))
    }

    @Test(arguments: formats, sources)
    func `Every frame of every animation is read back, with its duration and the loop count`(
        format: ImageFormat,
        name: String
    ) throws {
        // GIF has no soft edges.
        guard format != .gif || !(name.contains("soft") || name.contains("lossy-alpha")) else { return }
        let original = try source(name)
        let copy = try reopen(try encode(original, format), format)
        #expect(copy.frameCount == original.frameCount && copy.loopCount == original.loopCount)
        for index in 0..<original.frameCount {
            let (found, wanted) = (try copy.frame(at: index).bitmap, try original.frame(at: index).bitmap)
            #expect((found.width, found.height) == (wanted.width, wanted.height))
            if format == .gif, colorCount(wanted) > 255 {
                #expect(difference(found, wanted) < 10, "frame \(index)")
            } else {
                #expect(found.pixels == wanted.pixels, "frame \(index)")
            }
            #expect(abs(copy.duration(at: index) - original.duration(at: index)) < 0.0101)
        }
    }

    @Test(arguments: sources)
    func `Every frame of a lossy animation is close to the original`(name: String) throws {
        let original = try source(name)
        let copy = try reopen(
            try encode(original, .webp) {
                $0.isLossless = false
                $0.compressionQuality = 0.9
            },
            .webp
        )
        #expect(copy.frameCount == original.frameCount)
        for index in 0..<original.frameCount {
            let (found, wanted) = (try copy.frame(at: index).bitmap, try original.frame(at: index).bitmap)
            #expect(alphas(found) == alphas(wanted), "alpha is kept without loss")
            // Blocks and dots of random colours are the worst case for chroma subsampling.
            #expect(difference(found, wanted) < (name.contains("noise") ? 45 : 30), "frame \(index)")
        }
    }

    private func alphas(_ bitmap: Bitmap) -> [UInt8] {
        let pixels = bitmap.pixels
        return stride(from: 3, to: pixels.count, by: 4).map { pixels[$0] }
    }

    /// The mean of all components' differences.
    private func difference(_ one: Bitmap, _ other: Bitmap) -> Double {
        let (one, other) = (one.pixels, other.pixels)
        return Double(zip(one, other).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(one.count)
    }

    private func colorCount(_ bitmap: Bitmap) -> Int {
        let pixels = bitmap.pixels
        return Set(stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 4]) }).count
    }

    @Test(arguments: formats)
    func `Frames that change nothing are kept with their durations`(format: ImageFormat) throws {
        let image = Image(bitmap: try .make(5, 3) { x, y in [UInt8(x * 20), UInt8(y * 50), 7, 255] })
        let clear = Image(bitmap: try .make(5, 3) { _, _ in [0, 0, 0, 0] })
        for frame in [image, clear] {
            let frames = [0.1, 0.2, 0.3].map { ImageFrame(image: frame, duration: $0) }
            let copy = try reopen(encode(#require(ImageFrameSequence(frames: frames)), format), format)
            #expect(copy.frameCount == 3)
            for index in 0..<3 {
                #expect(abs(copy.duration(at: index) - frames[index].duration) < 1e-9)
                #expect(try copy.frame(at: index).bitmap.pixels == frame.bitmap.pixels)
            }
        }
    }

    @Test(arguments: formats)
    func `Pixels that appear and disappear do so in every frame`(format: ImageFormat) throws {
        // A dot that moves over transparency, and one that appears in a hole of static content.
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<12 {
            let frames = try (0..<6).map { _ in
                let bits = (0..<63).map { _ in Bool.random(using: &generator) }
                let shade = UInt8.random(in: 0...255, using: &generator)
                let bitmap = try Bitmap.make(9, 7) { x, y in bits[y * 9 + x] ? [shade, 3, 200, 255] : [0, 0, 0, 0] }
                return ImageFrame(image: Image(bitmap: bitmap), duration: 0.05)
            }
            let copy = try reopen(encode(#require(ImageFrameSequence(frames: frames)), format), format)
            for index in frames.indices {
                #expect(try copy.frame(at: index).bitmap.pixels == frames[index].image.bitmap.pixels)
            }
        }
    }

    @Test(arguments: formats, [0, 1, 2, 7, 65_535])
    func `The loop count is kept or overridden`(format: ImageFormat, loops: Int) throws {
        let animation = try Self.colors([0.1, 0.1], loops: loops)
        #expect(try reopen(encode(animation, format), format).loopCount == loops)
        #expect(try reopen(encode(animation, format) { $0.loopCount = 3 }, format).loopCount == 3)
        #expect(try reopen(encode(animation, format) { $0.loopCount = -4 }, format).loopCount == 0)
    }

    @Test func `Loop counts that a format cannot store become its highest number`() throws {
        let animation = try Self.colors([0.1, 0.1], loops: Int.max)
        #expect(try reopen(encode(animation, .gif), .gif).loopCount == 65_535)
        #expect(try reopen(encode(animation, .webp), .webp).loopCount == 65_535)
        #expect(try reopen(encode(animation, .png), .png).loopCount == Int(Int32.max))
    }

    @Test(arguments: formats)
    func `Each frame begins within a tick of its time`(format: ImageFormat) throws {
        let tick = format == .gif ? 0.01 : 0.001
        var generator = SeededGenerator(seed: 9)
        let durations = (0..<300).map { _ in Double.random(in: 0.02...0.09, using: &generator) }
        let copy = try reopen(encode(Self.colors(durations), format), format)
        var (wanted, found) = (0.0, 0.0)
        for index in durations.indices {
            wanted += durations[index]
            found += copy.duration(at: index)
            #expect(abs(wanted - found) < tick, "after frame \(index)")
        }
    }

    @Test(arguments: formats)
    func `Durations that no program shows become the shortest that all show`(format: ImageFormat) throws {
        let copy = try reopen(encode(Self.colors([0, -1, .nan, .infinity, 0.01, 0.02]), format), format)
        #expect((0..<6).map { copy.duration(at: $0) } == [0.1, 0.1, 0.1, 0.1, 0.1, 0.02])
    }

    @Test(arguments: formats)
    func `An animation of one frame, and the first frame only, are still images`(format: ImageFormat) throws {
        let animation = try Self.colors([0.1, 0.2], loops: 3)
        let single = try Self.colors([0.1])
        for data in [try encode(animation, format) { $0.encodeFirstFrameOnly = true }, try encode(single, format)] {
            let properties = try manager.properties(of: data, limits: ImageLimits())
            #expect(properties.format == format && properties.frameCount == 1)
            let still = try manager.decode(data, options: ImageDecodeOptions())
            #expect(try still.bitmap.pixels == animation.frame(at: 0).bitmap.pixels)
            for word in ["acTL", "ANIM", "NETSCAPE"] { #expect(data.firstRange(of: Data(word.utf8)) == nil) }
        }
    }

    @Test(arguments: formats)
    func `A maximum size holds for every frame`(format: ImageFormat) throws {
        let copy = try reopen(
            encode(source("pillow.gif"), format) { $0.maxPixelSize = ImageSize(width: 24, height: 24) },
            format
        )
        for index in 0..<6 {
            let frame = try copy.frame(at: index)
            #expect((frame.pixelWidth, frame.pixelHeight) == (24, 18))
        }
    }

    @Test(arguments: formats)
    func `Frames of different sizes are refused, and so is a failure in the middle`(format: ImageFormat) throws {
        let frames = [ImageFrame(image: Image.tiny(), duration: 0.1)] + (try Self.colors([0.1]).frames)
        let error = #expect(throws: WebImageError.self) {
            try encode(#require(ImageFrameSequence(frames: frames)), format)
        }
        #expect(error?.code == .encodingFailed && error?.message.contains("frame 1") == true)
        let failing = #expect(throws: WebImageError.self) { try encode(NumberedAnimation(count: 5, bad: [3]), format) }
        #expect(failing?.code == .badImageData)
    }

    @Test func `An animation cannot have zero frames`() {
        #expect(ImageFrameSequence(frames: []) == nil)
    }

    @Test func `A sequence is an animation`() throws {
        let sequence = try Self.colors([0.5, 0.003], loops: -2)
        #expect(sequence.frameCount == 2 && sequence.loopCount == 0 && sequence.animatedImageData == nil)
        #expect(sequence.duration(at: 0) == 0.5 && sequence.duration(at: 1) == 0.1)
        #expect(sequence.duration(at: 2) == 0 && sequence.duration(at: -1) == 0)
        #expect(throws: WebImageError.self) { try sequence.frame(at: 2) }
        #expect(try AnimatedImage(provider: sequence).frameCount == 2)
    }

    @Test func `A format without animations takes the first frame only on request`() throws {
        let animation = try Self.colors([0.1, 0.1])
        let error = #expect(throws: WebImageError.self) { try encode(animation, .jpeg) }
        #expect(error?.code == .unsupportedFormat)
        let data = try encode(animation, .jpeg) { $0.encodeFirstFrameOnly = true }
        #expect(ImageFormat(detecting: data) == .jpeg)
        #expect(!manager.canEncodeAnimation(to: .jpeg) && manager.canEncodeAnimation(to: .gif))
        #expect(ImageFormat(detecting: try manager.encode(animation, to: .undefined, options: .init())) == .gif)
        for coder in [GIFCoder(), PNGCoder(), WebPCoder()] as [any AnimatedImageEncoder] {
            let error = #expect(throws: WebImageError.self) { try coder.encode(animation, to: .tiff, options: .init()) }
            #expect(error?.code == .unsupportedFormat)
        }
    }

    @Test(arguments: formats)
    func `Memory does not grow with the number of frames`(format: ImageFormat) throws {
        let animation = CountingAnimation(count: 500)
        let data = try encode(animation, format)
        #expect(try manager.properties(of: data, limits: ImageLimits()).frameCount == 500)
        // The current frame, the one before it, and in GIF the one after it.
        #expect(animation.mostAlive <= 3, "\(animation.mostAlive) frames at a time")
    }

    @Test func `An animated image is encoded with its frames`() async throws {
        let image = try await Image.decode(Fixtures.data("Animation/pillow.gif"))
        for format in Self.formats + [.undefined] {
            let data = try await image.encoded(as: format)
            let properties = try manager.properties(of: data, limits: ImageLimits())
            #expect(properties.frameCount == 6 && properties.loopCount == 3)
            #expect(properties.format == (format == .undefined ? .gif : format))
        }
        #expect(try await ImageFormat(detecting: image.encoded(as: .jpeg)) == .jpeg)
        var options = ImageEncodeOptions()
        options.encodeFirstFrameOnly = true
        let still = try await image.encoded(as: .webp, options: options)
        #expect(try manager.properties(of: still, limits: ImageLimits()).frameCount == 1)
        let animation = try #require(image.animation)
        let data = try await animation.encoded()
        #expect(try manager.properties(of: data, limits: ImageLimits()).frameCount == 6)
        #expect(try await ImageFormat(detecting: Self.colors([0.1, 0.1]).encoded()) == .gif)
    }
}

/// Frames that are generated on request, and counted while they exist.
private final class CountingAnimation: AnimatedImageProvider {
    private struct Count {
        var alive = 0
        var most = 0
    }

    let frameCount: Int
    private let count = Lock(Count())

    init(count: Int) { frameCount = count }

    var mostAlive: Int { count.withLock { $0.most } }
    var animatedImageData: Data? { nil }
    var loopCount: Int { 0 }
    func duration(at index: Int) -> Double { 0.1 }

    func frame(at index: Int) throws(WebImageError) -> Image {
        let byteCount = 16 * 16 * 4
        let base = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        for pixel in 0..<256 {
            let shade: UInt8 = pixel == index % 256 ? 255 : 20
            base.advanced(by: pixel * 4).copyMemory(from: [shade, 0, 0, 255], byteCount: 4)
        }
        count.withLock { count in
            count.alive += 1
            count.most = max(count.most, count.alive)
        }
        let storage = PixelStorage(adopting: base, byteCount: byteCount) { base, _ in
            base.deallocate()
            self.count.withLock { $0.alive -= 1 }
        }
        return Image(
            bitmap: Bitmap(
                width: 16,
                height: 16,
                bytesPerRow: 64,
                pixelFormat: .bgra8Premultiplied,
                storage: storage
            )
        )
    }
}
