import Testing

@testable import WebImage

@Suite struct AnimationFrameBufferTests {
    private func insert(_ buffer: inout AnimationFrameBuffer<Int>, _ indices: [Int]) {
        for index in indices { _ = buffer.insert(index * 10, at: index) }
    }

    @Test func `What is wished for is decoded, the most urgent first`() {
        var buffer = AnimationFrameBuffer<Int>()
        #expect(buffer.next() == nil)
        _ = buffer.wish(1, for: [3, 4], capacity: 5)
        _ = buffer.wish(2, for: [7, 8], capacity: 5)
        var order: [Int] = []
        while let next = buffer.next() {
            order.append(next)
            _ = buffer.insert(next, at: next)
        }
        #expect(order == [3, 7, 4, 8])
    }

    @Test func `A frame that was put in is found, and one that failed is known to have`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1], capacity: 3)
        insert(&buffer, [0])
        _ = buffer.insert(nil, at: 1)
        guard case .there(0) = buffer.use(0), case .failed = buffer.use(1), case .absent = buffer.use(2) else {
            Issue.record("not as expected")
            return
        }
        #expect(buffer.contains(0) && buffer.contains(1) && !buffer.contains(2))
        #expect(buffer.next() == nil, "what failed is not tried again")
    }

    @Test func `There are never more than the most generous player allows`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0], capacity: 3)
        insert(&buffer, [0, 1, 2, 3, 4, 5])
        #expect(buffer.count == 3)
        _ = buffer.wish(2, for: [0], capacity: 5)
        insert(&buffer, [6, 7, 8])
        #expect(buffer.count == 5 && buffer.capacity == 5)
        var dropped = buffer.forget(2)
        #expect(dropped.count == 2 && buffer.count == 3)
        dropped = buffer.forget(1)
        #expect(dropped.count == 3 && buffer.count == 0)
    }

    @Test func `What is wished for does not give way`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1, 2], capacity: 1)
        insert(&buffer, [0, 1, 2])
        #expect(buffer.count == 3)
        let dropped = buffer.wish(1, for: [2], capacity: 1).sorted()
        #expect(dropped == [0, 10] && buffer.contains(2))
    }

    @Test func `Of the rest the one that was used last goes, since it is needed again last`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [3], capacity: 3)
        insert(&buffer, [0, 1, 2])
        _ = buffer.use(0)
        let dropped = buffer.insert(30, at: 3)
        #expect(dropped == [0])
        #expect(buffer.contains(1) && buffer.contains(2) && buffer.contains(3))
    }

    @Test func `In a loop that does not fit, what fits is decoded once`() {
        var buffer = AnimationFrameBuffer<Int>()
        var decoded = 0
        for step in 0..<1000 {
            let index = step % 10
            _ = buffer.wish(1, for: [index, (index + 1) % 10], capacity: 6)
            while let next = buffer.next() {
                decoded += 1
                _ = buffer.insert(next, at: next)
            }
            _ = buffer.use(index)
            #expect(buffer.count <= 6)
        }
        #expect(decoded <= 10 + 1000 * 6 / 10, "about half of the frames stay: \(decoded) decodes for 1000 frames")
    }

    @Test func `All that fits is decoded once`() {
        var buffer = AnimationFrameBuffer<Int>()
        var decoded = 0
        for step in 0..<100 {
            _ = buffer.wish(1, for: [step % 10], capacity: 10)
            while let next = buffer.next() {
                decoded += 1
                _ = buffer.insert(next, at: next)
            }
        }
        #expect(decoded == 10)
    }

    @Test func `After removing all, what is wished for is decoded again, failures too`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1], capacity: 3)
        insert(&buffer, [0])
        _ = buffer.insert(nil, at: 1)
        let dropped = buffer.removeAll()
        #expect(dropped == [0] && buffer.count == 0 && buffer.next() == 0)
        insert(&buffer, [0])
        #expect(buffer.next() == 1)
    }
}
