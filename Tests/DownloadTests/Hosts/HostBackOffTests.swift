import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

extension RetryHarness {
    /// Downloads that fail one after the other, each with its own URL.
    func failures(_ count: Int, of host: String = "example.test", _ code: WebImageError.Code = .cannotConnectToHost) {
        for _ in 0..<count {
            let number = starts
            downloader.start(hostURL("/\(number)", host), Recorder())
            fail(number, code)
        }
    }

    /// The last transfer responds with a status and ends.
    func answer(_ number: Int, _ status: Int, headers: HTTPHeaders = [:]) {
        let transfer = transport.transfers[number]
        transfer.end(transfer.respond(status, headers: headers))
    }

    /// The error of a download that is not sent.
    func refusal(_ url: URL, sourceLocation: SourceLocation = #_sourceLocation) async -> WebImageError? {
        let (recorder, before) = (Recorder(), starts)
        downloader.start(url, recorder)
        await recorder.end()
        #expect(starts == before, sourceLocation: sourceLocation)
        return recorder.error
    }
}

func hostURL(_ path: String, _ host: String) -> URL { URL(string: "http://\(host)\(path)") ?? testURL("/") }

/// Back-off from failing hosts, in virtual time.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct HostBackOffTests {
    private let harness = RetryHarness(.never, hostBackOff: .exact)
    private var transfers: [FakeTransport.Transfer] { harness.transport.transfers }

    @Test func `After failures in a row downloads from the host fail at once, and those from others do not`() async {
        harness.failures(2)
        harness.failures(2, of: "other.test")
        harness.failures(1)
        let error = await harness.refusal(testURL("/x"))
        #expect(error?.code == .hostUnavailable && error?.retryAfter == 1 && error?.url == testURL("/x"))
        #expect(error?.message.hasSuffix("for another 1.0 s") == true)
        #expect(harness.downloader.currentDownloadCount == 0)
        let other = Recorder()
        harness.downloader.start(hostURL("/y", "other.test"), other)
        transfers[5].complete([1])
        #expect(other.data == Data([1]))
        harness.delays.advance(0.75)
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 0.25)
    }

    @Test func `Thousands of downloads that fail at once do not hold the lock long, and all fail`() async {
        harness.failures(3)
        let (downloader, before) = (harness.downloader, harness.starts)
        downloader.isSuspended = true
        let recorders = (0..<2000).map { number in
            let recorder = Recorder()
            downloader.start(testURL("/many/\(number)"), recorder)
            return recorder
        }
        // Each time the lock is held for only so many.
        let turns = downloader.core.state.withLock { state in
            state.isSuspended = false
            return downloader.core.takeStarts(&state)
        }
        #expect(turns.count == DownloaderCore.mostPutAside + 1)
        downloader.core.run(turns)
        for recorder in recorders { await recorder.end() }
        #expect(recorders.allSatisfy { $0.error?.code == .hostUnavailable })
        #expect(harness.starts == before && downloader.currentDownloadCount == 0)
    }

    @Test(arguments: [
        WebImageError.Code.cannotFindHost, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .secureConnectionFailed,
    ])
    func `Each failure of a host counts`(code: WebImageError.Code) async {
        harness.failures(3, code)
        #expect(await harness.refusal(testURL("/x"))?.code == .hostUnavailable)
    }

    @Test(arguments: [502, 503, 504]) func `Server error statuses count as failures`(status: Int) async {
        for number in 0..<3 {
            harness.downloader.start(testURL("/\(number)"), Recorder())
            harness.answer(number, status)
        }
        #expect(await harness.refusal(testURL("/x"))?.code == .hostUnavailable)
    }

    @Test func `Any other response resets the count`() {
        for round in 0..<4 {
            harness.failures(2)
            harness.downloader.start(testURL("/round\(round)"), Recorder())
            switch round {
            case 0: harness.answer(harness.starts - 1, 404)
            case 1: harness.answer(harness.starts - 1, 500)
            case 2: transfers[harness.starts - 1].complete([1])
            default:
                // The first byte of a body is a response, before the end.
                transfers[harness.starts - 1].respond(headers: ["Content-Length": "9"])
                transfers[harness.starts - 1].send([1])
            }
        }
        harness.failures(2)
        #expect(harness.starts == 14, "never three in a row")
    }

    @Test func `Events that are not about the host neither count nor reset the count`() async {
        harness.failures(2)
        harness.failures(20, .transportFailed)
        harness.failures(1)
        #expect(harness.starts == 23)
        #expect(await harness.refusal(testURL("/x"))?.code == .hostUnavailable)
    }

    @Test func `Cancelled downloads do not count, even when they fail`() {
        for number in 0..<5 {
            let token = harness.downloader.start(testURL("/\(number)"), Recorder())
            token.cancel()
            harness.fail(number, .cannotConnectToHost)
        }
        harness.downloader.start(testURL("/x"), Recorder())
        #expect(harness.starts == 6)
    }

    @Test func `After ten minutes an unused host is forgotten`() {
        harness.failures(1)
        harness.delays.advance(601)
        harness.downloader.start(hostURL("/a", "other.test"), Recorder())
        transfers[1].complete([1])
        #expect(harness.downloader.core.state.withLock { $0.hosts.isEmpty })
    }

    @Test func `Running transfers continue, and the first response to one ends the back-off`() async {
        let recorder = Recorder()
        harness.downloader.start(testURL("/slow"), recorder)
        harness.failures(3)
        #expect(await harness.refusal(testURL("/x"))?.code == .hostUnavailable)
        #expect(!transfers[0].isCancelled)
        transfers[0].complete([1, 2])
        #expect(recorder.data == Data([1, 2]))
        harness.downloader.start(testURL("/x"), Recorder())
        #expect(harness.starts == 5)
    }

    @Test func `When the back-off is over one download probes the host, and the others wait for it`() {
        harness.failures(3)
        harness.delays.advance(1)
        let recorders = (0..<4).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { harness.downloader.start(testURL("/n\(number)"), recorder) }
        #expect(harness.starts == 4 && harness.delays.count == 0, "they wait without a timer")
        let statistics = harness.downloader.statistics
        #expect(statistics.running == 1 && statistics.waiting == 0 && statistics.waitingForRetry == 3)
        transfers[3].respond(headers: ["Content-Length": "2"])
        #expect(harness.starts == 4, "after a head the body may still be missing")
        transfers[3].send([1])
        #expect(harness.starts == 7, "the first byte is enough")
        transfers[3].send([2])
        transfers[3].end()
        for number in 4..<7 { transfers[number].complete([UInt8(number)]) }
        #expect(recorders.map { $0.data?.count } == [2, 1, 1, 1])
        #expect(recorders.allSatisfy { $0.results.count == 1 })
    }

    @Test func `If the probe fails, the waiting downloads fail, and the back-off doubles`() async {
        harness.failures(3)
        harness.delays.advance(1)
        let (probe, waiting) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/probe"), probe)
        harness.downloader.start(testURL("/waiting"), waiting)
        harness.fail(3, .timedOut)
        await waiting.end()
        #expect(probe.code == .timedOut && waiting.code == .hostUnavailable && waiting.error?.retryAfter == 2)
        harness.delays.advance(1.5)
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 0.5)
        harness.delays.advance(0.5)
        harness.failures(1)
        #expect(await harness.refusal(testURL("/x"))?.retryAfter == 4)
    }

    @Test func `When the probing download is cancelled, the next takes its place`() {
        harness.failures(3)
        harness.delays.advance(1)
        let token = harness.downloader.start(testURL("/probe"), Recorder())
        let waiting = harness.downloader.start(testURL("/waiting"), Recorder())
        let last = Recorder()
        harness.downloader.start(testURL("/last"), last)
        waiting.cancel()
        #expect(harness.starts == 4)
        token.cancel()
        #expect(harness.starts == 5 && transfers[4].request.url == testURL("/last"))
        transfers[4].complete([1])
        #expect(last.data == Data([1]) && harness.downloader.currentDownloadCount == 0)
    }

    @Test func `When a probe ends without a verdict, the next takes its place`() {
        harness.failures(3)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/probe"), Recorder())
        harness.downloader.start(testURL("/next"), Recorder())
        harness.fail(3, .transportFailed)
        #expect(harness.starts == 5)
    }

    @Test func `Callers join a download that waits for a probe, and its priority counts afterwards`() {
        harness.downloader.config.maxConcurrentDownloads = 2
        harness.failures(3)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/probe"), Recorder())
        let (first, second) = (Recorder(), Recorder())
        harness.downloader.start(testURL("/a"), Recorder(), options: .lowPriority)
        let token = harness.downloader.start(testURL("/b"), first, options: .lowPriority)
        harness.downloader.start(testURL("/b"), second)
        token.setPriority(.high)
        transfers[3].complete([1])
        #expect(transfers[4].request.url == testURL("/b"))
        transfers[4].complete([7])
        #expect(first.data == Data([7]) && second.data == Data([7]) && harness.starts == 6)
    }

    @Test func `In a long queue downloads for the host fail when their turn comes, and the others are sent`() async {
        harness.downloader.config.maxConcurrentDownloads = 1
        let queued = (0..<1000).map { _ in Recorder() }
        for (number, recorder) in queued.enumerated() { harness.downloader.start(testURL("/q\(number)"), recorder) }
        let other = Recorder()
        harness.downloader.start(hostURL("/a", "other.test"), other)
        for number in 0..<3 { harness.fail(number, .cannotFindHost) }
        for recorder in queued { await recorder.end() }
        await wait(while: harness.starts < 4)
        #expect(transfers[3].request.url.host() == "other.test")
        transfers[3].complete([1])
        #expect(other.data == Data([1]))
        #expect(queued.filter { $0.code == .cannotFindHost }.count == 3)
        #expect(queued.filter { $0.code == .hostUnavailable }.count == 997)
        #expect(queued.allSatisfy { $0.results.count == 1 } && harness.downloader.currentDownloadCount == 0)
    }

    @Test func `Cancelling all ends downloads that wait for a probe, and releases everything`() {
        harness.failures(3)
        harness.delays.advance(1)
        let recorders = (0..<3).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { harness.downloader.start(testURL("/n\(number)"), recorder) }
        harness.downloader.cancelAllDownloads()
        #expect(recorders.allSatisfy { $0.code == .cancelled && $0.results.count == 1 })
        harness.downloader.start(testURL("/probe"), Recorder())
        #expect(harness.starts == 5, "another may find out")
    }

    @Test func `A change of the policy resets the state, and never disables the back-off`() async {
        harness.failures(3)
        #expect(await harness.refusal(testURL("/x")) != nil)
        harness.downloader.config.hostBackOff = .never
        harness.failures(20)
        #expect(harness.starts == 23)
        harness.downloader.config.hostBackOff = .exact
        harness.failures(3)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/probe"), Recorder())
        harness.downloader.start(testURL("/waiting"), Recorder())
        #expect(harness.starts == 27)
        harness.downloader.config.hostBackOff = .default
        #expect(harness.starts == 28, "waiting downloads continue")
    }

    @Test func `By default eight failures start the back-off`() async {
        let harness = RetryHarness(.never, hostBackOff: .default)
        harness.failures(8)
        let error = await harness.refusal(testURL("/x"))
        #expect(error?.code == .hostUnavailable && error?.retryAfter == 0.75, "half of the time is chance")
    }

    @Test func `Observers and statistics count a refused download as a failed one`() async {
        let log = Lock<[String]>([])
        harness.failures(3)
        let observation = harness.downloader.observe(on: .inline) { event in
            switch event {
            case .started: log.withLock { $0.append("started") }
            case .stopped(_, let error, _): log.withLock { $0.append("stopped \(error?.code.rawValue ?? 0)") }
            default: log.withLock { $0.append("other") }
            }
        }
        _ = await harness.refusal(testURL("/x"))
        #expect(log.withLock { $0 } == ["started", "stopped 2106"])
        let statistics = harness.downloader.statistics
        #expect(statistics.started == 4 && statistics.failed == 4 && statistics.running == 0 && statistics.callers == 0)
        observation.cancel()
    }

    @Test func `An invalidated downloader finishes after downloads that wait for a probe`() {
        harness.failures(3)
        harness.delays.advance(1)
        harness.downloader.start(testURL("/probe"), Recorder())
        let waiting = Recorder()
        harness.downloader.start(testURL("/waiting"), waiting)
        harness.downloader.invalidate(cancelling: false)
        transfers[3].complete([1])
        #expect(!harness.transport.isInvalidated)
        transfers[4].complete([2])
        #expect(waiting.data == Data([2]) && harness.transport.isInvalidated)
    }
}
