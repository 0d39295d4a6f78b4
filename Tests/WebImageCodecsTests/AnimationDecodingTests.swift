import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Frames as other programs decode them: ImageMagick those of GIF, Pillow (with libwebp's own composition) those of
/// WebP, Pillow and ffmpeg those of PNG; see `Scripts/make-fixtures/animation.py` and `apng.py`.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct AnimationDecodingTests {
    private static let names = ["gif", "webp", "png"].flatMap { format in
        Fixtures.names(in: "Animation", ending: format).map { "\($0).\(format)" }
    }
    private let coder = ImageCodersManager()

    private func open(_ name: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws
        -> any AnimatedImageProvider
    {
        var options = ImageDecodeOptions()
        change(&options)
        return try coder.animation(of: try Fixtures.data("Animation/\(name)"), options: options)
    }

    @Test func `All fixtures were found`() { #expect(Self.names.count >= 55) }

    @Test(arguments: names)
    func `Every frame equals another program's, in order and in any order`(name: String) throws {
        let animation = try open(name)
        let expected = try Fixtures.frames("Animation/\(name)", count: animation.frameCount)
        var order = Array(expected.indices) + Array(expected.indices)
        var generator = SeededGenerator(seed: 7)
        order += (0..<30).map { _ in Int.random(in: expected.indices, using: &generator) }
        for index in order {
            let difference = PixelDifference(try animation.frame(at: index).bitmap, expected[index])
            // For overlapping half-transparent pixels, and after lossy coding, programs round in different places.
            if name.contains("soft") || name.contains("lossy") {
                #expect(difference.maximum <= 2 && difference.mean <= 0.5, "frame \(index): \(difference)")
            } else {
                #expect(difference.maximum == 0, "frame \(index): \(difference)")
            }
        }
    }

    @Test(arguments: names)
    func `The first frame equals a decode's image`(name: String) throws {
        let first = try open(name).frame(at: 0)
        let still = try coder.decode(try Fixtures.data("Animation/\(name)"), options: ImageDecodeOptions())
        #expect(first.pixelWidth == still.pixelWidth && first.pixelHeight == still.pixelHeight)
        for y in 0..<first.pixelHeight {
            for x in 0..<first.pixelWidth {
                #expect(first.bitmap.premultipliedRGBA(x: x, y: y) == still.bitmap.premultipliedRGBA(x: x, y: y))
            }
        }
    }

    @Test func `Durations and loops are those of the file, and missing frames have none`() throws {
        let animation = try open("pillow.gif")
        #expect(animation.frameCount == 6 && animation.loopCount == 3)
        #expect((0..<6).map { animation.duration(at: $0) } == [0.04, 0.04, 0.04, 0.04, 0.04, 0.04])
        #expect(animation.duration(at: 6) == 0 && animation.duration(at: -1) == 0)
        for index in [-1, 6, Int.max] {
            let error = #expect(throws: WebImageError.self) { try animation.frame(at: index) }
            #expect(error?.code == .badImageData)
        }
        #expect(animation.animatedImageData == (try Fixtures.data("Animation/pillow.gif")))
    }

    @Test func `WebP's metadata is reported`() throws {
        let animation = try open("webp-3.webp")
        #expect(animation.frameCount == 8 && animation.loopCount == 3)
        #expect(animation.duration(at: 7) == 0.05)
        let still = try coder.animation(of: try Fixtures.data("WebP/lossy.webp"), options: ImageDecodeOptions())
        #expect(still.frameCount == 1 && still.loopCount == 0)
        let frame = try still.frame(at: 0)
        #expect(try PixelDifference(frame.bitmap, Fixtures.pixels("WebP/lossy.pam")).mean <= 0.5)
    }

    @Test func `A denominator of 0 is one of 100`() throws {
        let animation = try open("apng-first-restored.png")
        let expected = [7.0 / 40, 0.08, 9.0 / 40, 0.1, 11.0 / 40, 0.12, 13.0 / 40]
        for (index, seconds) in expected.enumerated() { #expect(abs(animation.duration(at: index) - seconds) < 1e-9) }
    }

    @Test func `Empty frames have their duration, and change nothing`() throws {
        let animation = try open("empty-frames.gif")
        #expect(animation.frameCount == 11)
        #expect([2, 5, 7].map { animation.duration(at: $0) } == [0.07, 0.07, 0.07])
        let before = try animation.frame(at: 1)
        #expect(try animation.frame(at: 2).pixelWidth == before.pixelWidth)
    }

    @Test func `Lossy frames and their alpha are among the fixtures`() throws {
        for (name, kinds) in [("webp-lossy-1", ["VP8 ", "VP8L"]), ("webp-lossy-alpha-3", ["ALPH", "VP8 ", "VP8L"])] {
            let data = try Fixtures.data("Animation/\(name).webp")
            #expect(kinds.allSatisfy { data.firstRange(of: Data($0.utf8)) != nil })
        }
    }

    @Test func `Frames without transparency have no alpha unless it is requested`() throws {
        #expect(try !open("pillow.gif").frame(at: 3).hasAlpha)
        #expect(try open("pillow.gif") { $0.pixelFormat = .bgra8Premultiplied }.frame(at: 3).hasAlpha)
        #expect(try open("erased.gif").frame(at: 3).hasAlpha)
    }

    @Test func `A thumbnail size and a byte limit hold for every frame`() throws {
        let small = try open("pillow.gif") { $0.thumbnailPixelSize = ImageSize(width: 24, height: 24) }
        for index in 0..<6 {
            let frame = try small.frame(at: index)
            #expect((frame.pixelWidth, frame.pixelHeight) == (24, 18) && frame.metadata.isThumbnail)
        }
        let limited = try open("pillow.gif") { $0.scaleDownLimitBytes = 6 * 4 * 100 }
        for index in 0..<6 {
            let frame = try limited.frame(at: index)
            #expect(frame.pixelWidth * frame.pixelHeight <= 100)
            #expect(frame.metadata.scaleDownLimitBytes == 2400)
        }
    }

    @Test(arguments: names, [ImageDecodeOptions.ScalingQuality.high, .fast])
    func `The first frame of a thumbnail equals a decode's image`(
        name: String,
        quality: ImageDecodeOptions.ScalingQuality
    ) async throws {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = ImageSize(width: 11, height: 11)
        options.scalingQuality = quality
        let data = try Fixtures.data("Animation/\(name)")
        let first = try coder.animation(of: data, options: options).frame(at: 0)
        let still = try coder.decode(data, options: options)
        #expect((first.pixelWidth, first.pixelHeight) == (still.pixelWidth, still.pixelHeight))
        #expect(first.bitmap.pixels == still.bitmap.pixels)
    }

    @Test func `Frames of 16-bit animated PNG have 8 bits, and the limits know it`() throws {
        for decodesToHDR in [false, true] {
            var options = ImageDecodeOptions()
            options.decodeToHDR = decodesToHDR
            let data = try Fixtures.data("Animation/apng-rgba16.png")
            let properties = try coder.properties(of: data, limits: options.limits)
            #expect(properties.bitsPerComponent == 16)
            options.limits.maximumDecodedByteCount = properties.width * properties.height * 4
            let still = try coder.decode(data, options: options)
            let frame = try coder.animation(of: data, options: options).frame(at: 1)
            #expect(still.bitmap.pixelFormat == .bgra8Premultiplied && frame.bitmap.pixelFormat == .bgra8Premultiplied)
        }
    }

    @Test func `Limits are checked when an animation is opened`() throws {
        func code(_ change: @escaping (inout ImageLimits) -> Void) -> String? {
            let error = #expect(throws: WebImageError.self) { try open("pillow.gif") { change(&$0.limits) } }
            return error?.limit?.name
        }
        #expect(code { $0.maximumFrameCount = 5 } == "maximumFrameCount")
        #expect(code { $0.maximumPixelCount = 48 * 36 - 1 } == "maximumPixelCount")
        #expect(code { $0.maximumSideLength = 47 } == "maximumSideLength")
        #expect(code { $0.maximumDecodedByteCount = 48 * 36 * 4 - 1 } == "maximumDecodedByteCount")
    }

    @Test func `decodeFirstFrameOnly gives one frame`() throws {
        let animation = try open("pillow.gif") { $0.decodeFirstFrameOnly = true }
        #expect(animation.frameCount == 1 && animation.loopCount == 0)
    }

    @Test func `A damaged frame is an error, and the others can still be decoded`() throws {
        let data = try Fixtures.data("Animation/kept.gif")
        // The codes of the last frame end too early; frames before it are whole.
        let cut = data.prefix(data.count - 12)
        let animation = try coder.animation(of: Data(cut), options: ImageDecodeOptions())
        let expected = try Fixtures.frames("Animation/kept.gif", count: 9)
        try #require(animation.frameCount == 9)
        for _ in 0..<2 {
            for index in 0..<8 {
                #expect(try PixelDifference(animation.frame(at: index).bitmap, expected[index]).maximum == 0)
            }
            let error = #expect(throws: WebImageError.self) { try animation.frame(at: 8) }
            #expect(error?.code == .badImageData)
        }
    }

    @Test(arguments: [
        "random-3.gif", "small-first-frame.gif", "outside.gif", "webp-3.webp", "webp-soft-4.webp", "webp-lossy-0.webp",
        "webp-lossy-alpha-2.webp", "apng-rgba-1.png", "apng-palette-interlaced.png", "apng-hidden-default.png",
    ])
    func `Damaged or cut anywhere, frames are whole or an error`(name: String) throws {
        let data = try Fixtures.data("Animation/\(name)")
        var generator = SeededGenerator(seed: 11)
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 1 << 20
        for round in 0..<216 {
            var damaged = data
            if round < 16 {
                damaged = Data(data.prefix(data.count * round / 16))
            } else {
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    let place = Int.random(in: damaged.indices, using: &generator)
                    damaged[place] = UInt8.random(in: 0...255, using: &generator)
                }
                // Most damage is detected at once by a checksum; with correct ones more of the decoder is reached.
                if name.hasSuffix("png"), round % 2 == 0 { damaged = CRC32.repairingPNG(damaged) }
            }
            guard let animation = try? coder.animation(of: damaged, options: options) else { continue }
            let properties = try coder.properties(of: damaged, limits: options.limits)
            #expect(animation.frameCount == properties.frameCount && properties.frameCount > 0)
            for index in 0..<min(animation.frameCount, 20) {
                guard let frame = try? animation.frame(at: index) else { continue }
                #expect((frame.pixelWidth, frame.pixelHeight) == (properties.width, properties.height))
            }
        }
    }

    @Test func `Concurrent threads each get the frame they requested`() async throws {
        let animation = try open("random-3.gif")
        let expected = try Fixtures.frames("Animation/random-3.gif", count: animation.frameCount)
        let wrong = Lock(0)
        let done = EventCounter()
        for thread in 0..<4 {
            startThread {
                var generator = SeededGenerator(seed: UInt64(thread))
                for _ in 0..<100 {
                    let index = Int.random(in: expected.indices, using: &generator)
                    let image = try? animation.frame(at: index)
                    let isRight = image.map { PixelDifference($0.bitmap, expected[index]).maximum == 0 } ?? false
                    if !isRight { wrong.withLock { $0 += 1 } }
                }
                done.signal()
            }
        }
        await done.wait(for: 4)
        #expect(wrong.withLock { $0 } == 0)
    }
}

extension Fixtures {
    /// Returns the expected frames of an animation, which are one below the other in its file of pixels.
    static func frames(_ name: String, count: Int) throws -> [PortableAnymap] {
        let all = try pixels("\(name.split(separator: ".")[0]).pam")
        let size = all.samples.count / count
        return (0..<count).map { index in
            PortableAnymap(
                width: all.width,
                height: all.height / count,
                channels: all.channels,
                samples: Array(all.samples[index * size..<(index + 1) * size])
            )
        }
    }
}
