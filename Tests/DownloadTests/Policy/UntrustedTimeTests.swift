import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading

/// The time limit of all attempts of one download under a policy, in virtual time.
@Suite struct UntrustedTimeTests {
    /// A downloader in virtual time that retries after 1, 2 and 4 seconds.
    private struct Harness {
        let transport = CheckingTransport()
        let delays = ManualClock()
        let downloader: WebImageDownloader
        let recorder = Recorder()

        init(_ policy: SourcePolicy, _ change: (inout WebImageDownloaderConfig) -> Void = { _ in }) {
            var config = WebImageDownloaderConfig()
            config.retryPolicy = .exact
            config.hostBackOff = .never
            config.sourcePolicy = policy
            change(&config)
            downloader = WebImageDownloader(
                core: DownloaderCore(
                    config: config,
                    transport: transport,
                    clock: delays.source,
                    delays: delays.delays,
                    random: { 0.5 }
                ),
                pipeline: .prompt
            )
        }

        func start() throws {
            downloader.start(try #require(URL(string: "https://cdn.example.com/a.jpg")), recorder)
        }

        var transfers: [FakeTransport.Transfer] { transport.base.transfers }

        func fail(_ number: Int) {
            transfers[number].end(WebImageError(.networkConnectionLost, "attempt \(number)"))
        }
    }

    private func policy(seconds: Double) -> SourcePolicy {
        var policy = SourcePolicy.untrusted
        policy.maximumDuration = seconds
        return policy
    }

    @Test func `All attempts and the waits between them share one time limit`() throws {
        let harness = Harness(policy(seconds: 10))
        try harness.start()
        #expect(harness.transfers[0].request.totalTimeout == 10)
        harness.delays.advance(3)
        harness.fail(0)
        harness.delays.advance(1)
        #expect(harness.transfers.count == 2 && harness.transfers[1].request.totalTimeout == 6)
        harness.delays.advance(4.5)
        harness.fail(1)
        // The third would begin after 10.5 seconds.
        #expect(harness.recorder.code == .networkConnectionLost && harness.recorder.error?.message == "attempt 1")
        #expect(harness.transfers.count == 2 && harness.delays.count == 0)
    }

    @Test func `A redirect of a retry has the remaining time`() throws {
        let harness = Harness(policy(seconds: 10))
        try harness.start()
        harness.delays.advance(2)
        harness.fail(0)
        harness.delays.advance(1)
        harness.delays.advance(2)
        let answer = harness.transfers[1].respond(302, headers: ["Location": "https://other.example.com/b.jpg"])
        harness.transfers[1].end(answer)
        #expect(harness.transfers.count == 3 && harness.transfers[2].request.totalTimeout == 5)
        harness.delays.advance(6)
        let late = harness.transfers[2].respond(302, headers: ["Location": "/c.jpg"])
        harness.transfers[2].end(late)
        #expect(harness.transfers.count == 3 && harness.recorder.code == .timedOut)
        #expect(harness.recorder.error?.message.contains("10.0 s") == true)
    }

    @Test func `For trusted sources each attempt has its own time limit`() throws {
        let harness = Harness(.trusted) { $0.totalTimeout = 10 }
        try harness.start()
        harness.delays.advance(9)
        harness.fail(0)
        harness.delays.advance(1)
        #expect(harness.transfers.count == 2 && harness.transfers[1].request.totalTimeout == 10)
    }

    @Test(arguments: [SourcePolicy.untrusted, .trusted])
    func `Under a policy an attempt does not resume the one before`(policy: SourcePolicy) throws {
        let harness = Harness(policy)
        try harness.start()
        let fields: HTTPHeaders = ["Content-Length": "100000", "ETag": "\"a\"", "Accept-Ranges": "bytes"]
        #expect(harness.transfers[0].respond(headers: fields) == nil)
        var body = try smallImageData()
        body += [UInt8](repeating: 7, count: 90_000 - body.count)
        #expect(harness.transfers[0].send(body) == nil)
        harness.fail(0)
        harness.delays.advance(1)
        let second = try #require(harness.transfers.last).request
        #expect(harness.transfers.count == 2 && (second.headers["Range"] == nil) == !policy.isTrusted)
        #expect((second.headers["If-Range"] == nil) == !policy.isTrusted)
    }

    @Test func `Timeouts for connecting and silence are not longer than the total limit`() throws {
        let harness = Harness(policy(seconds: 5)) { config in
            (config.connectTimeout, config.downloadTimeout) = (3600, 3600)
        }
        try harness.start()
        let request = harness.transfers[0].request
        #expect(request.connectTimeout == 5 && request.idleTimeout == 5 && request.totalTimeout == 5)
        let unlimited = Harness(policy(seconds: 0)) { $0.connectTimeout = 3600 }
        try unlimited.start()
        #expect(unlimited.transfers[0].request.connectTimeout == 3600)
        #expect(unlimited.transfers[0].request.totalTimeout == 0)
    }

    @Test func `The policy's minimum speed replaces a lower one of the configuration`() throws {
        for (own, expected) in [(0, 1000), (100, 1000), (5000, 5000)] {
            let harness = Harness(.untrusted) { $0.minimumBytesPerSecond = own }
            try harness.start()
            #expect(harness.transfers[0].request.minimumBytesPerSecond == expected)
        }
    }

    // MARK: Heads

    @Test func `Response heads before a redirect's count with it`() throws {
        var chain = RedirectChain()
        var metrics = DownloadMetrics()
        metrics.heads.value = DownloadMetrics.Heads(byteCount: 1000, fieldCount: 30)
        for _ in 0..<2 {
            let url = try #require(URL(string: "https://cdn.example.com/"))
            chain.note(HTTPResponse(url: url, statusCode: 302, headers: ["Location": "/c"]))
            chain.note(metrics)
        }
        var request = HTTPTransferRequest(url: try #require(URL(string: "https://cdn.example.com/c")))
        (request.maximumHeaderByteCount, request.maximumHeaderCount) = (5000, 100)
        try chain.bound(&request)
        #expect(request.maximumHeaderByteCount == 3000 && request.maximumHeaderCount == 40)
        metrics.heads.value = DownloadMetrics.Heads(byteCount: 1_000_000, fieldCount: 1_000_000)
        chain.note(metrics)
        try chain.bound(&request)
        #expect(request.maximumHeaderByteCount == 0 && request.maximumHeaderCount == 0)
    }

    @Test func `Interim heads add up over redirects`() async throws {
        let body = try smallImageData()
        let interim = (0..<30).map { "X-\($0): a\r\n" }.joined()
        let server = try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return .script { _, connection in
                guard connection.send("HTTP/1.1 103 Early Hints\r\n\(interim)\r\n") else { return false }
                guard number > 0 else {
                    return connection.sendHead(200, [("Content-Length", "\(body.count)")]) && connection.send(body)
                }
                return connection.sendHead(302, [("Location", "/\(number - 1)"), ("Content-Length", "0")])
            }
        }
        let downloader = WebImageDownloader(try .allowing(server))
        #expect(await downloadError(downloader, server.url("/2")) == nil)
        // Of 100 fields each of the four requests has 31 or more.
        let error = await downloadError(downloader, server.url("/3"))
        #expect(error?.limit?.name == "maximumResponseHeaderCount")
    }
}
