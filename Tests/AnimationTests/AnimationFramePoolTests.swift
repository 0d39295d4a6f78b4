import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImagePlayer
@testable import WebImageSupport

@Suite(.tags(.threadSanitizer)) struct AnimationFramePoolTests {
    private let queue = WorkQueue(stepped: "frames")

    private func decode() { while let job = queue.takeNext() { job() } }

    @Test func `Players of one animation share its frames`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 5)
        let players = (0..<9).compactMap { _ in AnimatedImagePlayer(provider: animation, pools: pools) }
        #expect(players.count == 9 && pools.count == 1)
        for player in players {
            player.maxBufferSize = .max
            player.startPlaying()
        }
        for step in 0..<30 {
            decode()
            for player in players { player.update(at: Double(step) * 0.1) }
        }
        #expect(animation.requests.sorted() == [0, 1, 2, 3, 4], "each was decoded once for all nine")
        #expect(players.allSatisfy { $0.currentFrame === players[0].currentFrame })
    }

    @Test func `Two animations have two pools, and a pool is released with its last player`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 3)
        var first = AnimatedImagePlayer(provider: animation, pools: pools)
        var second = AnimatedImagePlayer(provider: animation, pools: pools)
        let other = AnimatedImagePlayer(provider: NumberedAnimation(count: 3), pools: pools)
        #expect(pools.count == 2)
        first = nil
        #expect(pools.count == 2 && second != nil && first == nil)
        second?.startPlaying()
        decode()
        #expect(animation.requests == [0, 1, 2])
        second = nil
        decode()
        #expect(pools.count == 1 && animation.releaseCount == 1, "the decoder releases its canvas")
        withExtendedLifetime(other) {}
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func `No more frames are kept than the bytes allow`(frames: Int) throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 20)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        let (pool, id) = pools.join(animation)
        defer { pools.leave(pool, player: id) }
        player.maxBufferSize = frames * NumberedAnimation.frameByteCount
        player.startPlaying()
        for step in 0..<100 {
            while let job = queue.takeNext() {
                job()
                #expect(pool.count <= frames)
            }
            player.update(at: Double(step) * 0.1)
        }
        let loops = animation.requests.count / 20
        if frames >= 20 { #expect(loops == 1) } else { #expect(loops >= 2) }
    }

    @Test func `With a small buffer frames are decoded in order, each once per loop`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 10)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.maxBufferSize = 1
        player.startPlaying()
        for step in 0..<55 {
            decode()
            player.update(at: Double(step) * 0.1)
        }
        for (index, request) in animation.requests.enumerated() { #expect(request == index % 10) }
        #expect(animation.requests.count <= 57)
    }

    @Test func `Clearing drops all frames of a paused player, and playing decodes them again`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 3)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.maxBufferSize = .max
        player.startPlaying()
        decode()
        #expect(animation.requests.count == 3)
        player.stopPlaying()
        player.clearFrameBuffer()
        player.startPlaying()
        player.update(at: 1)
        #expect(player.currentFrame == nil)
        decode()
        player.update(at: 1.1)
        #expect(player.currentFrame != nil && animation.requests.count == 6)
    }

    @Test func `Clearing during playback keeps the next frames, and the canvas for the next one`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 20)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.maxBufferSize = .max
        player.startPlaying()
        for step in 0..<10 {
            decode()
            player.update(at: Double(step) * 0.1)
        }
        player.clearFrameBuffer()
        for step in 10..<16 {
            decode()
            player.update(at: Double(step) * 0.1)
        }
        #expect(animation.requests == Array(0..<animation.requests.count), "none was decoded twice, nor left out")
        #expect(animation.releaseCount == 0)
    }

    @Test func `Memory pressure drops the frames of all animations, except the next ones of playing ones`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animations = [NumberedAnimation(count: 9), NumberedAnimation(count: 9)]
        let players = animations.compactMap { AnimatedImagePlayer(provider: $0, pools: pools) }
        for player in players {
            player.maxBufferSize = .max
            player.startPlaying()
        }
        for step in 0..<5 {
            decode()
            for player in players { player.update(at: Double(step) * 0.1) }
        }
        decode()
        players[1].pausePlaying()
        let joined = animations.map { pools.join($0) }
        #expect(joined.allSatisfy { $0.pool.count > 4 })
        pools.removeAllFrames()
        decode()
        #expect(joined[0].pool.count == 4 && joined[1].pool.count == 0)
        #expect(animations.map(\.releaseCount) == [0, 1])
        for (pool, player) in joined { pools.leave(pool, player: player) }
    }

    @Test func `A paused player holds only the frames that the limit allows`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 40)
        let players = (0..<5).compactMap { _ in AnimatedImagePlayer(provider: animation, pools: pools) }
        let (pool, id) = pools.join(animation)
        defer { pools.leave(pool, player: id) }
        for (place, player) in players.enumerated() {
            player.maxBufferSize = 2 * NumberedAnimation.frameByteCount
            try player.seek(toFrameAt: place * 8, loopCount: 0)
            player.startPlaying()
        }
        for step in 0..<10 {
            while let job = queue.takeNext() {
                job()
                #expect(pool.count <= 5, "the next frame of each")
            }
            for player in players { player.update(at: Double(step) * 0.1) }
        }
        for player in players { player.pausePlaying() }
        #expect(pool.count <= 2)
        let count = animation.requests.count
        decode()
        #expect(animation.requests.count == count, "nothing is decoded for them")
    }

    @Test func `A released pool takes nothing from a new one of the same animation`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 9)
        var former = AnimatedImagePlayer(provider: animation, pools: pools)
        former?.startPlaying()
        decode()
        former = nil
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.startPlaying()
        decode()
        #expect(animation.releaseCount == 0)
        withExtendedLifetime(former) {}
    }

    @Test func `Frames requested before the player was released are not decoded`() throws {
        let pools = AnimationFramePools(queue: queue)
        let animation = NumberedAnimation(count: 9)
        var player = AnimatedImagePlayer(provider: animation, pools: pools)
        player?.startPlaying()
        player = nil
        decode()
        #expect(animation.requests.isEmpty && player == nil && animation.releaseCount == 1)
    }

    @Test func `Without a size the buffer depends on the available memory`() throws {
        let directory = TemporaryDirectory()
        let system = SystemMemory(root: directory.path)
        try FileManager.default.createDirectory(atPath: directory.path + "/proc", withIntermediateDirectories: true)
        func meminfo(_ total: Int, _ available: Int) throws {
            let text = "MemTotal: \(total) kB\nMemFree: 1 kB\nMemAvailable: \(available) kB\n"
            try text.write(toFile: directory.path + "/proc/meminfo", atomically: false, encoding: .utf8)
        }
        try meminfo(1_000_000, 900_000)
        #expect(AnimationBudget.byteCount(0, memory: system) == 204_800_000, "a fifth of all")
        try meminfo(1_000_000, 100_000)
        #expect(AnimationBudget.byteCount(0, memory: system) == 61_440_000, "three fifths of the free memory")
        let unknown = SystemMemory(root: directory.path + "/nothing")
        #expect(AnimationBudget.byteCount(0, memory: unknown) == 64 << 20)
        #expect(AnimationBudget.byteCount(1, memory: system) == 1)
        #expect(AnimationBudget.byteCount(.max, memory: system) == .max)
    }

    @Test func `On real threads every frame of a file is shown, in order`() async throws {
        let image = try AnimatedImage(data: try Fixtures.data("Animation/pillow.gif"))
        let player = try #require(AnimatedImagePlayer(provider: image))
        player.totalLoopCount = 2
        var shown: [Int] = []
        player.animationFrameHandler = { index, frame in
            shown.append(index)
            #expect(frame.pixelWidth == image.image.pixelWidth)
        }
        player.startPlaying()
        var time = 0.0
        while player.isPlaying, time < 1e6 {
            player.update(at: time)
            time += max(player.timeUntilNextFrame, 0.001)
            await Task.yield()
        }
        #expect(shown == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    }
}
