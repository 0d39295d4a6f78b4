import Testing

@testable import WebImagePlayer

@Suite struct AnimationFrameBufferTests {
    private func insert(_ buffer: inout AnimationFrameBuffer<Int>, _ indices: [Int]) {
        for index in indices { _ = buffer.insert(index * 10, at: index, byteCount: 1) }
    }

    @Test func `Requested frames are decoded, the most urgent first`() {
        var buffer = AnimationFrameBuffer<Int>()
        #expect(buffer.next() == nil)
        _ = buffer.wish(1, for: [3, 4], isWaiting: false, byteLimit: 5)
        _ = buffer.wish(2, for: [7, 8], isWaiting: false, byteLimit: 5)
        var order: [Int] = []
        while let next = buffer.next()?.index {
            order.append(next)
            _ = buffer.insert(next, at: next, byteCount: 1)
        }
        #expect(order == [3, 7, 4, 8])
    }

    @Test func `An inserted frame is found, and a failed one is known`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1], isWaiting: false, byteLimit: 3)
        insert(&buffer, [0])
        _ = buffer.insert(nil, at: 1, byteCount: 0)
        guard case .there(0) = buffer.use(0), case .failed = buffer.use(1), case .absent = buffer.use(2) else {
            Issue.record("not as expected")
            return
        }
        #expect(buffer.contains(0) && buffer.contains(1) && !buffer.contains(2))
        #expect(buffer.next() == nil, "a failed frame is not tried again")
    }

    @Test func `A frame without memory is skipped once`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1], isWaiting: false, byteLimit: 3)
        insert(&buffer, [5])
        buffer.pass(0)
        #expect(buffer.contains(0) && buffer.next()?.index == 1)
        guard case .failed = buffer.use(0), case .absent = buffer.use(0) else {
            Issue.record("not as expected")
            return
        }
        #expect(buffer.next()?.index == 0)
        buffer.pass(0)
        _ = buffer.wish(1, for: [1], isWaiting: false, byteLimit: 3)
        #expect(!buffer.contains(0), "after a seek the frame is not skipped later")
        buffer.pass(1)
        insert(&buffer, [1])
        guard case .there = buffer.use(1) else {
            Issue.record("it was decoded after all")
            return
        }
    }

    @Test func `The number of frames is at most the largest limit of a player`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0], isWaiting: false, byteLimit: 3)
        insert(&buffer, [0, 1, 2, 3, 4, 5])
        #expect(buffer.count == 3)
        _ = buffer.wish(2, for: [0], isWaiting: false, byteLimit: 5)
        insert(&buffer, [6, 7, 8])
        #expect(buffer.count == 5 && buffer.capacity == 5)
        var dropped = buffer.forget(2)
        #expect(dropped.count == 2 && buffer.count == 3)
        dropped = buffer.forget(1)
        #expect(dropped.count == 3 && buffer.count == 0)
    }

    @Test func `Frames needed next are not evicted, other requested ones are`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1, 2], isWaiting: false, byteLimit: 1)
        insert(&buffer, [0, 1, 2])
        #expect(buffer.count == 1 && buffer.contains(0) && buffer.next() == nil)
        let dropped = buffer.wish(1, for: [2], isWaiting: false, byteLimit: 1)
        #expect(dropped.isEmpty && buffer.next()?.index == 2)
        insert(&buffer, [2])
        #expect(buffer.count == 1 && buffer.contains(2))
    }

    @Test func `The limit is for all players together, but each playing one has its next frame`() {
        var buffer = AnimationFrameBuffer<Int>()
        for (limit, most) in [(1, 5), (7, 7), (100, 20)] {
            for player in UInt64(0)..<5 {
                let first = Int(player) * 10
                _ = buffer.wish(player, for: Array(first..<first + 4), isWaiting: false, byteLimit: limit)
            }
            while let next = buffer.next()?.index { insert(&buffer, [next]) }
            #expect(buffer.count == most, "with room for \(limit)")
            for player in 0..<5 { #expect(buffer.contains(player * 10)) }
        }
    }

    @Test func `Frames that players wait for come first, then the next ones, then the rest`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [3, 4, 5], isWaiting: false, byteLimit: 100)
        _ = buffer.wish(2, for: [7, 8, 9], isWaiting: true, byteLimit: 100)
        var order: [Int] = []
        var priorities: [LoadPriority] = []
        while let next = buffer.next() {
            order.append(next.index)
            priorities.append(next.priority)
            insert(&buffer, [next.index])
        }
        #expect(order == [7, 3, 8, 4, 9, 5])
        #expect(priorities == [.high, .normal, .normal, .low, .low, .low])
    }

    @Test func `A paused player needs no frames, and its limit counts only when none plays`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1, 2, 3], isWaiting: false, byteLimit: 4)
        insert(&buffer, [0, 1, 2, 3])
        var dropped = buffer.withdraw(1)
        #expect(dropped.isEmpty && buffer.next() == nil && !buffer.isPlaying && buffer.capacity == 4)
        dropped = buffer.wish(2, for: [8, 9], isWaiting: false, byteLimit: 2)
        #expect(buffer.capacity == 2 && dropped.count == 2)
        insert(&buffer, [8, 9])
        #expect(buffer.count == 2 && buffer.contains(8) && buffer.contains(9))
        dropped = buffer.forget(2)
        #expect(dropped.isEmpty && buffer.capacity == 4)
        dropped = buffer.withdraw(7)
        #expect(dropped.isEmpty)
    }

    @Test func `The capacity is counted in frames of the biggest size so far`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [0, 1, 2, 3], isWaiting: false, byteLimit: 12)
        #expect(buffer.capacity == 1, "nothing is known yet")
        _ = buffer.insert(0, at: 0, byteCount: 3)
        #expect(buffer.capacity == 4)
        _ = buffer.insert(10, at: 1, byteCount: 4)
        #expect(buffer.capacity == 3)
        _ = buffer.insert(20, at: 2, byteCount: 4)
        #expect(buffer.count == 3 && buffer.next() == nil)
    }

    @Test func `The missing frames change with the requests`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [5], isWaiting: true, byteLimit: 10)
        #expect(buffer.lacks(5) && !buffer.lacks(6))
        insert(&buffer, [5])
        #expect(!buffer.lacks(5))
        _ = buffer.wish(1, for: [6], isWaiting: true, byteLimit: 10)
        #expect(buffer.lacks(6))
        _ = buffer.withdraw(1)
        #expect(!buffer.lacks(6))
    }

    @Test func `Of the rest the most recently used frame is evicted, since it is needed again last`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [3], isWaiting: false, byteLimit: 3)
        insert(&buffer, [0, 1, 2])
        _ = buffer.use(0)
        let dropped = buffer.insert(30, at: 3, byteCount: 1)
        #expect(dropped == [0])
        #expect(buffer.contains(1) && buffer.contains(2) && buffer.contains(3))
    }

    @Test func `In a loop that does not fit, the frames that fit are decoded once`() {
        var buffer = AnimationFrameBuffer<Int>()
        var decoded = 0
        for step in 0..<1000 {
            let index = step % 10
            _ = buffer.wish(1, for: [index, (index + 1) % 10], isWaiting: false, byteLimit: 6)
            while let next = buffer.next()?.index {
                decoded += 1
                _ = buffer.insert(next, at: next, byteCount: 1)
            }
            _ = buffer.use(index)
            #expect(buffer.count <= 6)
        }
        #expect(decoded <= 10 + 1000 * 6 / 10, "about half of the frames stay: \(decoded) decodes for 1000 frames")
    }

    @Test func `In a loop that fits, all frames are decoded once`() {
        var buffer = AnimationFrameBuffer<Int>()
        var decoded = 0
        for step in 0..<100 {
            _ = buffer.wish(1, for: [step % 10], isWaiting: false, byteLimit: 10)
            while let next = buffer.next()?.index {
                decoded += 1
                _ = buffer.insert(next, at: next, byteCount: 1)
            }
        }
        #expect(decoded == 10)
    }

    @Test func `Removing drops all frames but the next ones, and failures are tried again`() {
        var buffer = AnimationFrameBuffer<Int>()
        _ = buffer.wish(1, for: [2, 3], isWaiting: false, byteLimit: 4)
        insert(&buffer, [0, 1, 2])
        _ = buffer.insert(nil, at: 3, byteCount: 0)
        #expect(buffer.next() == nil)
        var dropped = buffer.removeAll().sorted()
        #expect(dropped == [0, 10] && buffer.count == 1 && buffer.contains(2) && buffer.next()?.index == 3)
        _ = buffer.withdraw(1)
        dropped = buffer.removeAll()
        #expect(dropped == [20] && buffer.count == 0 && buffer.next() == nil)
    }
}
