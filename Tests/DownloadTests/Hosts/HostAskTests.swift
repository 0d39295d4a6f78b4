import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// Downloads delayed by a response with `Retry-After`, in virtual time.
@Suite struct HostAskTests {
    private let harness = RetryHarness(.never, hostBackOff: .default)

    /// A download is sent and answered with a status that asks for a wait.
    private func ask(_ path: String, _ status: Int = 503, seconds: Int = 600) {
        let number = harness.starts
        harness.downloader.start(testURL(path), Recorder())
        #expect(harness.starts == number + 1)
        harness.answer(number, status, headers: ["Retry-After": "\(seconds)"])
    }

    private func answer(_ path: String) {
        let number = harness.starts
        harness.downloader.start(testURL(path), Recorder())
        #expect(harness.starts == number + 1)
        harness.transport.transfers[number].complete([1])
    }

    @Test(arguments: [429, 503]) func `One such response delays its URL, but not its host`(status: Int) async {
        ask("/a", status)
        let refused = await harness.refusal(testURL("/a"))
        #expect(refused?.code == .hostUnavailable && refused?.retryAfter == 600)
        answer("/b")
        #expect(await harness.refusal(testURL("/a"))?.code == .hostUnavailable)
        harness.delays.advance(600)
        answer("/a")
    }

    @Test func `Three in a row delay the host, and another response between them resets the count`() async {
        ask("/a", 429)
        ask("/b", 429)
        answer("/c")
        ask("/d", 429)
        ask("/e", 429)
        answer("/f")
        ask("/g", 429)
        ask("/h", 429)
        ask("/i", 429)
        #expect(await harness.refusal(testURL("/j"))?.retryAfter == 600)
    }

    @Test
    func `Under a policy hosts are never delayed, and URLs at most for a download's time limit`() async throws {
        var config = WebImageDownloaderConfig()
        config.sourcePolicy = .untrusted
        let (transport, delays) = (CheckingTransport(), ManualClock())
        let core = DownloaderCore(
            config: config,
            transport: transport,
            clock: delays.source,
            delays: delays.delays
        )
        let downloader = WebImageDownloader(core: core, pipeline: .prompt)
        func url(_ path: String) throws -> URL { try #require(URL(string: "http://example.com\(path)")) }
        for number in 0..<20 {
            downloader.start(try url("/\(number)"), Recorder())
            let transfer = try #require(transport.base.transfers.last)
            #expect(transport.base.transfers.count == number + 1)
            transfer.end(transfer.respond(429, headers: ["Retry-After": "600"]))
        }
        let refused = Recorder()
        downloader.start(try url("/7"), refused)
        await refused.end()
        #expect(refused.code == .hostUnavailable && refused.error?.retryAfter == 60)
        delays.advance(60)
        downloader.start(try url("/7"), Recorder())
        #expect(transport.base.transfers.count == 21)
    }

    @Test func `The redirect's own URL is delayed as well`() async {
        harness.downloader.start(testURL("/from"), Recorder())
        let first = harness.transport.transfers[0]
        first.end(first.respond(302, headers: ["Location": "/to"]))
        let second = harness.transport.transfers[1]
        second.end(second.respond(503, headers: ["Retry-After": "9"]))
        #expect(await harness.refusal(testURL("/from"))?.retryAfter == 9)
        #expect(await harness.refusal(testURL("/to"))?.retryAfter == 9)
        answer("/other")
    }

    @Test func `At most 1024 URLs are remembered, and those with the earliest end of the delay are dropped first`() {
        var table = HostTable()
        var outcome = HostReport.Outcome()
        for number in 0..<1100 {
            // Different hosts, so that none is delayed.
            let url = hostURL("/a", "h\(number).test")
            outcome.response = HTTPResponse(url: url, statusCode: 429, headers: ["Retry-After": "\(number + 10)"])
            let report = HostReport(url, outcome, wallTime: 0)
            _ = table.note(report, of: UInt64(number), policy: .default, at: 0, random: 0)
        }
        func admission(_ number: Int) -> HostTable.Admission {
            table.admit(hostURL("/a", "h\(number).test"), 1, mayHold: false, at: 0)
        }
        #expect(admission(0) == .proceed)
        #expect(admission(500) == .refuse(seconds: 510, wasAsked: true))
        #expect(admission(1099) == .refuse(seconds: 600, wasAsked: true))
    }
}
