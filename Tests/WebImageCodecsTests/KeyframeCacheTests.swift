import ModelTestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct KeyframeCacheTests {
    @Test func `The nearest canvas is found, not after the frame nor before the point where drawing can begin`() {
        var cache = KeyframeCache<Int>(capacity: 8)
        func take(_ index: Int) -> Int? { cache.take(index) }
        func look(_ index: Int) -> Int? { cache.look(index) }
        #expect(cache.nearest(to: 5, from: 0) == nil)
        cache.park(10, at: 1)
        cache.leave(30, at: 3)
        cache.park(60, at: 6)
        #expect(cache.nearest(to: 5, from: 0).map { $0 == (3, true) } == true)
        #expect(cache.nearest(to: 6, from: 0).map { $0 == (6, false) } == true)
        #expect(cache.nearest(to: 2, from: 0).map { $0 == (1, false) } == true)
        #expect(cache.nearest(to: 2, from: 2) == nil && cache.nearest(to: 0, from: 0) == nil)
        #expect(look(3) == 30 && cache.count == 3)
        #expect(take(3) == 30 && take(3) == nil && cache.count == 2)
    }

    @Test func `The most recently parked canvases stay, and keyframes are left in place`() {
        var cache = KeyframeCache<Int>(capacity: 4)
        func take(_ index: Int) -> Int? { cache.take(index) }
        cache.leave(1, at: 100)
        cache.leave(1, at: 101)
        for index in 0..<10 { cache.park(index, at: index) }
        #expect(cache.count == 4)
        #expect(take(8) == 8 && take(9) == 9 && take(7) == nil)
        #expect(take(100) == 1 && take(101) == 1)
    }

    @Test func `The keyframes that are the least work to draw again are dropped first`() {
        var cache = KeyframeCache<Int>(capacity: 6)
        for index in [10, 90, 50] { cache.leave(index, at: index) }
        cache.leave(55, at: 55)
        #expect(cache.count == 3 && cache.look(55) == nil, "it was only five frames from the one before")
        cache.leave(30, at: 30)
        #expect(cache.look(10) == nil && cache.look(30) == 30 && cache.look(50) == 50 && cache.look(90) == 90)
    }

    @Test func `Keyframes long unused by any player are dropped before others`() {
        var cache = KeyframeCache<Int>(capacity: 6)
        for index in [10, 50, 90] { cache.leave(index, at: index) }
        var marks = cache.beginWay(from: 50, to: 55)
        #expect(marks.isEmpty, "all are in use, and worth more")
        marks = cache.beginWay(from: 50, to: 80)
        #expect(marks == [62, 71] || marks.count > 0 && marks.allSatisfy { $0 > 50 && $0 < 80 })
        for _ in 0..<40 { marks = cache.beginWay(from: 50, to: 55) }
        #expect(marks.count == 1, "one place is free")
        for mark in marks { cache.leave(mark, at: mark) }
        #expect(cache.count == 3 && cache.look(90) == nil && cache.look(10) == 10)
    }

    @Test func `Nothing is kept without memory for it`() {
        var cache = KeyframeCache<Int>(capacity: 0)
        cache.park(1, at: 1)
        cache.leave(2, at: 2)
        let way = cache.beginWay(from: 0, to: 100)
        #expect(cache.count == 0 && way.isEmpty)
        #expect(KeyframeCache<Int>.capacity(canvasByteCount: 100, byteCount: 99) == 0)
        #expect(KeyframeCache<Int>.capacity(canvasByteCount: 100, byteCount: 399) == 3)
        #expect(KeyframeCache<Int>.capacity(canvasByteCount: 1, byteCount: 1 << 30) == 16, "never many")
        #expect(KeyframeCache<Int>.capacity(canvasByteCount: 0, byteCount: 1) == 0)
        #expect(KeyframeCache<Int>.capacity(canvasByteCount: 4, byteCount: -1) == 0)
    }

    /// The number of frames drawn to show the frames of a path from the last to the first, with this many keyframes.
    private func cost(_ length: Int, marks: Int) -> Int {
        var left: [Int] = []
        var cost = 0
        for target in stride(from: length, through: 0, by: -1) {
            if left.last == target {
                left.removeLast()
                continue
            }
            let start = left.last ?? 0
            cost += target - start + (left.isEmpty ? 1 : 0)
            left += KeyframeCache<Int>.positions(from: start, to: target, count: marks - left.count)
        }
        return cost
    }

    @Test func `Keyframes are in order, within the path, and at most the allowed number`() {
        for length in [0, 1, 2, 3, 10, 1000, 1_000_000] {
            for count in [0, 1, 2, 8, 100] {
                let positions = KeyframeCache<Int>.positions(from: 7, to: 7 + length, count: count)
                #expect(positions.count <= count && positions == positions.sorted())
                #expect(Set(positions).count == positions.count)
                #expect(positions.allSatisfy { $0 > 7 && $0 < 7 + length })
                #expect(positions.count == min(count, max(length - 1, 0)))
            }
        }
    }

    @Test func `Going back with keyframes takes few steps, the fewer the more keyframes there are`() {
        #expect(cost(1000, marks: 0) == 1001 * 1002 / 2)
        #expect(cost(1000, marks: 1) < 1000 * 45)
        #expect(cost(1000, marks: 2) < 1000 * 16)
        #expect(cost(1000, marks: 4) < 1000 * 8)
        #expect(cost(1000, marks: 8) < 1000 * 5)
        #expect(cost(100, marks: 8) < 100 * 4)
    }
}
