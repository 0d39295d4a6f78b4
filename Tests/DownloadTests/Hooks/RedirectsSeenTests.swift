import FoundationEssentials
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// The redirects that led to a response are reported with it.
@Suite(.timeLimit(.minutes(1))) struct RedirectsSeenTests {
    private let downloader = WebImageDownloader()

    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/a":
                .response(302, headers: [("Location", "/b"), ("Cache-Control", "max-age=9")], body: pattern(100))
            case "/b": .response(301, headers: [("Location", "c"), ("X", "1"), ("X", "2")])
            case "/missing": .redirect(to: "/nothing", status: 308)
            case "/nothing": .response(404)
            case "/loop": .redirect(to: "/loop")
            case "/open": .response(300, headers: [("X", "1")], body: [1])
            default: .response(headers: [("ETag", "\"e\"")], body: [1])
            }
        }
    }

    private func exchange(_ url: URL) async throws -> HTTPExchange {
        let loaded = try await downloader.downloadData(with: url)
        return try #require(loaded.response?.exchange)
    }

    private func expectBoth(_ exchange: HTTPExchange, sourceLocation: SourceLocation = #_sourceLocation) {
        let hops = exchange.redirects
        #expect(hops.map(\.statusCode) == [302, 301], sourceLocation: sourceLocation)
        #expect(hops.first?.headers["cache-control"] == "max-age=9", sourceLocation: sourceLocation)
        #expect(
            hops.last?.headers["Location"] == "c" && hops.last?.headers["X"] == "1, 2",
            sourceLocation: sourceLocation
        )
        #expect(hops.allSatisfy { $0.headers["ETag"] == nil }, sourceLocation: sourceLocation)
        #expect(
            exchange.requestHeaders["User-Agent"] != nil && exchange.requestTime > 0,
            sourceLocation: sourceLocation
        )
    }

    @Test func `They are reported alike with and without a handler`() async throws {
        let server = try server()
        expectBoth(try await exchange(server.url("/a")))
        downloader.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) }
        expectBoth(try await exchange(server.url("/a")))
        #expect(server.requestCount() == 6)
    }

    @Test func `Without a redirect there are none`() async throws {
        let server = try server()
        #expect(try await exchange(server.url("/c")).redirects.isEmpty)
        downloader.config.acceptableStatusCodes = nil
        #expect(try await exchange(server.url("/open")).redirects.isEmpty, "an answer that leads nowhere is the answer")
        downloader.redirectHandler = DownloadRedirectHandler { _, _ in .stop }
        #expect(try await exchange(server.url("/a")).redirects.isEmpty, "nor one that is not followed")
    }

    @Test func `They are reported with a refused response, too`() async throws {
        let server = try server()
        for _ in 0..<2 {
            let error = await downloadError(downloader, server.url("/missing"))
            #expect(error?.statusCode == 404)
            #expect(error?.response?.exchange?.redirects.map(\.statusCode) == [308])
            downloader.redirectHandler = DownloadRedirectHandler { _, next in .follow(next) }
        }
    }

    @Test func `Responses on the way count towards the limit of all heads`() async throws {
        let server = try server()
        downloader.config.maximumResponseHeaderCount = 5
        let many = await downloadError(downloader, server.url("/a"))
        #expect(many?.limit?.name == "maximumResponseHeaderCount")
        downloader.config.maximumResponseHeaderCount = 250
        #expect(await downloadError(downloader, server.url("/loop"))?.code == .badRedirect)
    }

    @Test func `Attempts do not inherit each other's redirects`() async throws {
        let count = Counter()
        let server = try LoopbackServer { request in
            guard request.path == "/a" else { return .response(body: [1]) }
            return count.add() == 1 ? .redirect(to: "/gone", status: 307) : .response(body: [2])
        }
        let first = try await exchange(server.url("/a"))
        let second = try await exchange(server.url("/a"))
        #expect(first.redirects.map(\.statusCode) == [307] && second.redirects.isEmpty)
    }

    @Test func `The chain keeps its redirects in order`() {
        var chain = RedirectChain()
        #expect(chain.hops.isEmpty && chain.count == 0)
        for status in [301, 302] {
            chain.note(HTTPResponse(url: testURL("/"), statusCode: status, headers: ["Location": "/\(status)"]))
        }
        #expect(chain.count == 2 && chain.hops.map(\.statusCode) == [301, 302])
        #expect(chain.hops.map { $0.headers["Location"] } == ["/301", "/302"])
    }
}
