import ModelTestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct KeyframeCacheTests {
    @Test func `The nearest canvas is found, not after the frame nor before the point where drawing can begin`() {
        var shelf = KeyframeCache<Int>(capacity: 8)
        func take(_ index: Int) -> Int? { shelf.take(index) }
        func look(_ index: Int) -> Int? { shelf.look(index) }
        #expect(shelf.nearest(to: 5, from: 0) == nil)
        shelf.park(10, at: 1)
        shelf.leave(30, at: 3)
        shelf.park(60, at: 6)
        #expect(shelf.nearest(to: 5, from: 0).map { $0 == (3, true) } == true)
        #expect(shelf.nearest(to: 6, from: 0).map { $0 == (6, false) } == true)
        #expect(shelf.nearest(to: 2, from: 0).map { $0 == (1, false) } == true)
        #expect(shelf.nearest(to: 2, from: 2) == nil && shelf.nearest(to: 0, from: 0) == nil)
        #expect(look(3) == 30 && shelf.count == 3)
        #expect(take(3) == 30 && take(3) == nil && shelf.count == 2)
    }

    @Test func `The most recently parked canvases stay, and keyframes are left in place`() {
        var shelf = KeyframeCache<Int>(capacity: 4)
        func take(_ index: Int) -> Int? { shelf.take(index) }
        shelf.leave(1, at: 100)
        shelf.leave(1, at: 101)
        for index in 0..<10 { shelf.park(index, at: index) }
        #expect(shelf.count == 4)
        #expect(take(8) == 8 && take(9) == 9 && take(7) == nil)
        #expect(take(100) == 1 && take(101) == 1)
    }

    @Test func `The keyframes that are the least work to draw again are dropped first`() {
        var shelf = KeyframeCache<Int>(capacity: 6)
        for index in [10, 90, 50] { shelf.leave(index, at: index) }
        shelf.leave(55, at: 55)
        #expect(shelf.count == 3 && shelf.look(55) == nil, "it was only five frames from the one before")
        shelf.leave(30, at: 30)
        #expect(shelf.look(10) == nil && shelf.look(30) == 30 && shelf.look(50) == 50 && shelf.look(90) == 90)
    }

    @Test func `Keyframes long unused by any player are dropped before others`() {
        var shelf = KeyframeCache<Int>(capacity: 6)
        for index in [10, 50, 90] { shelf.leave(index, at: index) }
        var marks = shelf.beginWay(from: 50, to: 55)
        #expect(marks.isEmpty, "all are in use, and worth more")
        marks = shelf.beginWay(from: 50, to: 80)
        #expect(marks == [62, 71] || marks.count > 0 && marks.allSatisfy { $0 > 50 && $0 < 80 })
        for _ in 0..<40 { marks = shelf.beginWay(from: 50, to: 55) }
        #expect(marks.count == 1, "one place is free")
        for mark in marks { shelf.leave(mark, at: mark) }
        #expect(shelf.count == 3 && shelf.look(90) == nil && shelf.look(10) == 10)
    }

    @Test func `Nothing is kept without memory for it`() {
        var shelf = KeyframeCache<Int>(capacity: 0)
        shelf.park(1, at: 1)
        shelf.leave(2, at: 2)
        let way = shelf.beginWay(from: 0, to: 100)
        #expect(shelf.count == 0 && way.isEmpty)
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
