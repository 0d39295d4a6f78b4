import Testing

@testable import WebImage

@Suite struct CanvasShelfTests {
    @Test func `The nearest canvas is found, not behind the frame nor before where drawing can begin`() {
        var shelf = CanvasShelf<Int>(capacity: 8)
        #expect(shelf.nearest(to: 5, from: 0) == nil)
        shelf.park(10, at: 1)
        shelf.leave(30, at: 3, to: 9)
        shelf.park(60, at: 6)
        #expect(shelf.nearest(to: 5, from: 0).map { $0 == (3, true) } == true)
        #expect(shelf.nearest(to: 6, from: 0).map { $0 == (6, false) } == true)
        #expect(shelf.nearest(to: 2, from: 0).map { $0 == (1, false) } == true)
        #expect(shelf.nearest(to: 2, from: 2) == nil && shelf.nearest(to: 0, from: 0) == nil)
        #expect(shelf.mark(3) == 30 && shelf.count == 3)
        #expect(shelf.take(3) == 30 && shelf.take(3) == nil && shelf.count == 2)
    }

    @Test func `Of parked canvases those stay that were parked last, and marks are left alone`() {
        var shelf = CanvasShelf<Int>(capacity: 4)
        shelf.leave(1, at: 100, to: 200)
        shelf.leave(1, at: 101, to: 200)
        for index in 0..<10 { shelf.park(index, at: index) }
        #expect(shelf.count == 4)
        #expect(shelf.take(8) == 8 && shelf.take(9) == 9 && shelf.take(7) == nil)
        #expect(shelf.take(100) == 1 && shelf.take(101) == 1)
    }

    @Test func `Marks behind a frame give way before others`() {
        var shelf = CanvasShelf<Int>(capacity: 6)
        for index in [10, 50, 90] { shelf.leave(index, at: index, to: 100) }
        shelf.leave(20, at: 20, to: 40)
        #expect(shelf.mark(10) == 10 && shelf.mark(20) == 20 && shelf.mark(50) == nil && shelf.mark(90) == 90)
        shelf.leave(30, at: 30, to: 40)
        #expect(shelf.mark(90) == nil && shelf.count == 3)
        shelf.leave(35, at: 35, to: 40)
        #expect(
            shelf.count == 3 && shelf.mark(10) == nil && shelf.mark(35) == 35,
            "else the one that was not used for longest"
        )
    }

    @Test func `Nothing is kept where there is no room`() {
        var shelf = CanvasShelf<Int>(capacity: 0)
        shelf.park(1, at: 1)
        shelf.leave(2, at: 2, to: 3)
        #expect(shelf.count == 0 && shelf.wayMarks(from: 0, to: 100).isEmpty)
        #expect(CanvasShelf<Int>.capacity(canvasByteCount: 100, byteCount: 99) == 0)
        #expect(CanvasShelf<Int>.capacity(canvasByteCount: 100, byteCount: 399) == 3)
        #expect(CanvasShelf<Int>.capacity(canvasByteCount: 1, byteCount: 1 << 30) == 16, "never many")
        #expect(CanvasShelf<Int>.capacity(canvasByteCount: 0, byteCount: 1) == 0)
        #expect(CanvasShelf<Int>.capacity(canvasByteCount: 4, byteCount: -1) == 0)
    }

    /// The frames that are drawn to see a way's frames from the last to the first, with so many marks.
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
            left += CanvasShelf<Int>.positions(from: start, to: target, count: marks - left.count)
        }
        return cost
    }

    @Test func `Marks lie in order, within the way, and no more than there may be`() {
        for length in [0, 1, 2, 3, 10, 1000, 1_000_000] {
            for count in [0, 1, 2, 8, 100] {
                let positions = CanvasShelf<Int>.positions(from: 7, to: 7 + length, count: count)
                #expect(positions.count <= count && positions == positions.sorted())
                #expect(Set(positions).count == positions.count)
                #expect(positions.allSatisfy { $0 > 7 && $0 < 7 + length })
                #expect(positions.count == min(count, max(length - 1, 0)))
            }
        }
    }

    @Test func `Going back by marks takes few steps, the fewer the more marks there are`() {
        #expect(cost(1000, marks: 0) == 1001 * 1002 / 2)
        #expect(cost(1000, marks: 1) < 1000 * 45)
        #expect(cost(1000, marks: 2) < 1000 * 16)
        #expect(cost(1000, marks: 4) < 1000 * 8)
        #expect(cost(1000, marks: 8) < 1000 * 5)
        #expect(cost(100, marks: 8) < 100 * 4)
    }
}
