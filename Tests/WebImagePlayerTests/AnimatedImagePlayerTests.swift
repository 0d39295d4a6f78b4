import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImagePlayer
@testable import WebImageSupport

/// A player whose decoding runs when the test says so.
private final class Stage {
    let animation: NumberedAnimation
    let queue = WorkQueue(stepped: "frames")
    let pools: AnimationFramePools
    let player: AnimatedImagePlayer?
    var shown: [Int] = []
    var loops: [Int] = []
    var time = 100.0

    init(count: Int = 4, loops: Int = 0, bad: Set<Int> = [], pools: AnimationFramePools? = nil) {
        animation = NumberedAnimation(count: count, loops: loops, bad: bad)
        self.pools = pools ?? AnimationFramePools(queue: queue)
        player = AnimatedImagePlayer(provider: animation, pools: self.pools)
        player?.maxBufferSize = .max
        player?.animationFrameHandler = { [unowned self] index, frame in
            shown.append(index)
            // The scale encodes the frame's index.
            if frame.scale != Double(index + 1) { shown.append(-1) }
        }
        player?.animationLoopHandler = { [unowned self] in self.loops.append($0) }
    }

    /// Decodes the requested frames.
    func decode() { while let job = queue.takeNext() { job() } }

    func tick(_ elapsed: Double = 0.1, decodes: Bool = true) {
        if decodes { decode() }
        time += elapsed
        player?.update(at: time)
    }

    func play(_ ticks: Int) { for _ in 0..<ticks { tick() } }
}

@Suite struct AnimatedImagePlayerTests {
    @Test func `A still image has no player`() throws {
        #expect(AnimatedImagePlayer(provider: NumberedAnimation(count: 1)) == nil)
        let image = Image(bitmap: try .allocate(width: 1, height: 1, pixelFormat: .rgb8))
        #expect(AnimatedImagePlayer(image: image) == nil)
    }

    @Test func `The properties have SDWebImage's defaults`() throws {
        let stage = Stage(count: 4, loops: 3)
        let player = try #require(stage.player)
        #expect(player.totalFrameCount == 4 && player.totalLoopCount == 3 && player.playbackRate == 1)
        #expect(player.playbackMode == .normal && !player.isPlaying && player.currentFrame == nil)
        #expect(player.currentFrameIndex == 0 && player.currentLoopCount == 0)
        #expect(try #require(AnimatedImagePlayer(provider: NumberedAnimation(count: 2))).maxBufferSize == 0)
        player.playbackRate = .nan
        player.totalLoopCount = -1
        #expect(player.playbackRate == 1 && player.totalLoopCount == 0)
    }

    @Test func `A player shows each frame in its time, each decoded once`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.startPlaying()
        #expect(stage.shown.isEmpty, "no handler is called by the start")
        stage.play(40)
        #expect(stage.shown.prefix(9) == [0, 1, 2, 3, 0, 1, 2, 3, 0])
        #expect(stage.animation.requests == [0, 1, 2, 3])
        #expect(stage.loops.prefix(2) == [1, 2] && player.currentFrame != nil)
    }

    @Test(arguments: AnimationPlaybackMode.allCases)
    func `Each mode plays in its order`(mode: AnimationPlaybackMode) throws {
        let stage = Stage(count: 3)
        let player = try #require(stage.player)
        player.playbackMode = mode
        player.startPlaying()
        stage.play(7)
        let expected: [AnimationPlaybackMode: [Int]] = [
            .normal: [0, 1, 2, 0, 1], .reverse: [2, 1, 0, 2, 1], .bounce: [0, 1, 2, 1, 0],
            .reversedBounce: [2, 1, 0, 1, 2],
        ]
        #expect(Array(stage.shown.prefix(5)) == expected[mode])
    }

    @Test func `When a frame is late the animation waits for it`() throws {
        let stage = Stage()
        try #require(stage.player).startPlaying()
        stage.tick(0)
        #expect(stage.shown == [0])
        let later = Stage()
        try #require(later.player).startPlaying()
        for _ in 0..<10 { later.tick(1, decodes: false) }
        #expect(later.shown.isEmpty)
        later.play(3)
        #expect(later.shown == [0, 1, 2])
    }

    @Test func `A frame that cannot be decoded leaves the one before it`() throws {
        let stage = Stage(bad: [1])
        let player = try #require(stage.player)
        player.startPlaying()
        stage.play(6)
        #expect(stage.shown.prefix(4) == [0, 2, 3, 0])
        #expect(stage.animation.requests.filter { $0 == 1 }.count == 1, "and is not tried again and again")
    }

    @Test func `After its loops a player ends, back at the beginning, and can be played again`() throws {
        let stage = Stage(count: 3, loops: 2)
        let player = try #require(stage.player)
        for _ in 0..<2 {
            stage.shown = []
            stage.loops = []
            player.startPlaying()
            stage.play(30)
            #expect(stage.shown == [0, 1, 2, 0, 1, 2] && stage.loops == [1, 2])
            #expect(!player.isPlaying && player.currentFrameIndex == 0 && player.currentLoopCount == 0)
        }
    }

    @Test func `A pause keeps the position, and its time does not count`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.startPlaying()
        stage.play(3)
        let (shown, index) = (stage.shown, player.currentFrameIndex)
        player.pausePlaying()
        stage.play(20)
        #expect(stage.shown == shown && player.currentFrameIndex == index && !player.isPlaying)
        stage.time += 1000
        player.startPlaying()
        player.startPlaying()
        stage.tick(0.01)
        stage.tick(0.01)
        #expect(stage.shown.count <= shown.count + 1)
    }

    @Test func `A stop returns to the beginning without a handler, and keeps the frames`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.startPlaying()
        stage.play(7)
        let (shown, loops) = (stage.shown, stage.loops)
        player.stopPlaying()
        #expect(player.currentFrame == nil && player.currentFrameIndex == 0 && player.currentLoopCount == 0)
        #expect(stage.shown == shown && stage.loops == loops)
        player.startPlaying()
        stage.play(4)
        #expect(stage.animation.requests == [0, 1, 2, 3], "no frame was decoded again")
    }

    @Test func `Seeking shows the frame before it returns, playing or not`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        try player.seek(toFrameAt: 2, loopCount: 5)
        #expect(stage.shown == [2] && player.currentFrameIndex == 2 && player.currentLoopCount == 5)
        try player.seek(toFrameAt: 4, loopCount: 0)
        try player.seek(toFrameAt: -1, loopCount: 0)
        #expect(stage.shown == [2] && player.currentFrameIndex == 2 && player.currentLoopCount == 5)
        player.startPlaying()
        stage.play(4)
        #expect(stage.shown.prefix(3) == [2, 3, 0])
        let damaged = Stage(bad: [3])
        #expect(throws: WebImageError.self) { try damaged.player?.seek(toFrameAt: 3, loopCount: 0) }
    }

    @Test func `An asynchronous seek shows the frame when it is decoded, and decodes nothing on this thread`() throws {
        let stage = Stage(count: 9)
        let player = try #require(stage.player)
        player.startPlaying()
        stage.play(3)
        let shown = stage.shown
        player.beginSeeking(toFrameAt: 8, loopCount: 2)
        #expect(player.isSeeking && player.currentFrameIndex == 8 && player.currentLoopCount == 2)
        stage.tick(0, decodes: false)
        #expect(!stage.animation.requests.contains(8) && stage.shown == shown && player.timeUntilNextFrame == 0)
        stage.tick(0)
        #expect(stage.shown == shown + [8] && !player.isSeeking)
        player.beginSeeking(toFrameAt: 1, loopCount: 0)
        #expect(stage.shown == shown + [8, 1] && !player.isSeeking, "a frame in memory is shown at once")
        player.beginSeeking(toFrameAt: 9, loopCount: 0)
        player.beginSeeking(toFrameAt: -1, loopCount: 0)
        #expect(!player.isSeeking && player.currentFrameIndex == 1)
    }

    @Test func `A paused player follows a slider, and decodes only the last position`() throws {
        let stage = Stage(count: 100)
        let player = try #require(stage.player)
        for index in stride(from: 10, through: 90, by: 10) { player.beginSeeking(toFrameAt: index, loopCount: 0) }
        stage.tick()
        #expect(stage.shown == [90] && stage.animation.requests == [90] && !player.isSeeking && !player.isPlaying)
        for _ in 0..<5 { stage.tick() }
        #expect(stage.shown == [90] && stage.animation.requests == [90], "it does not play on")
        player.beginSeeking(toFrameAt: 50, loopCount: 0)
        player.stopPlaying()
        for _ in 0..<3 { stage.tick() }
        #expect(stage.shown == [90] && player.currentFrameIndex == 0 && !player.isSeeking)
        let damaged = Stage(bad: [3])
        damaged.player?.beginSeeking(toFrameAt: 3, loopCount: 0)
        for _ in 0..<3 { damaged.tick() }
        #expect(damaged.shown.isEmpty && damaged.player?.isSeeking == false)
    }

    @Test func `An asynchronous seek continues through a start and a pause`() throws {
        let stage = Stage(count: 9)
        let player = try #require(stage.player)
        player.beginSeeking(toFrameAt: 5, loopCount: 0)
        player.startPlaying()
        player.pausePlaying()
        stage.tick()
        #expect(stage.shown == [5] && !player.isSeeking)
        player.beginSeeking(toFrameAt: 7, loopCount: 0)
        player.startPlaying()
        stage.play(4)
        #expect(stage.shown.prefix(3) == [5, 7, 8] && !player.isSeeking)
    }

    @Test func `The display link runs until the frame of a seek has been shown`() throws {
        final class Link: AnimationDisplayLink {
            var tick: ((Double) -> Void)?
            var starts = 0
            func start(_ tick: @escaping (Double) -> Void) { (self.tick, starts) = (tick, starts + 1) }
            func stop() { tick = nil }
        }
        let stage = Stage(count: 9)
        let link = Link()
        let player = try #require(stage.player)
        player.displayLink = link
        player.beginSeeking(toFrameAt: 5, loopCount: 0)
        player.beginSeeking(toFrameAt: 6, loopCount: 0)
        #expect(link.starts == 1 && link.tick != nil)
        stage.decode()
        link.tick?(1)
        #expect(stage.shown == [6] && link.tick == nil)
        player.beginSeeking(toFrameAt: 2, loopCount: 0)
        player.startPlaying()
        #expect(link.starts == 2)
        stage.decode()
        link.tick?(2)
        #expect(stage.shown == [6, 2] && link.tick != nil, "it plays")
    }

    @Test func `A handler may stop, pause or seek`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.animationFrameHandler = { [unowned stage] index, _ in
            stage.shown.append(index)
            if index == 2 { stage.player?.stopPlaying() }
        }
        player.startPlaying()
        stage.play(20)
        #expect(stage.shown == [0, 1, 2] && !player.isPlaying && player.currentFrameIndex == 0)
        player.animationFrameHandler = nil
        player.animationLoopHandler = { [unowned stage] _ in stage.player?.pausePlaying() }
        player.startPlaying()
        stage.play(20)
        #expect(!player.isPlaying)
    }

    @Test func `The playback rate applies, and a rate of zero ends playback`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.playbackRate = 2
        player.startPlaying()
        for _ in 0..<20 { stage.tick(0.05) }
        #expect(stage.shown.count >= 18)
        player.playbackRate = 0
        stage.tick()
        #expect(!player.isPlaying && player.currentFrame == nil)
    }

    @Test func `Clock readings that go back, or are NaN, are ignored`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.startPlaying()
        stage.tick(0)
        for reading in [0, -1000, Double.nan, .infinity] { player.update(at: reading) }
        #expect(stage.shown == [0])
    }

    @Test func `The time until the next frame is reported`() throws {
        let stage = Stage()
        let player = try #require(stage.player)
        player.startPlaying()
        #expect(player.timeUntilNextFrame == 0)
        stage.tick(0)
        stage.tick(0.03)
        #expect(abs(player.timeUntilNextFrame - 0.07) < 1e-9)
    }

    @Test func `An animation that receives more frames continues`() throws {
        let stage = Stage(count: 6)
        let player = try #require(stage.player)
        player.totalFrameCount = 2
        player.startPlaying()
        stage.play(4)
        #expect(stage.shown == [0, 1, 0])
        player.totalFrameCount = 6
        stage.play(6)
        #expect(stage.shown == [0, 1, 0, 1, 2, 3, 4, 5, 0])
    }

    @Test func `An image's first frame is shown without decoding it again`() throws {
        let animation = NumberedAnimation(count: 3)
        let queue = WorkQueue(stepped: "frames")
        let image = try AnimatedImage(provider: animation)
        let player = try #require(AnimatedImagePlayer(provider: image, pools: AnimationFramePools(queue: queue)))
        var shown: [Image] = []
        player.animationFrameHandler = { shown.append($1) }
        player.startPlaying()
        player.update(at: 1)
        #expect(shown.count == 1 && shown.first === image.image && animation.requests == [0])
    }

    @Test func `The display link runs only during playback`() throws {
        final class Link: AnimationDisplayLink {
            var tick: ((Double) -> Void)?
            var starts = 0
            func start(_ tick: @escaping (Double) -> Void) { (self.tick, starts) = (tick, starts + 1) }
            func stop() { tick = nil }
        }
        let link = Link()
        let second = Link()
        let queue = WorkQueue(stepped: "frames")
        let animation = NumberedAnimation(count: 3, loops: 1)
        var player = AnimatedImagePlayer(provider: animation, pools: AnimationFramePools(queue: queue))
        var shown: [Int] = []
        player?.animationFrameHandler = { index, _ in shown.append(index) }
        player?.displayLink = link
        #expect(link.tick == nil)
        player?.startPlaying()
        while let job = queue.takeNext() { job() }
        link.tick?(5)
        #expect(shown == [0] && link.starts == 1)
        player?.displayLink = second
        #expect(link.tick == nil && second.tick != nil)
        player?.pausePlaying()
        #expect(second.tick == nil)
        player?.startPlaying()
        #expect(second.tick != nil)
        player = nil
        #expect(second.tick == nil, "a released player stops it")
    }
}
