import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageAVIF
@testable import WebImageHTTP

/// Output is read back by our decoder, which is tested against avifdec.
@Suite(.tags(.addressSanitizer)) struct AVIFAnimationEncodingTests {
    private let files = FormatFixture(coder: AVIFCoder(), folder: "AVIF", ending: "avif")

    @Test(arguments: ["webp/webp-0", "gif/random-0", "webp/webp-soft-4"])
    func `Every frame of a lossless sequence is read back, with its duration and the loop count`(name: String) throws {
        try files.checkAnimationRoundTrip(name)
    }

    @Test func `Options of AVIF sequences`() throws { try files.checkAnimationEncoding(.avif, lossy: 6) }

    private func sequence(loops: Int) throws -> Data {
        let frames = try (0..<3).map { index in
            let shade = UInt8(index * 90)
            let bitmap = try Bitmap.make(16, 12) { x, y in [shade, UInt8(x * 9), UInt8(y * 12), 255] }
            return ImageFrame(image: Image(bitmap: bitmap), duration: 0.25)
        }
        let animation = try #require(ImageFrameSequence(frames: frames, loopCount: loops))
        return try AVIFCoder().encode(animation, to: .avif, options: ImageEncodeOptions())
    }

    private struct Times: Equatable {
        var movie: UInt64 = 0
        var tracks: [UInt64] = []
        var listCount = 0
    }

    private func times(_ data: Data) throws -> Times {
        let file = [UInt8](data)
        return try file.withUnsafeBytes { raw in
            let bytes = ByteReader(raw)
            func long(_ box: ISOBox?, _ offset: Int) throws -> UInt64 {
                let start = try #require(box).content.lowerBound + offset
                let (high, low) = (try #require(bytes.bigEndian32(start)), try #require(bytes.bigEndian32(start + 4)))
                return UInt64(high) << 32 | UInt64(low)
            }
            // Not inside #require: after that macro with a call with a closure, swift-testing of Swift 6.3 lets the
            // next filter of such an array find nothing.
            let found = ISOBox.boxes(in: bytes, 0..<raw.count).first { $0.type == fourCC("moov") }
            let movie = try #require(found)
            var times = Times(movie: try long(movie.child("mvhd", in: bytes), 24))
            for box in movie.children(in: bytes) where box.type == fourCC("trak") {
                times.tracks.append(try long(box.child("tkhd", in: bytes), 28))
                if box.child("edts", in: bytes) != nil { times.listCount += 1 }
            }
            return times
        }
    }

    @Test func `A sequence that plays three times says so in all its tracks, and is otherwise the same`() throws {
        let (endless, thrice) = (try sequence(loops: 0), try sequence(loops: 3))
        let endlessTimes = try times(endless)
        // As libavif has it since 1.0, and before.
        let always = Times(movie: .max, tracks: [.max, .max], listCount: 2)
        #expect([always, Times(movie: 750, tracks: [750, 750])].contains(endlessTimes))
        #expect(try times(thrice) == Times(movie: 2250, tracks: [2250, 2250], listCount: 2))
        #expect(thrice.count == endless.count + (2 - endlessTimes.listCount) * 44)
        let coder = AVIFCoder()
        let (one, other) = (
            try coder.animation(of: endless, options: .init()), try coder.animation(of: thrice, options: .init())
        )
        for index in 0..<3 {
            #expect(try one.frame(at: index).bitmap.components == other.frame(at: index).bitmap.components)
        }
        // The image outside the sequence is where its box says as well.
        #expect(try coder.decode(thrice, options: .init()).bitmap.components == one.frame(at: 0).bitmap.components)
    }

    @Test func `Noise that the encoder cannot store as differences is stored frame by frame`() throws {
        var random = SeededGenerator(seed: 3)
        let frames = try (0..<32).map { _ in
            let bitmap = try Bitmap.make(80, 62) { _, _ in
                (0..<3).map { _ in .random(in: 0...255, using: &random) } + [255]
            }
            return ImageFrame(image: Image(bitmap: bitmap), duration: 0.1)
        }
        var options = ImageEncodeOptions()
        options.isLossless = true
        let animation = try #require(ImageFrameSequence(frames: frames))
        let data = try AVIFCoder().encode(animation, to: .avif, options: options)
        let copy = try AVIFCoder().animation(of: data, options: .init())
        #expect(copy.frameCount == 32)
        for index in [0, 1, 30, 31] {
            #expect(try copy.frame(at: index).bitmap.components == frames[index].image.bitmap.components)
        }
    }

    @Test func `A loop count can be set again`() throws {
        let thrice = try sequence(loops: 3)
        for loops in [1, 7, Int(UInt32.max)] {
            let changed = try AVIFLoops.set(loops, in: thrice)
            #expect(changed.count == thrice.count)
            let animation = try AVIFCoder().animation(of: changed, options: .init())
            #expect(animation.loopCount == loops)
            #expect(animation.frameCount == 3)
        }
    }

    @Test func `Unexpected files are an error`() throws {
        let endless = try sequence(loops: 0)
        for count in stride(from: 0, to: endless.count, by: 97) where count < 1000 {
            #expect(throws: WebImageError.self) { try AVIFLoops.set(2, in: endless.prefix(count)) }
        }
        #expect(throws: WebImageError(.encodingFailed, "")) { try AVIFLoops.set(2, in: Fixtures.data("AVIF/420.avif")) }
    }
}
