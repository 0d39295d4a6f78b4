import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs

/// Redirects and their handlers, on a server.
@Suite struct RedirectHandlerTests {
    private let downloader = WebImageDownloader()

    /// `/a` redirects to `/b`, that to `/c`, the image; `/loop` redirects to itself.
    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/a": .response(302, headers: [("Location", "/b"), ("X", "1")], body: pattern(100))
            case "/b": .response(307, headers: [("Location", "c")], body: pattern(100))
            case "/loop": .redirect(to: "/loop")
            default: .response(body: Array(request.path.utf8))
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `A handler may follow, change, stop or fail`() async throws {
        let server = try server()
        let calls = Monitor<[(HTTPResponse, DownloadRequest)]>([])
        downloader.redirectHandler = DownloadRedirectHandler { response, next in
            calls.withLock { $0.append((response, next)) }
            return .follow(next)
        }
        let followed = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(followed.data) == Array("/c".utf8) && followed.response?.url == server.url("/c"))
        #expect(followed.metrics?.redirectCount == 2 && (followed.metrics?.total ?? 0) > 0)
        let seen = calls.withLock { $0 }
        #expect(seen.map(\.0.statusCode) == [302, 307] && seen.first?.0.headers["X"] == "1")
        #expect(seen.map(\.1.url) == [server.url("/b"), server.url("/c")])

        downloader.redirectHandler = DownloadRedirectHandler { _, next in
            var next = next
            next.url = server.url("/changed")
            next.headers["X"] = "changed"
            return .follow(next)
        }
        #expect(Array(try await downloader.downloadData(with: server.url("/a")).data) == Array("/changed".utf8))
        #expect(server.requests.last?.header("X") == "changed")

        downloader.redirectHandler = DownloadRedirectHandler { _, _ in .stop }
        let stopped = await downloadError(downloader, server.url("/a"))
        #expect(stopped?.code == .invalidDownloadStatusCode && stopped?.statusCode == 302)
        downloader.config.acceptableStatusCodes = nil
        #expect(try await downloader.downloadData(with: server.url("/a")).data == Data(pattern(100)))

        downloader.redirectHandler = DownloadRedirectHandler { _, _ in .fail(WebImageError(.timedOut, "no")) }
        let failed = await downloadError(downloader, server.url("/a"))
        #expect(failed?.code == .timedOut && failed?.url == server.url("/a"))
    }

    @Test(.timeLimit(.minutes(1))) func `The context's handler replaces the downloader's`() async throws {
        let server = try server()
        downloader.redirectHandler = DownloadRedirectHandler { _, _ in .stop }
        let context = WebImageContext.with { $0.redirectHandler = DownloadRedirectHandler { .follow($1) } }
        #expect(await downloader.end(server.url("/a"), context: context).data == Data("/c".utf8))
    }

    @Test(.timeLimit(.minutes(1))) func `A loop ends at the limit`() async throws {
        let server = try server()
        downloader.config.maximumRedirectCount = 4
        downloader.redirectHandler = DownloadRedirectHandler { .follow($1) }
        let error = await downloadError(downloader, server.url("/loop"))
        #expect(error?.code == .badRedirect && server.requestCount("/loop") == 5)
    }

    @Test(.timeLimit(.minutes(1))) func `A handler's own loop ends at the limit`()
        async throws
    {
        let server = try server()
        downloader.redirectHandler = DownloadRedirectHandler { _, next in
            var next = next
            next.url = server.url("/a")
            return .follow(next)
        }
        #expect(await downloadError(downloader, server.url("/a"))?.code == .badRedirect)
        #expect(server.requestCount() == 11)
    }

    @Test(.timeLimit(.minutes(1))) func `Secrets are not sent to another host`() async throws {
        let other = try server()
        let target = "http://localhost:\(other.port)/c"
        let server = try LoopbackServer { $0.path == "/away" ? .redirect(to: target) : .redirect(to: "/away") }
        downloader.redirectHandler = DownloadRedirectHandler { .follow($1) }
        downloader.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
        downloader.setValue("a=1", forHTTPHeaderField: "Cookie")
        _ = try await downloader.downloadData(with: server.url("/a"))
        #expect(server.requests.map { $0.header("Authorization") } == ["Bearer 1", "Bearer 1"])
        #expect(other.requests.map { $0.header("Authorization") } == [nil])
        #expect(other.requests.map { $0.header("Cookie") } == [nil])
    }

    @Test(.timeLimit(.minutes(1))) func `A service's key is not sent to another host, also without a handler`()
        async throws
    {
        let other = try server()
        let target = "http://localhost:\(other.port)/c"
        let server = try LoopbackServer { $0.path == "/away" ? .redirect(to: target) : .redirect(to: "/away") }
        for name in ["X-Api-Key", "Proxy-Authorization", "Authorization"] {
            downloader.setValue("s3cret", forHTTPHeaderField: name)
        }
        downloader.setValue("kept", forHTTPHeaderField: "X-Other")
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == Array("/c".utf8) && loaded.metrics?.redirectCount == 2)
        #expect(server.requests.map { $0.header("X-Api-Key") } == ["s3cret", "s3cret"])
        let request = try #require(other.requests.first)
        #expect(request.header("X-Other") == "kept" && !request.headers.contains { $0.value == "s3cret" })
    }

    @Test(.timeLimit(.minutes(1))) func `Cancelling between two requests ends the download`() async throws {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(transport: transport)
        let tokens = Monitor<WebImageDownloadToken?>(nil)
        downloader.redirectHandler = DownloadRedirectHandler { _, next in
            tokens.withLock { $0 }?.cancel()
            return .follow(next)
        }
        let recorder = Recorder()
        let token = downloader.start(testURL("/a"), recorder)
        tokens.withLock { $0 = token }
        let refusal = transport.transfers[0].respond(302, headers: ["Location": "/b"])
        #expect(refusal != nil)
        transport.transfers[0].end(refusal)
        #expect(recorder.code == .cancelled && recorder.results.count == 1 && transport.transfers.count == 1)
        tokens.withLock { $0 = nil }
    }

    @Test func `The second request of a redirect can be cancelled`() {
        let transport = FakeTransport()
        let downloader = WebImageDownloader(transport: transport)
        let recorder = Recorder()
        let token = downloader.start(testURL("/a"), recorder)
        transport.transfers[0].end(transport.transfers[0].respond(301, headers: ["Location": "/b"]))
        #expect(transport.transfers[1].request.url == testURL("/b") && downloader.currentDownloadCount == 1)
        #expect(token.request?.url == testURL("/a") && token.response == nil)
        token.cancel()
        #expect(transport.transfers[1].isCancelled && recorder.code == .cancelled)
    }
}
