import CodecsTestSupport
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImagePlayer
@testable import WebImageSupport

/// An animation of numbered frames that counts its calls.
private final class CountingProvider: AnimatedImageProvider {
    let count: Int
    let bad: Set<Int>
    private let asked = Lock<[Int]>([])

    init(count: Int, bad: Set<Int> = []) { (self.count, self.bad) = (count, bad) }

    var requests: [Int] { asked.withLock { $0 } }
    var animatedImageData: Data? { Data([1]) }
    var frameCount: Int { count }
    var loopCount: Int { 2 }
    func duration(at index: Int) -> Double { Double(index) }

    func frame(at index: Int) throws(WebImageError) -> Image {
        asked.withLock { $0.append(index) }
        guard index < count, !bad.contains(index) else { throw WebImageError(.badImageData, "bad") }
        return Image(bitmap: try .allocate(width: 2, height: 2, pixelFormat: .rgb8), scale: Double(index + 1))
    }
}

@Suite struct AnimatedImageTests {
    @Test func `An animated image shows the first frame, and decodes the others on request`() throws {
        let provider = CountingProvider(count: 3)
        let image = try AnimatedImage(provider: provider)
        #expect(provider.requests == [0])
        #expect(
            image.image.metadata.frameCount == 3 && image.image.metadata.loopCount == 2
                && image.image.metadata.isAnimated
        )
        #expect(image.frameCount == 3 && image.loopCount == 2 && image.duration(at: 2) == 2)
        #expect(try image.frame(at: 2).scale == 3)
        #expect(provider.requests == [0, 2])
        #expect(image.animatedImageData == Data([1]))
    }

    @Test func `Preloaded frames are kept until they are unloaded, and count with the encoded bytes`() throws {
        let provider = CountingProvider(count: 3)
        let image = try AnimatedImage(provider: provider)
        #expect(!image.isAllFramesLoaded && image.memoryCost == image.image.pixelByteCount + 1)
        try image.preloadAllFrames()
        try image.preloadAllFrames()
        #expect(provider.requests == [0, 0, 1, 2] && image.isAllFramesLoaded)
        #expect(image.memoryCost == 3 * image.image.pixelByteCount + 1)
        #expect(try image.frame(at: 1) === (try image.frame(at: 1)) && provider.requests.count == 4)
        image.unloadAllFrames()
        #expect(!image.isAllFramesLoaded)
        _ = try image.frame(at: 1)
        #expect(provider.requests.count == 5)
    }

    @Test func `If frames have more bytes than the first image, those count`() throws {
        // The first frame covers everything and is opaque, so that it is decoded as RGB; areas erased after it are
        // transparent.
        var frames = DrawnAnimation.kept(4)
        frames[0] = AnimationFrame(width: 8, height: 4, duration: 0.1, disposal: .background, isOpaque: true)
        var options = ImageDecodeOptions()
        func picture(limit: Int) throws -> AnimatedImage {
            options.limits.maximumDecodedByteCount = limit
            let drawn = try DrawnAnimation(count: 4, frames: frames, options: options)
            let first = Image(
                bitmap: try .allocate(width: 8, height: 4, pixelFormat: .rgb8),
                scale: 1,
                metadata: ImageMetadata(),
                decodeOptions: options
            )
            return AnimatedImage(provider: drawn.animation, first: first)
        }
        let image = try picture(limit: 4 * 8 * 4 * 4)
        #expect(image.memoryCost == 8 * 4 * 3)
        try image.preloadAllFrames()
        #expect(image.memoryCost == 4 * 8 * 4 * 4)
        let error = #expect(throws: WebImageError.self) { try picture(limit: 4 * 8 * 4 * 4 - 1).preloadAllFrames() }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `A buffer of a number of bytes holds the frames that fit into it`() throws {
        let queue = WorkQueue(stepped: "frames")
        let pools = AnimationFramePools(queue: queue)
        var frames = DrawnAnimation.kept(20)
        frames[0] = AnimationFrame(width: 8, height: 4, duration: 0.1, disposal: .background, isOpaque: true)
        let drawn = try DrawnAnimation(count: 20, frames: frames)
        let first = Image(bitmap: try .allocate(width: 8, height: 4, pixelFormat: .rgb8))
        let image = AnimatedImage(provider: drawn.animation, first: first)
        let player = try #require(AnimatedImagePlayer(provider: image, pools: pools))
        player.maxBufferSize = 12 * 8 * 4
        let (pool, id) = pools.join(image)
        defer { pools.leave(pool, player: id) }
        player.startPlaying()
        for step in 0..<30 {
            while let job = queue.takeNext() { job() }
            player.update(at: Double(step) * 0.1)
            #expect(pool.count <= 3)
        }
    }

    @Test func `With all frames preloaded, a damaged frame shows the one before it`() throws {
        let image = try AnimatedImage(provider: CountingProvider(count: 3, bad: [1]))
        try image.preloadAllFrames()
        #expect(try image.frame(at: 1) === (try image.frame(at: 0)))
        #expect(throws: WebImageError.self) { try AnimatedImage(provider: CountingProvider(count: 3, bad: [0])) }
    }

    @Test func `Encoded animations are animated, and still images have one frame`() throws {
        let moving = try AnimatedImage(data: try Fixtures.data("Animation/pillow.gif"))
        #expect(moving.frameCount == 6 && moving.loopCount == 3 && moving.format == .gif)
        #expect(moving.image.metadata.frameCount == 6)
        for name in ["GIF/photo.gif", "JPEG/photo.jpg", "PNG/photo-rgb.png", "WebP/lossy.webp"] {
            let still = try AnimatedImage(data: try Fixtures.data(name))
            #expect(still.frameCount == 1 && still.loopCount == 0 && still.animatedImageData == nil)
            #expect(try still.frame(at: 0) === still.image && still.isAllFramesLoaded)
            #expect(throws: WebImageError.self) { try still.frame(at: 1) }
        }
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        let first = try AnimatedImage(data: try Fixtures.data("Animation/pillow.gif"), options: options)
        #expect(first.frameCount == 1 && first.image.metadata.isFirstFrame)
        let error = #expect(throws: WebImageError.self) { try AnimatedImage(data: Data("no picture".utf8)) }
        #expect(error?.code == .badImageData)
    }

    @Test func `Preloading more than the limit is an error, and keeps nothing`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumDecodedByteCount = 48 * 36 * 4 + 100
        let image = try AnimatedImage(data: try Fixtures.data("Animation/pillow.gif"), options: options)
        let error = #expect(throws: WebImageError.self) { try image.preloadAllFrames() }
        #expect(error?.limit?.name == "maximumDecodedByteCount" && !image.isAllFramesLoaded)
    }
}
