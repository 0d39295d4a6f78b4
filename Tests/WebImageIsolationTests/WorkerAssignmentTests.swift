import Testing

@testable import WebImageIsolation

@Suite struct WorkerAssignmentTests {
    private func roster(count: Int = 2, uses: Int = 3, idleTime: UInt64 = 100) -> WorkerAssignment {
        WorkerAssignment(WorkerAssignment.Rules(count: count, uses: uses, idleTime: idleTime))
    }

    @Test func `Workers are started one by one up to the maximum, then tasks wait`() {
        var roster = roster()
        let decisions = (0..<3).map { _ in roster.take(animation: nil) }
        #expect(decisions == [.start(1), .start(2), .wait])
        #expect(roster.count == 2 && roster.idleCount == 0)
        let isKept = roster.give(2, animation: nil, at: 0)
        let next = roster.take(animation: nil)
        #expect(isKept && next == .use(2, holds: false))
    }

    @Test func `A task may wait for a busy worker instead of starting another one`() {
        var roster = roster()
        let decisions = (0..<2).map { _ in roster.take(animation: nil, isPatient: true) }
        #expect(decisions == [.start(1), .wait] && roster.count == 1)
        let isKept = roster.give(1, animation: nil, at: 0)
        let next = roster.take(animation: nil, isPatient: true)
        #expect(isKept && next == .use(1, holds: false))
        let other = roster.take(animation: nil)
        #expect(other == .start(2))
    }

    @Test func `There is at least one worker, and each does at least one task`() {
        var roster = roster(count: 0, uses: -5)
        let (first, second) = (roster.take(animation: nil), roster.take(animation: nil))
        #expect(first == .start(1) && second == .wait)
        let isKept = roster.give(1, animation: nil, at: 0)
        #expect(!isKept && roster.count == 0)
    }

    @Test func `A worker ends after a number of tasks, and another takes its number of slots`() {
        var roster = roster(count: 1)
        _ = roster.take(animation: nil)
        var kept: [Bool] = []
        for time in 0..<3 {
            kept.append(roster.give(1, animation: nil, at: UInt64(time)))
            _ = roster.take(animation: nil)
        }
        #expect(kept == [true, true, false])
        #expect(roster.count == 1)
        let late = roster.give(1, animation: nil, at: 9)
        #expect(!late)
    }

    @Test func `The most recently busy worker is used first`() {
        var roster = roster()
        _ = (roster.take(animation: nil), roster.take(animation: nil))
        _ = roster.give(1, animation: nil, at: 10)
        _ = roster.give(2, animation: nil, at: 5)
        let next = roster.take(animation: nil)
        #expect(next == .use(1, holds: false))
    }

    @Test func `The worker that holds an animation gets its frames, and other tasks avoid it while there is another`() {
        var roster = roster()
        _ = (roster.take(animation: nil), roster.take(animation: nil))
        _ = roster.give(1, animation: 7, at: 10)
        _ = roster.give(2, animation: nil, at: 5)
        let frame = roster.take(animation: 7)
        #expect(frame == .use(1, holds: true))
        _ = roster.give(1, animation: 7, at: 20)
        let other = roster.take(animation: nil)
        #expect(other == .use(2, holds: false))
        // No other is idle, and no more may be started.
        let last = roster.take(animation: 8)
        #expect(last == .use(1, holds: false))
    }

    @Test func `Another worker is started rather than taking an animation's`() {
        var roster = roster()
        _ = roster.take(animation: nil)
        _ = roster.give(1, animation: 7, at: 0)
        let other = roster.take(animation: nil)
        #expect(other == .start(2))
    }

    @Test func `A released animation holds no worker`() {
        var roster = roster()
        _ = roster.take(animation: nil)
        _ = roster.give(1, animation: 7, at: 0)
        roster.forget(animation: 7)
        let next = roster.take(animation: 7)
        #expect(next == .use(1, holds: false))
    }

    @Test func `A lost worker frees its slot`() {
        var roster = roster(count: 1)
        _ = roster.take(animation: nil)
        roster.lose(1)
        let next = roster.take(animation: nil)
        #expect(next == .start(2))
    }

    @Test func `A spare is started only when no worker is idle and there is a free slot`() {
        var roster = roster(count: 2)
        let first = roster.takeSpare()
        #expect(first == 1)
        let isKept = roster.give(1, animation: nil, at: 0, isUse: false)
        let second = roster.takeSpare()
        #expect(isKept && second == nil)
        _ = roster.take(animation: nil)
        let third = roster.takeSpare()
        let fourth = roster.takeSpare()
        #expect(third == 2 && fourth == nil)
    }

    @Test func `Workers idle for long end, busy ones stay`() {
        var roster = roster(count: 3)
        _ = (roster.take(animation: nil), roster.take(animation: nil), roster.take(animation: nil))
        #expect(roster.nextExpiry == nil)
        _ = roster.give(1, animation: nil, at: 10)
        _ = roster.give(2, animation: 4, at: 50)
        #expect(roster.nextExpiry == 110)
        let early = roster.expire(at: 109)
        let due = roster.expire(at: 110)
        #expect(early.isEmpty && due == [1] && roster.nextExpiry == 150)
        let rest = roster.expire(at: 1000)
        #expect(rest == [2] && roster.count == 1 && roster.nextExpiry == nil)
    }
}
