import TestSupport
import Testing

@testable import WebImagePlayer

/// Plays only with numbers: every frame is available at once unless a test says otherwise.
private struct Play {
    var playback: AnimationPlayback
    var durations: [Double]
    var missing: Set<Int> = []
    var shown: [Int] = []
    var loops: [Int] = []
    var isOver = false

    init(_ durations: [Double], loops: Int = 0, mode: AnimationPlaybackMode = .normal) {
        self.durations = durations
        playback = AnimationPlayback(frameCount: durations.count, totalLoopCount: loops)
        playback.mode = mode
        playback.start()
    }

    mutating func tick(_ elapsed: Double) {
        let (durations, missing) = (durations, missing)
        for action in playback.tick(elapsed, duration: { durations[$0] }, isThere: { !missing.contains($0) }) {
            switch action {
            case .show(let index): shown.append(index)
            case .loop(let count): loops.append(count)
            case .stop: isOver = true
            }
        }
    }

    mutating func ticks(_ count: Int, _ elapsed: Double = 1) {
        for _ in 0..<count where !isOver { tick(elapsed) }
    }
}

@Suite struct AnimationPlaybackTests {
    @Test(arguments: [
        (AnimationPlaybackMode.normal, [0, 1, 2, 3, 0, 1, 2, 3, 0]),
        (.reverse, [3, 2, 1, 0, 3, 2, 1, 0, 3]),
        (.bounce, [0, 1, 2, 3, 2, 1, 0, 1, 2]),
        (.reversedBounce, [3, 2, 1, 0, 1, 2, 3, 2, 1]),
    ])
    func `Each mode has its order`(mode: AnimationPlaybackMode, order: [Int]) {
        var play = Play([1, 1, 1, 1], mode: mode)
        play.ticks(order.count)
        #expect(play.shown == order)
    }

    @Test func `The first frame is shown at once, and its time begins then`() {
        var play = Play([1, 1])
        play.tick(0)
        #expect(play.shown == [0])
        play.tick(0.9)
        #expect(play.shown == [0])
        play.tick(0.1)
        #expect(play.shown == [0] && play.playback.index == 1)
        play.tick(0)
        #expect(play.shown == [0, 1])
    }

    @Test func `Each frame is shown for its duration`() {
        var play = Play([0.1, 0.3, 0.2])
        var times: [Double] = []
        for tick in 0..<120 {
            let count = play.shown.count
            play.tick(tick == 0 ? 0 : 0.01)
            if play.shown.count > count { times.append(Double(tick) * 0.01) }
        }
        let expected = [0, 0.11, 0.41, 0.61, 0.71, 1.01]
        #expect(times.count == expected.count)
        for (time, wanted) in zip(times, expected) { #expect(abs(time - wanted) < 0.015) }
    }

    @Test(arguments: [60, 90, 120, 24]) func `The screen's refresh rate does not matter`(rate: Int) {
        var play = Play([0.1, 0.1, 0.1, 0.1, 0.1])
        play.ticks(5 * rate, 1 / Double(rate))
        #expect(abs(play.shown.count - 50) <= 1, "50 frames in 5 seconds, \(play.shown.count)")
    }

    @Test(arguments: [(0.5, 25), (2.0, 100), (4.0, 200)]) func `The playback rate slows down or speeds up`(
        rate: Double,
        frames: Int
    ) {
        var play = Play([0.1, 0.1, 0.1])
        play.playback.rate = rate
        play.ticks(1000, 0.005)
        #expect(abs(play.shown.count - frames) <= 2)
    }

    @Test func `No frame is skipped, however much time has passed`() {
        var play = Play([0.1, 0.1, 0.1, 0.1])
        play.ticks(1, 0)
        play.ticks(4, 1000)
        #expect(play.shown == [0, 1, 2, 3])
        // The surplus is one frame at most: playback does not race to catch up.
        let count = play.shown.count
        play.ticks(10, 0.05)
        #expect(play.shown.count - count <= 7)
    }

    @Test func `A missing frame is waited for, and its time begins when it is shown`() {
        var play = Play([0.1, 0.1, 0.1])
        play.missing = [1]
        play.ticks(10, 0.1)
        #expect(play.shown == [0] && play.playback.index == 1)
        play.missing = []
        play.ticks(1, 0.05)
        #expect(play.shown == [0, 1])
        play.ticks(1, 0.04)
        #expect(play.shown == [0, 1])
    }

    @Test func `Loops are counted when the first frame is next, and the last one ends playback`() {
        var play = Play([1, 1, 1], loops: 2)
        play.ticks(100)
        #expect(play.shown == [0, 1, 2, 0, 1, 2] && play.loops == [1, 2] && play.isOver)
    }

    @Test(arguments: [
        (AnimationPlaybackMode.reverse, [2, 1]), (.bounce, [0, 1, 2, 1]), (.reversedBounce, [2, 1]),
    ])
    func `In other modes too a loop ends when the first frame is next`(mode: AnimationPlaybackMode, shown: [Int]) {
        var play = Play([1, 1, 1], loops: 1, mode: mode)
        play.ticks(100)
        #expect(play.shown == shown && play.loops == [1] && play.isOver)
    }

    @Test func `An infinite loop count never ends`() {
        var play = Play([1, 1])
        play.ticks(1000)
        #expect(play.loops.count >= 499 && !play.isOver)
    }

    @Test func `Without a rate or a second frame playback ends`() {
        var play = Play([1, 1])
        play.playback.rate = 0
        play.tick(1)
        #expect(play.isOver && play.shown.isEmpty)
        var single = Play([1])
        single.tick(1)
        #expect(single.isOver)
        var none = Play([])
        none.tick(1)
        #expect(none.isOver && none.playback.upcoming(3).isEmpty)
    }

    @Test func `Times that go back are ignored`() {
        var play = Play([1, 1])
        play.ticks(1, 0)
        play.ticks(10, -5)
        play.ticks(1, 0.9)
        #expect(play.playback.index == 0)
        play.ticks(1, 0.1)
        #expect(play.playback.index == 1)
    }

    @Test func `Seeking goes to a frame and keeps the rest of the state, and an invalid index is ignored`() {
        var play = Play([1, 1, 1])
        play.ticks(2)
        let isDone = play.playback.seek(to: 2, loopCount: 7)
        #expect(isDone)
        #expect(play.playback.index == 2 && play.playback.loopCount == 7 && !play.playback.isPending)
        for index in [-1, 3, Int.max] {
            let isDone = play.playback.seek(to: index, loopCount: 0)
            #expect(!isDone)
        }
        #expect(play.playback.index == 2 && play.playback.loopCount == 7)
    }

    @Test func `After a reset playback starts again`() {
        var play = Play([1, 1, 1], loops: 1)
        play.ticks(100)
        play.playback.reset()
        #expect(play.playback.index == 0 && play.playback.loopCount == 0 && play.playback.isPending)
        play.isOver = false
        play.shown = []
        play.ticks(100)
        #expect(play.shown == [0, 1, 2])
    }

    @Test func `The next frames are listed in the order they are needed`() {
        var play = Play([1, 1, 1, 1])
        #expect(play.playback.upcoming(3) == [0, 1, 2])
        play.tick(0)
        #expect(play.playback.upcoming(3) == [1, 2, 3])
        #expect(play.playback.upcoming(1) == [1])
        #expect(play.playback.upcoming(100) == [1, 2, 3, 0])
        var bounce = Play([1, 1, 1], mode: .reversedBounce)
        bounce.tick(0)
        #expect(bounce.playback.upcoming(3) == [1, 0])
    }

    @Test func `The remaining time is reported`() {
        var play = Play([1, 2])
        let durations = play.durations
        #expect(play.playback.remaining { durations[$0] } == 0)
        play.tick(0)
        play.tick(0.25)
        #expect(play.playback.remaining { durations[$0] } == 0.75)
        play.playback.rate = 2
        #expect(play.playback.remaining { durations[$0] } == 0.25)
    }

    @Test func `In any history frames follow each other in order`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let count = Int.random(in: 2...6, using: &generator)
            let mode = AnimationPlaybackMode.allCases.randomElement(using: &generator) ?? .normal
            var play = Play((0..<count).map { _ in Double.random(in: 0.01...0.2, using: &generator) }, mode: mode)
            for _ in 0..<100 {
                play.missing = Set((0..<count).filter { _ in Bool.random(using: &generator) })
                play.tick(Double.random(in: -0.1...0.5, using: &generator))
            }
            for (former, next) in zip(play.shown, play.shown.dropFirst()) {
                let step = (next - former + count) % count
                #expect(step == 1 || step == count - 1)
                if mode == .normal { #expect(step == 1) }
                if mode == .reverse { #expect(step == count - 1) }
            }
        }
    }

    @Test func `The number of loops does not overflow`() {
        var playback = AnimationPlayback(frameCount: 3, totalLoopCount: 0)
        let isThere = playback.seek(to: 2, loopCount: .max)
        #expect(isThere)
        let actions = playback.tick(1, duration: { _ in 0.1 }, isThere: { _ in true })
        #expect(actions == [.loop(.max)] && playback.loopCount == .max)
    }
}
