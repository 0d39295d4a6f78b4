import ModelTestSupport
import Testing

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer)) struct ListScrollTests {
    private func next(_ scroll: ListScroll, _ visible: ClosedRange<Int>, _ bound: Range<Int>, _ count: Int = 3) -> [Int]
    {
        scroll.positions(beyond: visible, excluding: Set(bound), count: count, end: 100)
    }

    @Test func `A list that has not moved counts as scrolling forward`() {
        var scroll = ListScroll()
        scroll.move(to: 0...9)
        #expect(scroll.isForward)
        #expect(next(scroll, 0...9, 0..<20) == [20, 21, 22])
    }

    @Test func `The direction is that of the last movement, and stays without movement`() {
        var scroll = ListScroll()
        scroll.move(to: 50...59)
        scroll.move(to: 45...54)
        #expect(!scroll.isForward)
        #expect(next(scroll, 45...54, 40..<60) == [39, 38, 37])
        scroll.move(to: 45...54)
        #expect(!scroll.isForward)
        scroll.move(to: 45...59)
        #expect(scroll.isForward, "a row was added, and none removed yet")
        #expect(next(scroll, 45...59, 40..<60) == [60, 61, 62])
    }

    @Test func `Cells far from the screen, such as the selected one, do not matter`() {
        var scroll = ListScroll()
        scroll.move(to: 10...19)
        let bound = Set(5..<25).union([26, 90])
        #expect(scroll.positions(beyond: 10...19, excluding: bound, count: 3, end: 100) == [25, 27, 28])
    }

    @Test func `There is nothing beyond the ends`() {
        var scroll = ListScroll()
        scroll.move(to: 90...98)
        #expect(next(scroll, 90...98, 80..<99) == [99])
        #expect(next(scroll, 90...99, 80..<100) == [])
        scroll.move(to: 1...9)
        #expect(next(scroll, 1...9, 1..<20) == [0])
        #expect(next(scroll, 0...9, 0..<20) == [])
        #expect(next(scroll, 1...9, 1..<20, 0) == [])
    }
}
