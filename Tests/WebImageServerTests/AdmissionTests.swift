import Testing

@testable import WebImageServer

@Suite struct AdmissionTests {
    private func admission(count: Int = 10, perClient: Int = 3, timeout: Double = 10) -> Admission {
        Admission(maximumCount: count, maximumCountPerClient: perClient, timeout: timeout, freeJobCount: 8)
    }

    @Test func `A client has a limit, others are not affected`() {
        var admission = admission()
        let clients = ["a", "a", "a", "a", "b"].map { admission.enter($0, jobCount: 0, now: 0) }
        #expect(clients == [.admitted, .admitted, .admitted, .clientIsFull(retryAfter: 1), .admitted])
        admission.leave("a")
        let next = admission.enter("a", jobCount: 0, now: 0)
        #expect(next == .admitted)
    }

    @Test func `The server has a limit`() {
        var admission = admission()
        let decisions = (0..<11).map { _ in admission.enter("", jobCount: 0, now: 0) }
        #expect(decisions == Array(repeating: .admitted, count: 10) + [.serverIsFull(retryAfter: 1)])
        admission.leave("")
        let next = admission.enter("", jobCount: 0, now: 0)
        #expect(next == .admitted)
        #expect(admission.count == 10)
    }

    @Test func `Requests that would be late are refused at once`() {
        var admission = admission(count: 1000, perClient: 1000)
        // Two images a second.
        for second in 100..<108 { for _ in 0..<2 { admission.noteMade(now: Double(second)) } }
        let (early, late) = (
            admission.enter("a", jobCount: 10, now: 107.5), admission.enter("a", jobCount: 11, now: 107.5)
        )
        #expect(early == .admitted)
        #expect(late == .serverIsFull(retryAfter: 6))
        // A short queue is no reason, and after a pause nothing is known.
        let (short, paused) = (
            admission.enter("a", jobCount: 8, now: 107.5), admission.enter("a", jobCount: 100, now: 500)
        )
        #expect(short == .admitted)
        #expect(paused == .admitted)
    }

    @Test func `A host has a number of images at a time, and equal requests count once`() {
        var hosts = HostQueues(limit: 2)
        let keys = ["x", "x", "y", "z", "w", "z"]
        let starts = keys.enumerated().map { hosts.enter(UInt64($0.offset), host: "a", key: $0.element) }
        #expect(starts == [true, true, true, false, false, false])
        let other = hosts.enter(6, host: "b", key: "z")
        #expect(other)
        #expect(hosts.waitingCount == 3)
        let first = hosts.leave(0, host: "a", key: "x", isRunning: true)
        #expect(first.isEmpty)
        let second = hosts.leave(1, host: "a", key: "x", isRunning: true)
        #expect(second == [3, 5])
        let third = hosts.leave(4, host: "a", key: "w", isRunning: false)
        #expect(third.isEmpty)
        #expect(hosts.waitingCount == 0)
    }
}
