import CodecsTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImagePlayer
@testable import WebImageSupport

/// Scheduling of frames: among pools of one decoder, among animations, and beside loads.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct AnimationLaneTests {
    private let queue = WorkQueue(stepped: "frames")

    private func decode(_ count: Int = .max) {
        var left = count
        while left > 0, let job = queue.takeNext() {
            job()
            left -= 1
        }
    }

    @Test func `Pools of one decoder have one job at a time, and equal turns`() throws {
        let drawn = try DrawnAnimation(count: 64)
        let pools = AnimationFramePools(queue: queue)
        let image = try AnimatedImage(provider: drawn.animation)
        let variant = image.mapped(first: image.image) { (frame) throws(WebImageError) in frame }
        let providers: [any AnimatedImageProvider] = [drawn.animation, image, variant]
        let joined = providers.map { pools.join($0) }
        defer { for (pool, player) in joined { pools.leave(pool, player: player) } }
        #expect(pools.count == 3)
        for (pool, player) in joined { pool.wish(player, for: [1, 2, 3, 4], isWaiting: false, byteLimit: .max) }
        #expect(queue.waitingCount == 1, "no thread waits for another's frame")
        decode(3)
        #expect(joined.map { $0.pool.count } == [1, 1, 1])
        decode(6)
        #expect(joined.map { $0.pool.count } == [3, 3, 3])
        decode()
        #expect(joined.map { $0.pool.count } == [4, 4, 4])
    }

    @Test func `A frame that is due precedes frames decoded ahead, also of another animation`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animations = [NumberedAnimation(count: 30), NumberedAnimation(count: 30)]
        let joined = animations.map { pools.join($0) }
        defer { for (pool, player) in joined { pools.leave(pool, player: player) } }
        for (pool, player) in joined { pool.wish(player, for: [0], isWaiting: true, byteLimit: .max) }
        decode()
        joined[0].pool.wish(joined[0].player, for: [1, 2, 3, 4], isWaiting: false, byteLimit: .max)
        decode(1)
        joined[1].pool.wish(joined[1].player, for: [7, 8], isWaiting: true, byteLimit: .max)
        decode(1)
        #expect(animations.map(\.requests) == [[0, 1], [0, 7]])
        decode()
        #expect(animations.map(\.requests) == [[0, 1, 2, 3, 4], [0, 7, 8]])
    }

    @Test func `A waiting job gets the priority of its most urgent frame`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animations = [NumberedAnimation(count: 30), NumberedAnimation(count: 30)]
        let joined = animations.map { pools.join($0) }
        defer { for (pool, player) in joined { pools.leave(pool, player: player) } }
        for (pool, player) in joined { pool.wish(player, for: [0], isWaiting: false, byteLimit: .max) }
        joined[1].pool.wish(joined[1].player, for: [5], isWaiting: true, byteLimit: .max)
        decode(1)
        #expect(animations.map(\.requests) == [[], [5]])
    }

    @Test func `Endless animations do not starve loads, nor loads animations`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let blocked = try (0..<2 * CodingQueue.processorCount).map { _ in
            try DrawnAnimation(count: 9) { _ in gate.wait() }
        }
        let players = blocked.compactMap { AnimatedImagePlayer(provider: $0.animation) }
        for player in players { player.startPlaying() }
        #expect(await gate.arrivals(CodingQueue.processorCount), "frames hold all threads that they can get")
        let image = try await Image.decode(try Fixtures.data("GIF/photo.gif"))
        #expect(image.pixelWidth > 0)
        gate.open()
        let loads = Gate()
        defer { loads.open() }
        for _ in 0..<2 * CodingQueue.processorCount { CodingQueue.shared.submit(priority: .high) { loads.wait() } }
        #expect(await loads.arrivals(CodingQueue.processorCount))
        let shown = Monitor(false)
        let other = try DrawnAnimation(count: 9) { _ in shown.withLock { $0 = true } }
        let player = try #require(AnimatedImagePlayer(provider: other.animation))
        player.startPlaying()
        #expect(await shown.value { $0 ? true : nil } == true)
    }

    @Test func `Two players out of phase, with memory for one frame, decode each frame once`() throws {
        let drawn = try DrawnAnimation(count: 64)
        let pools = AnimationFramePools(queue: queue)
        let players = (0..<2).compactMap { _ in AnimatedImagePlayer(provider: drawn.animation, pools: pools) }
        for player in players { player.maxBufferSize = 1 }
        try players[1].seek(toFrameAt: 32, loopCount: 0)
        for player in players { player.startPlaying() }
        var time = 0.0
        func play(_ ticks: Int) {
            for _ in 0..<ticks {
                decode()
                for player in players { player.update(at: time) }
                time += 0.1
            }
        }
        play(8)
        drawn.forget()
        play(64)
        #expect(drawn.decoded.count <= 2 * 64 + 2, "\(drawn.decoded.count)")
    }

    @Test func `Two variants of an image decode each frame once, at any distance`() throws {
        let drawn = try DrawnAnimation(count: 64)
        let pools = AnimationFramePools(queue: queue)
        let image = try AnimatedImage(provider: drawn.animation)
        let variants = (0..<2).map { _ in
            image.mapped(first: image.image) { (frame) throws(WebImageError) in frame }
        }
        let players = variants.compactMap { AnimatedImagePlayer(provider: $0, pools: pools) }
        for player in players { player.maxBufferSize = 1 }
        players[0].startPlaying()
        var time = 0.0
        for tick in 0..<90 {
            if tick == 10 {
                players[1].startPlaying()
                drawn.forget()
            }
            decode()
            for player in players { player.update(at: time) }
            time += 0.1
        }
        #expect(drawn.decoded.count <= 2 * 80 + 2, "\(drawn.decoded.count)")
    }

    @Test func `The decoding on the way to a frame is cancelled when nobody wants the frame any more`() throws {
        let drawn = try DrawnAnimation(count: 1000)
        let pools = AnimationFramePools(queue: queue)
        var player = AnimatedImagePlayer(provider: drawn.animation, pools: pools)
        player?.playbackMode = .reverse
        player?.startPlaying()
        decode(3)
        let begun = drawn.decoded.count
        #expect((1...30).contains(begun) && queue.waitingCount == 1, "a turn is a few frames long")
        player = nil
        decode()
        #expect(drawn.decoded.count == begun && player == nil)
    }

    @Test func `A running turn is cancelled between frames when nobody wants the frame any more`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let drawn = try DrawnAnimation(count: 1000) { _ in gate.wait() }
        let pools = AnimationFramePools()
        let (pool, player) = pools.join(drawn.animation)
        pool.wish(player, for: [999], isWaiting: true, byteLimit: .max)
        #expect(await gate.arrivals())
        pools.leave(pool, player: player)
        // Only the frame being decoded: a job that starts after it finds that all is over.
        gate.open()
        let done = Monitor(false)
        pool.lane.releaseDecoder {
            done.withLock { $0 = true }
            return false
        }
        #expect(await done.value { $0 ? true : nil } == true)
        // It may have begun on another thread; the decoder's lock shows when the turn is over.
        _ = drawn.animation.keptCanvasCount
        #expect(drawn.decoded.count == 1)
    }

    @Test func `Backwards a player decodes a few frames for each that it shows`() throws {
        let drawn = try DrawnAnimation(count: 300)
        let pools = AnimationFramePools(queue: queue)
        let player = try #require(AnimatedImagePlayer(provider: drawn.animation, pools: pools))
        player.maxBufferSize = 1
        player.playbackMode = .reverse
        var shown: [Int] = []
        player.animationFrameHandler = { index, _ in shown.append(index) }
        player.startPlaying()
        for step in 0..<302 {
            decode()
            player.update(at: Double(step) * 0.1)
        }
        #expect(shown.prefix(300) == ArraySlice((0..<300).reversed()))
        #expect(drawn.decoded.count < 300 * 6, "\(drawn.decoded.count)")
    }

    @Test func `After low memory a player continues where it was`() throws {
        let drawn = try DrawnAnimation(count: 64)
        let pools = AnimationFramePools(queue: queue)
        let player = try #require(AnimatedImagePlayer(provider: drawn.animation, pools: pools))
        player.maxBufferSize = .max
        player.startPlaying()
        var time = 0.0
        for _ in 0..<40 {
            decode()
            player.update(at: time)
            time += 0.1
        }
        drawn.forget()
        pools.removeAllFrames()
        player.clearFrameBuffer()
        drawn.animation.releaseDecoder()
        for _ in 0..<10 {
            decode()
            player.update(at: time)
            time += 0.1
        }
        #expect(drawn.decoded.count <= 12, "\(drawn.decoded)")
    }
}
