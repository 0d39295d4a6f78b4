import CodecsTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// The number of frames decoded per requested frame.
@Suite(.tags(.addressSanitizer)) struct ComposedAnimationTests {
    @Test func `An animation with more frames continues on the canvas of a shorter one`() throws {
        let fresh = try DrawnAnimation(count: 9)
        let short = try DrawnAnimation(count: 5)
        _ = try short.animation.frame(at: 4)
        let longer = try DrawnAnimation(count: 9, continuing: short.animation)
        // A view releases the shorter one when it changes to the other.
        short.animation.releaseDecoder()
        func same(_ index: Int, _ drawn: DrawnAnimation) throws -> Bool {
            let expected = try fresh.animation.frame(at: index).bitmap.pixels
            return try drawn.animation.frame(at: index).bitmap.pixels == expected
        }
        for index in [4, 8] { #expect(try same(index, longer)) }
        #expect(longer.decoded == [5, 6, 7, 8])
        for index in [2, 4, 0] { #expect(try same(index, short)) }
        longer.animation.releaseDecoder()
        longer.forget()
        _ = try longer.animation.frame(at: 8)
        #expect(longer.decoded == Array(0..<9))
    }

    @Test func `A shorter animation releases the canvas once no longer one exists`() throws {
        let short = try DrawnAnimation(count: 5)
        _ = try short.animation.frame(at: 4)
        do {
            let longer = try DrawnAnimation(count: 9, continuing: short.animation)
            short.animation.releaseDecoder()
            _ = try longer.animation.frame(at: 4)
            #expect(longer.decoded.isEmpty)
        }
        short.forget()
        short.animation.releaseDecoder()
        _ = try short.animation.frame(at: 4)
        #expect(short.decoded == Array(0..<5))
    }

    @Test func `An animation with other frames has another canvas`() throws {
        let short = try DrawnAnimation(count: 5)
        _ = try short.animation.frame(at: 4)
        var frames = DrawnAnimation.kept(9)
        frames[3].left += 1
        let other = try DrawnAnimation(count: 9, frames: frames, continuing: short.animation)
        _ = try other.animation.frame(at: 4)
        #expect(other.decoded == Array(0..<5))
        let shorter = try DrawnAnimation(count: 3, continuing: short.animation)
        _ = try shorter.animation.frame(at: 2)
        #expect(shorter.decoded == [0, 1, 2])
    }

    @Test func `Two players at different places decode each frame once`() throws {
        let drawn = try DrawnAnimation(count: 64)
        for step in 0..<64 {
            _ = try drawn.animation.frame(at: step)
            _ = try drawn.animation.frame(at: (step + 32) % 64)
        }
        #expect(drawn.decoded.count <= 2 * 64 + 33, "each once for each, and the way to where the second begins")
        drawn.forget()
        for step in 64..<128 {
            _ = try drawn.animation.frame(at: step % 64)
            _ = try drawn.animation.frame(at: (step + 32) % 64)
        }
        #expect(drawn.decoded.count <= 2 * 64)
    }

    @Test(arguments: [1, 2, 3, 7]) func `Variants that lag behind decode each frame once`(lag: Int) throws {
        let drawn = try DrawnAnimation(count: 200)
        let image = try AnimatedImage(provider: drawn.animation)
        let variants = try (0..<2).map { _ in
            image.mapped(first: try image.frame(at: 0)) { (frame) throws(WebImageError) in frame }
        }
        for index in 0..<lag { _ = try variants[0].frame(at: index) }
        drawn.forget()
        for index in lag..<200 {
            _ = try variants[0].frame(at: index)
            _ = try variants[1].frame(at: index - lag)
        }
        #expect(drawn.decoded.count <= 2 * 200)
    }

    @Test func `Six players at different places decode each frame once`() throws {
        let drawn = try DrawnAnimation(count: 120)
        for player in 0..<6 { _ = try drawn.animation.frame(at: player * 20) }
        drawn.forget()
        for step in 1..<20 {
            for player in 0..<6 { _ = try drawn.animation.frame(at: player * 20 + step) }
        }
        #expect(drawn.decoded.count <= 6 * 19, "fewer where one player finds another's keyframe")
    }

    @Test(arguments: [100, 1000]) func `Backwards each frame takes a few decodes, whatever the number of frames`(
        count: Int
    ) throws {
        let drawn = try DrawnAnimation(count: count)
        for index in (0..<count).reversed() { _ = try drawn.animation.frame(at: index) }
        #expect(drawn.decoded.count < 6 * count, "\(drawn.decoded.count) decodes")
        drawn.forget()
        for index in Array(0..<count) + (0..<count).reversed() { _ = try drawn.animation.frame(at: index) }
        #expect(drawn.decoded.count < 7 * count, "to and fro")
    }

    @Test func `Two players running backwards at different places do not discard each other's keyframes`() throws {
        let drawn = try DrawnAnimation(count: 500)
        for step in 0..<500 {
            _ = try drawn.animation.frame(at: 499 - step)
            _ = try drawn.animation.frame(at: (749 - step) % 500)
        }
        #expect(drawn.decoded.count < 8 * 1000, "\(drawn.decoded.count) decodes")
    }

    @Test func `A loop of which only a part is cached elsewhere resumes from a keyframe`() throws {
        let drawn = try DrawnAnimation(count: 100)
        for _ in 0..<10 {
            for index in 60..<100 { _ = try drawn.animation.frame(at: index) }
        }
        #expect(drawn.decoded.count <= 61 + 10 * 60, "\(drawn.decoded.count) decodes")
    }

    @Test func `In any order of requests each frame equals the one in order`() throws {
        for seed in UInt64(0)..<60 {
            var random = SeededGenerator(seed: seed)
            let frames = (0..<40).map { _ in
                AnimationFrame(
                    left: Int.random(in: -1...5, using: &random),
                    top: Int.random(in: -1...2, using: &random),
                    width: Bool.random(using: &random) ? 8 : Int.random(in: 0...5, using: &random),
                    height: 4,
                    duration: 0.1,
                    disposal: [.keep, .keep, .keep, .background, .previous].randomElement(using: &random) ?? .keep,
                    replaces: Int.random(in: 0..<8, using: &random) == 0
                )
            }
            let straight = try DrawnAnimation(count: 40, frames: frames)
            let expected = try frames.indices.map { try straight.animation.frame(at: $0).bitmap.pixels }
            let drawn = try DrawnAnimation(count: 40, frames: frames)
            var place = 0
            for _ in 0..<400 {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: place = Int.random(in: 0..<40, using: &random)
                case 1: drawn.animation.releaseDecoder()
                case 2..<6: place = max(place - 1, 0)
                default: place = min(place + 1, 39)
                }
                let parts = Int.random(in: 1...5, using: &random)
                var count = 0
                let frame = try drawn.animation.frame(at: place) {
                    count += 1
                    return count < parts
                }
                if let frame { #expect(frame.bitmap.pixels == expected[place], "seed \(seed), frame \(place)") }
            }
        }
    }

    @Test func `A frame is composed in parts, and partial work is kept when another is requested in between`() throws {
        let drawn = try DrawnAnimation(count: 64)
        func advance(to index: Int, parts: Int) throws -> Image? {
            var left = parts
            return try drawn.animation.frame(at: index) {
                left -= 1
                return left > 0
            }
        }
        #expect(try advance(to: 40, parts: 10) == nil)
        #expect(drawn.decoded == Array(0..<10))
        #expect(try advance(to: 40, parts: 10) == nil)
        #expect(try drawn.animation.frame(at: 2).pixelWidth == 8)
        drawn.forget()
        #expect(try advance(to: 40, parts: 21) != nil)
        #expect(drawn.decoded == Array(20...40))
    }

    @Test func `A damaged frame does not lose the frames drawn before it`() throws {
        let drawn = try DrawnAnimation(count: 64, bad: [50])
        for index in 0..<50 { _ = try drawn.animation.frame(at: index) }
        drawn.forget()
        for index in 50..<64 {
            #expect(throws: WebImageError.self) { try drawn.animation.frame(at: index) }
        }
        #expect(drawn.decoded == Array(repeating: 50, count: 14))
        #expect(try drawn.animation.frame(at: 49).pixelWidth == 8)
        #expect(drawn.decoded.count == 14)
    }

    @Test func `In order no other canvas is kept, and independent frames keep none`() throws {
        let drawn = try DrawnAnimation(count: 20)
        for step in 0..<60 { _ = try drawn.animation.frame(at: step % 20) }
        #expect(drawn.animation.keptCanvasCount == 0)
        let whole = (0..<20).map { _ in AnimationFrame(width: 8, height: 4, duration: 0.1, replaces: true) }
        let independent = try DrawnAnimation(count: 20, frames: whole)
        for index in [5, 4, 19, 3, 7, 0] { _ = try independent.animation.frame(at: index) }
        #expect(independent.decoded == [5, 4, 19, 3, 7, 0] && independent.animation.keptCanvasCount == 0)
    }

    @Test func `Keyframes are limited, big canvases are not kept, and the decode limits count`() throws {
        var generator = SeededGenerator(seed: 3)
        func most(_ size: (Int, Int), limit: Int = 1 << 30, restores: Bool = false) throws -> Int {
            var options = ImageDecodeOptions()
            options.limits.maximumDecodedByteCount = limit
            var frames = DrawnAnimation.kept(60)
            if restores { frames[30].disposal = .previous }
            let drawn = try DrawnAnimation(count: 60, size: size, frames: frames, options: options)
            var most = 0
            for index in (0..<60).reversed() {
                _ = try drawn.animation.frame(at: index % 2 == 0 ? index : Int.random(in: 0..<60, using: &generator))
                most = max(most, drawn.animation.keptCanvasCount)
            }
            return most
        }
        #expect(try most((8, 4)) == 16)
        let megabytes = { (count: Int) in (512, 512 * count) }
        #expect(try most(megabytes(8)) == 4)
        #expect(try most(megabytes(8), restores: true) == 2)
        #expect(try most(megabytes(33)) == 0)
        #expect(try most((8, 4), limit: 8 * 4 * 4 * 3) == 2)
    }

    @Test func `During playback the decoder keeps only the canvas that the next frame is drawn on`() throws {
        let drawn = try DrawnAnimation(count: 64)
        let image = try AnimatedImage(provider: drawn.animation)
        _ = try image.frame(at: 40)
        _ = try image.frame(at: 20)
        #expect(drawn.animation.keptCanvasCount > 0)
        image.beginPlaying()
        image.releaseDecoder()
        drawn.forget()
        #expect(drawn.animation.keptCanvasCount == 0)
        _ = try image.frame(at: 21)
        #expect(drawn.decoded == [21])
        image.endPlaying()
        image.releaseDecoder()
        drawn.forget()
        _ = try image.frame(at: 22)
        #expect(drawn.decoded == Array(0...22))
    }
}
