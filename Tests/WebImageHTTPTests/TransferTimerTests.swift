import Testing

@testable import WebImageHTTP

@Suite struct TransferTimerTests {
    private let second: UInt64 = 1_000_000_000

    private func timer(idle: UInt64 = 10, total: UInt64 = 0, rate: Int = 100) -> TransferTimer {
        var limits = TransferTimer.Limits()
        limits.idle = idle * second
        limits.total = total * second
        limits.minimumBytesPerSecond = rate
        return TransferTimer(limits: limits, now: 0)
    }

    @Test func `Without a connection only the total limit counts`() {
        var waiting = timer()
        #expect(waiting.nextDeadline == .max)
        #expect(waiting.check(at: 1000 * second) == nil)
        var bounded = timer(total: 30)
        #expect(bounded.nextDeadline == 30 * second)
        #expect(bounded.check(at: 29 * second) == nil)
        #expect(bounded.check(at: 30 * second) == .total)
    }

    @Test func `Silence after the request ends the transfer`() {
        var timer = timer()
        timer.connected(at: 3 * second)
        #expect(timer.nextDeadline == 13 * second)
        #expect(timer.check(at: 13 * second - 1) == nil)
        #expect(timer.check(at: 13 * second) == .idle)
    }

    @Test func `Silence in the middle ends the transfer`() {
        var timer = timer()
        timer.connected(at: 0)
        timer.received(total: 1_000_000, at: 5 * second)
        timer.received(total: 1_000_000, at: 9 * second)
        #expect(timer.check(at: 14 * second) == nil)
        #expect(timer.check(at: 15 * second) == .idle)
    }

    @Test func `A byte a second ends the transfer after one interval`() {
        var timer = timer()
        timer.connected(at: 0)
        for time in 1...10 as ClosedRange<UInt64> {
            timer.received(total: Int64(time), at: time * second)
            #expect(timer.check(at: time * second) == nil)
        }
        #expect(timer.nextDeadline == 11 * second)
        #expect(timer.check(at: 11 * second) == .tooSlow)
    }

    @Test func `A slow but steady server is allowed, and must stay steady`() {
        var timer = timer()
        timer.connected(at: 0)
        var total: Int64 = 0
        for time in 1...100 as ClosedRange<UInt64> {
            total += 120
            timer.received(total: total, at: time * second)
            #expect(timer.check(at: time * second) == nil)
        }
        var expiry: TransferTimer.Expiry?
        for time in 101...130 as ClosedRange<UInt64> where expiry == nil {
            total += 1
            timer.received(total: total, at: time * second)
            expiry = timer.check(at: time * second)
        }
        #expect(expiry == .tooSlow)
    }

    @Test func `Without a minimum rate a slow transfer may last forever`() {
        var timer = timer(rate: 0)
        timer.connected(at: 0)
        for time in 1...1000 as ClosedRange<UInt64> {
            timer.received(total: Int64(time), at: time * second)
            #expect(timer.check(at: time * second) == nil)
        }
    }

    @Test func `Any number of seconds becomes nanoseconds`() {
        #expect(TransferTimer.nanoseconds(1.5) == 1_500_000_000)
        #expect(TransferTimer.nanoseconds(0) == 0)
        #expect(TransferTimer.nanoseconds(-1) == 0)
        #expect(TransferTimer.nanoseconds(.nan) == 0)
        #expect(TransferTimer.nanoseconds(.infinity) == 1_000_000_000_000_000_000)
        var limits = TransferTimer.Limits()
        limits.idle = .max
        limits.total = .max
        let endless = TransferTimer(limits: limits, now: 5)
        #expect(endless.nextDeadline == .max)
    }
}
