import Testing

@testable import WebImageServer

@Suite struct AdmissionTests {
    private func admission(count: Int = 10, perClient: Int = 3, timeout: Double = 10) -> Admission {
        Admission(maximumCount: count, maximumCountPerClient: perClient, timeout: timeout, freeJobCount: 8)
    }

    @Test func `A client has a limit, others are not affected`() {
        var admission = admission()
        let clients = ["a", "a", "a", "a", "b"].map { admission.enter($0, jobCount: 0) }
        #expect(clients == [.admitted, .admitted, .admitted, .clientIsFull(retryAfter: 1), .admitted])
        admission.leave("a")
        let next = admission.enter("a", jobCount: 0)
        #expect(next == .admitted)
    }

    @Test func `The server has a limit`() {
        var admission = admission()
        let decisions = (0..<11).map { _ in admission.enter("", jobCount: 0) }
        #expect(decisions == Array(repeating: .admitted, count: 10) + [.serverIsFull(retryAfter: 1)])
        admission.leave("")
        let next = admission.enter("", jobCount: 0)
        #expect(next == .admitted)
        #expect(admission.count == 10)
    }

    @Test func `Requests that would be late are refused at once`() {
        var admission = admission(count: 1000, perClient: 1000)
        // Two images a second while others wait.
        for step in 0..<20 { admission.noteMade(jobCount: 5, now: 100 + Double(step) / 2) }
        let (early, late) = (admission.enter("a", jobCount: 10), admission.enter("a", jobCount: 11))
        #expect(early == .admitted)
        #expect(late == .serverIsFull(retryAfter: 6))
        // A short queue is no reason.
        let short = admission.enter("a", jobCount: 8)
        #expect(short == .admitted)
        let behindOthers = admission.enter("a", jobCount: 0, hostWait: 5.1)
        #expect(behindOthers == .serverIsFull(retryAfter: 6))
    }

    @Test func `The pace of a queue is that of the times in which others wait`() {
        var pace = QueuePace()
        // One job a minute, and nobody waits.
        for minute in 0..<20 { pace.noteEnd(isWaitedFor: false, now: Double(60 * minute)) }
        #expect(pace.seconds(for: 100) == 0)
        for step in 0..<9 {
            #expect(pace.seconds(for: 100) == 0, "\(step) times are too few")
            pace.noteEnd(isWaitedFor: true, now: 2000 + Double(step) / 4)
        }
        #expect(pace.seconds(for: 100) == 25)
        // It slows down: after a while, the new pace is known.
        for step in 0..<200 { pace.noteEnd(isWaitedFor: true, now: 2002 + Double(step)) }
        #expect((95...100).contains(pace.seconds(for: 100)))
    }

    @Test func `The wait for a host follows from its queue and its pace`() {
        var hosts = HostQueues(limit: 1)
        for number in 0..<30 { _ = hosts.enter(UInt64(number), host: "a", key: "\(number)") }
        #expect(hosts.wait(host: "a", key: "x") == 0)
        for number in 0..<10 {
            _ = hosts.leave(UInt64(number), host: "a", key: "\(number)", isRunning: true, now: Double(number))
        }
        #expect(hosts.wait(host: "a", key: "x") == 19)
        #expect(hosts.wait(host: "b", key: "x") == 0)
        // Equal requests count once, and join those that are there.
        for number in 30..<40 { _ = hosts.enter(UInt64(number), host: "a", key: "x") }
        #expect(hosts.wait(host: "a", key: "y") == 20)
        #expect(hosts.wait(host: "a", key: "x") == 0)
    }

    @Test func `A host has a number of images at a time, and equal requests count once`() {
        var hosts = HostQueues(limit: 2)
        let keys = ["x", "x", "y", "z", "w", "z"]
        let starts = keys.enumerated().map { hosts.enter(UInt64($0.offset), host: "a", key: $0.element) }
        #expect(starts == [true, true, true, false, false, false])
        let other = hosts.enter(6, host: "b", key: "z")
        #expect(other)
        #expect(hosts.waitingCount == 3)
        let first = hosts.leave(0, host: "a", key: "x", isRunning: true, now: 0)
        #expect(first.isEmpty)
        let second = hosts.leave(1, host: "a", key: "x", isRunning: true, now: 0)
        #expect(second == [3, 5])
        let third = hosts.leave(4, host: "a", key: "w", isRunning: false, now: 0)
        #expect(third.isEmpty)
        #expect(hosts.waitingCount == 0)
    }
}
