import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// Hedged downloads: slow requests are sent twice.
@Suite struct HedgedDownloadTests {
    @Test func `By default no request is sent twice`() {
        let harness = RetryHarness(.never)
        harness.downloader.start(testURL("/a"), Recorder())
        harness.delays.runAll()
        #expect(harness.starts == 1 && harness.delays.asked.isEmpty)
    }

    @Test func `A slow request is sent twice, and is one download for its callers`() {
        let harness = RetryHarness(.never)
        harness.downloader.config.hedgeDelay = 0.5
        let (first, second) = (Recorder(), Recorder())
        let token = harness.downloader.start(testURL("/a"), first)
        harness.downloader.start(testURL("/a"), second)
        harness.delays.advance(0.5)
        #expect(harness.starts == 2 && harness.downloader.currentDownloadCount == 1)
        harness.transport.transfers[1].complete([1, 2, 3])
        harness.transport.transfers[0].complete([9])
        #expect(first.data == Data([1, 2, 3]) && second.data == Data([1, 2, 3]) && first.results.count == 1)
        #expect(token.metrics?.wasHedged == true && token.metrics?.attemptCount == 1)
        #expect(harness.downloader.statistics.started == 1)
    }

    @Test func `Cancelling a download cancels both requests`() {
        let harness = RetryHarness(.never)
        harness.downloader.config.hedgeDelay = 0.5
        let token = harness.downloader.start(testURL("/a"), Recorder())
        harness.delays.advance(0.5)
        token.cancel()
        #expect(harness.transport.transfers.map(\.isCancelled) == [true, true])
    }

    @Test func `Each attempt may be hedged, and the failure of both requests counts as one failure of the host`()
        async throws
    {
        let host = try #require(HostKey(testURL("/")))
        let harness = RetryHarness(hostBackOff: .exact)
        harness.downloader.config.hedgeDelay = 0.5
        let recorder = Recorder()
        harness.downloader.start(testURL("/a"), recorder)
        harness.delays.advance(0.5)
        harness.fail(0)
        #expect(harness.delays.count == 0)
        harness.fail(1)
        #expect(harness.downloader.core.state.withLock { $0.hosts.hosts[host] }?.circuit == .closed(failures: 1))
        harness.delays.advance(1)
        #expect(harness.starts == 3)
        harness.delays.advance(0.5)
        harness.transport.transfers[3].complete([1])
        #expect(recorder.data == Data([1]) && harness.starts == 4)
    }

    @Test func `A request changed to POST by a modifier is not hedged`() {
        let harness = RetryHarness(.never)
        harness.downloader.config.hedgeDelay = 0.5
        let modifier = DownloadRequestModifier(method: "POST", body: Data([1]))
        harness.downloader.start(testURL("/a"), Recorder(), context: .with { $0.downloadRequestModifier = modifier })
        harness.delays.advance(1)
        #expect(harness.starts == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `A request that the server forgets is sent again, and the first is cancelled`()
        async throws
    {
        let count = Counter()
        let server = try LoopbackServer { _ in count.add() == 1 ? .silence : .response(body: pattern(40_000)) }
        var config = WebImageDownloaderConfig()
        config.hedgeDelay = 0.02
        let downloader = WebImageDownloader(config: config)
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == pattern(40_000) && server.requestCount() == 2)
        #expect(loaded.metrics?.wasHedged == true && (loaded.metrics?.total ?? 0) > 0.02)
        #expect(await server.wait { _, open in open <= 1 })
    }

    @Test(.timeLimit(.minutes(1))) func `Many hedged downloads are complete`() async throws {
        let server = try LoopbackServer { request in .response(body: Array(request.path.utf8) + pattern(20_000)) }
        var config = WebImageDownloaderConfig()
        config.hedgeDelay = 0
        config.maxConcurrentDownloads = 12
        let downloader = WebImageDownloader(config: config)
        let recorders = (0..<300).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { downloader.start(server.url("/\(number)"), recorder) }
        for recorder in recorders { await recorder.end() }
        for (number, recorder) in recorders.enumerated() {
            #expect(recorder.data == Data(Array("/\(number)".utf8) + pattern(20_000)) && recorder.results.count == 1)
        }
        #expect(downloader.currentDownloadCount == 0)
    }
}
