import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs

@Suite struct RequestModifierTests {
    private let transport = FakeTransport()
    private let downloader: WebImageDownloader
    private let url = testURL("/a")

    init() { downloader = WebImageDownloader(transport: transport) }

    // MARK: Sent requests

    @Test func `Method, fields and body arrive at the server`() async throws {
        let server = try LoopbackServer { .response(body: $0.body.reversed()) }
        let downloader = WebImageDownloader()
        downloader.setValue("1", forHTTPHeaderField: "X-A")
        downloader.requestModifier = DownloadRequestModifier { request in
            var request = request
            request.method = "POST"
            request.headers["X-B"] = request.headers["X-A"].map { $0 + "2" }
            request.body = Data([3, 2, 1])
            return request
        }
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == [1, 2, 3])
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.body == [3, 2, 1])
        #expect(request.header("X-A") == "1" && request.header("X-B") == "12")
        #expect(downloader.requestModifier != nil)
    }

    @Test func `A modifier that changes only fields removes the body`() async {
        let request = DownloadRequest(url: url, method: "POST", body: Data([1]))
        let modified = await DownloadRequestModifier(headers: ["X": "1"]).modifiedRequest(for: request)
        #expect(modified == DownloadRequest(url: url, headers: ["X": "1"]))
    }

    @Test func `Fields of the context reach the server through the manager`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let harness = try EndToEndHarness { _ in .response(body: body) }
        let context = WebImageContext.with {
            $0.additionalHeaders = ["X-A": "1", "X-B": "1"]
            $0.downloadRequestModifier = DownloadRequestModifier(headers: ["X-B": "2"])
        }
        _ = try await harness.manager.image(with: harness.server.url("/a"), context: context)
        let request = try #require(harness.server.requests.first)
        #expect(request.header("X-A") == "1" && request.header("X-B") == "2")
    }

    @Test func `The context's modifier replaces the downloader's`() throws {
        downloader.requestModifier = DownloadRequestModifier(headers: ["X-A": "own", "X-B": "own"])
        downloader.start(
            url,
            Recorder(),
            context: .with { $0.downloadRequestModifier = DownloadRequestModifier(headers: ["X-A": "context"]) }
        )
        downloader.start(url, Recorder())
        let headers = transport.transfers.map(\.request.headers)
        #expect(headers.map { $0["X-A"] } == ["context", "own"])
        #expect(headers.map { $0["X-B"] } == [nil, "own"])
        downloader.requestModifier = nil
        downloader.start(url, Recorder())
        #expect(try #require(transport.transfers.last).request.headers["X-A"] == nil)
    }

    @Test func `A modifier gets the request to be sent, and only its changes apply`() throws {
        downloader.config.urlCredential = WebImageCredential(user: "u", password: "p")
        let seen = Monitor<DownloadRequest?>(nil)
        downloader.requestModifier = DownloadRequestModifier { request in
            seen.withLock { $0 = request }
            var request = request
            request.timeout = 3
            request.credential = nil
            request.handlesCookies = false
            request.verifiesCertificates = false
            request.headers["Content-Length"] = "7"
            request.headers["Transfer-Encoding"] = "chunked"
            return request
        }
        downloader.start(url, Recorder(), options: .handleCookies, headers: ["X": "1"])
        let given = try #require(seen.withLock { $0 })
        #expect(given.url == url && given.method == "GET" && given.body == nil && given.attempt == 1)
        #expect(given.timeout == 0 && given.handlesCookies && given.verifiesCertificates)
        #expect(given.credential?.user == "u" && given.headers["X"] == "1" && given.headers["Accept"] != nil)
        let sent = transport.transfers[0].request
        #expect(sent.idleTimeout == 3 && sent.credential == nil)
        #expect(!sent.handlesCookies && !sent.verifiesCertificates)
        #expect(sent.headers["Content-Length"] == nil && sent.headers["Transfer-Encoding"] == nil)
    }

    @Test func `The token has the request as it was sent`() {
        downloader.isSuspended = true
        downloader.requestModifier = DownloadRequestModifier(method: "PUT", headers: ["X": "1"], body: Data([1]))
        let token = downloader.start(url, Recorder())
        #expect(token.request == nil)
        downloader.isSuspended = false
        #expect(token.request?.method == "PUT" && token.request?.body == Data([1]))
        #expect(token.request?.headers["X"] == "1")
        #expect(downloader.start(url, Recorder()).request == token.request, "also a late caller")
    }

    @Test func `Another address changes neither coalescing nor the image's key`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let harness = try EndToEndHarness { $0.path == "/elsewhere" ? .response(body: body) : .response(404) }
        let target = harness.server.url("/elsewhere")
        harness.downloader.requestModifier = DownloadRequestModifier { request in
            var request = request
            request.url = target
            return request
        }
        let url = harness.server.url("/a")
        _ = try await harness.manager.image(with: url)
        _ = try await harness.manager.image(with: url)
        #expect(harness.server.requests.map(\.path) == ["/elsewhere"])
    }

    // MARK: Refusals

    @Test(.timeLimit(.minutes(1))) func `A modifier that returns nil ends every caller once`() async {
        downloader.requestModifier = DownloadRequestModifier { _ in nil }
        downloader.isSuspended = true
        let recorders = (0..<3).map { _ in Recorder() }
        for recorder in recorders { downloader.start(url, recorder) }
        downloader.isSuspended = false
        for recorder in recorders {
            await recorder.end()
            #expect(recorder.results.count == 1 && recorder.code == .invalidDownloadOperation)
            #expect(recorder.error?.url == url)
        }
        #expect(transport.transfers.isEmpty && downloader.currentDownloadCount == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `Any number of refusals in a row does not recurse`() async {
        downloader.requestModifier = DownloadRequestModifier { _ in nil }
        downloader.isSuspended = true
        let recorders = (0..<20_000).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() { downloader.start(testURL("/\(number)"), recorder) }
        downloader.isSuspended = false
        for recorder in recorders where recorder.results.isEmpty { await recorder.end() }
        #expect(recorders.allSatisfy { $0.code == .invalidDownloadOperation })
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (DownloadRequest(url: testURL("/"), method: "GET /x"), WebImageError.Code.invalidDownloadOperation),
            (DownloadRequest(url: testURL("/"), method: "GET\r\nX: 1"), .invalidDownloadOperation),
            (DownloadRequest(url: testURL("/"), method: ""), .invalidDownloadOperation),
            (DownloadRequest(url: testURL("/"), method: "HEAD", body: Data([1])), .invalidDownloadOperation),
            (DownloadRequest(url: testURL("/"), headers: ["X": "a\r\nY: b"]), .invalidDownloadOperation),
            (DownloadRequest(url: testURL("/"), headers: ["X Y": "a"]), .invalidDownloadOperation),
            (DownloadRequest(url: URL(filePath: "/etc/passwd")), .invalidURL),
            (DownloadRequest(url: URL(string: "ftp://host/a") ?? testURL("/")), .invalidURL),
            (DownloadRequest(url: URL(string: "http:///a") ?? testURL("/")), .invalidURL),
        ]
    ) func `A forbidden request is refused`(request: DownloadRequest, code: WebImageError.Code) async {
        downloader.requestModifier = DownloadRequestModifier { _ in request }
        let recorder = Recorder()
        downloader.start(url, recorder)
        await recorder.end()
        #expect(recorder.code == code && recorder.error?.url == url)
        #expect(transport.transfers.isEmpty)
    }

    // MARK: Asynchronous modifiers

    @Test(.timeLimit(.minutes(1))) func `An asynchronous modifier is awaited`() async throws {
        let (answers, answer) = AsyncStream.makeStream(of: String.self)
        downloader.requestModifier = DownloadRequestModifier(asynchronously: { request in
            var request = request
            for await token in answers { request.headers["Authorization"] = token }
            return request
        })
        let recorder = Recorder()
        downloader.start(url, recorder)
        #expect(transport.transfers.isEmpty)
        answer.yield("Bearer 1")
        answer.finish()
        let transfer = await transport.firstTransfer()
        #expect(transfer.request.headers["Authorization"] == "Bearer 1")
        transfer.complete([1])
        #expect(recorder.data == Data([1]))
    }

    @Test(.timeLimit(.minutes(1))) func `Cancelling ends the download and cancels an asynchronous modifier`() async {
        let (questions, question) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        downloader.requestModifier = DownloadRequestModifier(asynchronously: { request in
            question.yield()
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            end.yield(Task.isCancelled)
            return request
        })
        let recorder = Recorder()
        let token = downloader.start(url, recorder)
        for await _ in questions { break }
        token.cancel()
        #expect(recorder.code == .cancelled)
        for await isCancelled in ends {
            #expect(isCancelled)
            break
        }
        await Task.yield()
        #expect(transport.transfers.isEmpty && recorder.results.count == 1 && downloader.currentDownloadCount == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `An asynchronous modifier that returns nil ends the download`() async {
        downloader.requestModifier = DownloadRequestModifier(asynchronously: { _ in nil })
        let recorder = Recorder()
        downloader.start(url, recorder)
        await recorder.end()
        #expect(recorder.code == .invalidDownloadOperation)
    }

    // MARK: Retries

    @Test func `The request modifier is called again for a retry`() {
        let harness = RetryHarness()
        let given = Lock<[DownloadRequest]>([])
        harness.downloader.requestModifier = DownloadRequestModifier { request in
            given.withLock { $0.append(request) }
            var request = request
            // Like a token that has expired since the first attempt.
            request.headers["Authorization"] = "token \(request.attempt)"
            return request
        }
        let recorder = Recorder()
        let token = harness.downloader.start(url, recorder, headers: ["X": "1"])
        for attempt in 0..<2 {
            harness.fail(attempt)
            #expect(given.withLock { $0.count } == attempt + 1, "not before the attempt")
            harness.delays.runAll()
        }
        #expect(given.withLock { $0.map(\.attempt) } == [1, 2, 3])
        #expect(given.withLock { $0.allSatisfy { $0.headers["Authorization"] == nil && $0.headers["X"] == "1" } })
        let sent = harness.transport.transfers.map(\.request.headers)
        #expect(sent.map { $0["Authorization"] } == ["token 1", "token 2", "token 3"])
        #expect(sent.allSatisfy { $0["X"] == "1" })
        harness.transport.transfers[2].complete([1])
        #expect(recorder.data == Data([1]) && token.request?.headers["Authorization"] == "token 3")
    }

    @Test(.timeLimit(.minutes(1))) func `A modifier that returns nil for a retry ends the download`() async {
        let harness = RetryHarness()
        harness.downloader.requestModifier = DownloadRequestModifier { $0.attempt == 1 ? $0 : nil }
        let recorder = Recorder()
        harness.downloader.start(url, recorder)
        harness.fail(0)
        harness.delays.runAll()
        await recorder.end()
        #expect(recorder.code == .invalidDownloadOperation && recorder.results.count == 1)
        #expect(harness.starts == 1 && harness.delays.count == 0 && harness.downloader.currentDownloadCount == 0)
    }

    // MARK: Sharing

    @Test func `Callers with different modifiers do not share`() {
        let modifier = DownloadRequestModifier()
        for modifier in [modifier, DownloadRequestModifier(), modifier, nil] {
            downloader.start(url, Recorder(), context: .with { $0.downloadRequestModifier = modifier })
        }
        #expect(transport.transfers.count == 3)
    }

    @Test func `Nothing is retained when the download is over`() {
        final class Owned: Sendable {}
        weak var owned: Owned?
        var token: WebImageDownloadToken?
        do {
            let object = Owned()
            owned = object
            let context = WebImageContext.with {
                $0.downloadRequestModifier = DownloadRequestModifier { [object] request in
                    withExtendedLifetime(object) { request }
                }
            }
            token = downloader.start(url, Recorder(), context: context)
            transport.transfers[0].complete([1])
            transport.forgetTransfers()
        }
        #expect(owned == nil)
        #expect(token?.request != nil)
    }
}
