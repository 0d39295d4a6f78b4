import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImagePlayer
@testable import WebImageSupport

@Suite struct UnneededFramesTests {
    private let queue = WorkQueue(stepped: "frames")

    private func decode() { while let job = queue.takeNext() { job() } }

    private func play(_ player: AnimatedImagePlayer, _ ticks: ClosedRange<Int>) {
        for tick in ticks {
            decode()
            player.update(at: Double(tick) * 0.1)
        }
    }

    @Test func `An invisible player keeps the frames that it needs next, and continues without decoding others`()
        throws
    {
        let animation = NumberedAnimation(count: 20)
        let pools = AnimationFramePools(queue: queue)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.maxBufferSize = .max
        player.startPlaying()
        play(player, 0...9)
        decode()
        let (pool, id) = pools.join(animation)
        defer { pools.leave(pool, player: id) }
        #expect(pool.count > 10)
        let decoded = animation.requests
        player.dropFramesOfThePast()
        player.pausePlaying()
        decode()
        #expect((1...5).contains(pool.count))
        player.startPlaying()
        decode()
        #expect(animation.requests == decoded)
        play(player, 10...12)
        #expect(animation.requests == Array(0..<animation.requests.count), "each was decoded once")
    }

    @Test func `Frames stay while another player of the animation plays`() throws {
        let animation = NumberedAnimation(count: 20)
        let pools = AnimationFramePools(queue: queue)
        let players = try (0..<2).map { _ in try #require(AnimatedImagePlayer(provider: animation, pools: pools)) }
        for player in players {
            player.maxBufferSize = .max
            player.startPlaying()
        }
        play(players[0], 0...9)
        let (pool, id) = pools.join(animation)
        defer { pools.leave(pool, player: id) }
        let count = pool.count
        players[0].dropFramesOfThePast()
        #expect(pool.count == count && count > 10)
        players[1].pausePlaying()
        players[0].dropFramesOfThePast()
        #expect(pool.count <= 5)
    }

    @Test func `A tick without a change requests nothing`() throws {
        let animation = NumberedAnimation(count: 20)
        let pools = AnimationFramePools(queue: queue)
        let player = try #require(AnimatedImagePlayer(provider: animation, pools: pools))
        player.maxBufferSize = 1
        player.startPlaying()
        play(player, 0...0)
        decode()
        let requests = animation.requests.count
        // A tenth of a frame's time each.
        for tick in 1...5 { player.update(at: Double(tick) * 0.01) }
        decode()
        #expect(animation.requests.count == requests)
        player.maxBufferSize = .max
        player.update(at: 0.06)
        decode()
        #expect(animation.requests.count > requests, "its requests are checked again")
    }
}
