import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageLoading

@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct CurlTransportTests {
    private let downloader = WebImageDownloader()

    @Test func `A body arrives byte for byte with its response and metrics`() async throws {
        let body = pattern(300_000)
        let server = try LoopbackServer { _ in
            .response(headers: [("Content-Type", "image/jpeg"), ("X-A", " b ")], body: body)
        }
        let loaded = try await downloader.downloadData(with: server.url("/a.jpg?x=1"))
        #expect(Array(loaded.data) == body)
        #expect(loaded.response?.statusCode == 200)
        #expect(loaded.response?.headers["x-a"] == "b")
        #expect(loaded.response?.mimeType == "image/jpeg")
        #expect(loaded.response?.url == server.url("/a.jpg?x=1"))
        let metrics = try #require(loaded.metrics)
        #expect(metrics.receivedByteCount == 300_000)
        #expect(metrics.httpVersion == "1.1")
        #expect(!metrics.isReusedConnection)
        #expect(metrics.connect > 0 && metrics.firstByte >= metrics.connect && metrics.total >= metrics.firstByte)
        #expect(server.requests.first?.query == "x=1")
    }

    @Test func `The DNS lookup is timed before all else, and not repeated for a reused connection`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let url = try #require(URL(string: "http://localhost:\(server.port)/a"))
        let first = try #require(try await downloader.downloadData(with: url).metrics)
        #expect(!first.isReusedConnection)
        #expect(first.domainLookup > 0 && first.connect > first.domainLookup)
        #expect(first.firstByte > first.connect && first.total >= first.firstByte && first.total < 30)
        #expect(first.secureConnect == 0, "there is no TLS")
        let second = try #require(try await downloader.downloadData(with: url).metrics)
        #expect(second.isReusedConnection && server.connectionCount == 1)
        #expect(second.domainLookup == 0)
        #expect(second.firstByte > 0 && second.total >= second.firstByte)
    }

    @Test func `A chunked body arrives whole`() async throws {
        let chunks = (1...20).map { pattern($0 * 1000) }
        let server = try LoopbackServer { _ in .chunked(chunks) }
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == chunks.flatMap { $0 })
    }

    @Test func `Connections are kept and reused`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        for _ in 0..<5 { _ = try await downloader.downloadData(with: server.url("/a")) }
        let last = try await downloader.downloadData(with: server.url("/a"))
        #expect(last.metrics?.isReusedConnection == true)
        #expect(server.connectionCount == 1)
        #expect(server.requestCount() == 6)
    }

    @Test func `A short error page does not close the connection`() async throws {
        // In one piece: while a page that comes in two is still being read, the next request uses another connection.
        let page = Array("HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n".utf8) + pattern(1000)
        let server = try LoopbackServer {
            $0.path == "/a" ? .response(body: [1]) : .script { _, connection in connection.send(page) }
        }
        for _ in 0..<3 {
            #expect(await downloadError(downloader, server.url("/missing"))?.statusCode == 404)
            _ = try await downloader.downloadData(with: server.url("/a"))
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `A kept connection closed by the server is replaced without an error`() async throws {
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(200, [("Content-Length", "1")])
                connection.send([9])
                return false
            }
        }
        for _ in 0..<5 { _ = try await downloader.downloadData(with: server.url("/a")) }
        #expect(server.connectionCount == 5)
    }

    @Test func `The default fields are User-Agent and Accept`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        _ = try await downloader.downloadData(with: server.url("/a"))
        let request = try #require(server.requests.first)
        #expect(request.method == "GET")
        let accept = try #require(request.header("Accept"))
        #expect(accept.contains("image/webp,") && accept.contains("image/jpeg,") && accept.hasSuffix(",*/*;q=0.1"))
        let agent = try #require(request.header("User-Agent"))
        #expect(agent.contains("/") && agent.contains("(Linux; ") && agent.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
        let release = try String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        #expect(
            !agent.contains(release.prefix { $0.isNumber || $0 == "." }),
            "the kernel's version is not sent"
        )
        #expect(request.header("Accept-Encoding")?.contains("gzip") == true)
        #expect(request.header("Cookie") == nil)
    }

    @Test func `Fields can be set, replaced for one load and removed`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        downloader.setValue("1", forHTTPHeaderField: "X-Key")
        downloader.setValue("", forHTTPHeaderField: "X-Empty")
        downloader.setValue(nil, forHTTPHeaderField: "Accept")
        #expect(downloader.value(forHTTPHeaderField: "x-key") == "1")
        let recorder = Recorder()
        downloader.start(server.url("/a"), recorder, headers: ["x-key": "2", "If-None-Match": "\"e\""])
        await recorder.end()
        let request = try #require(server.requests.first)
        #expect(request.header("X-Key") == "2")
        #expect(request.header("X-Empty") == "")
        #expect(request.header("If-None-Match") == "\"e\"")
        #expect(request.headers.filter { $0.name.lowercased() == "x-key" }.count == 1)
    }

    @Test func `Interim responses are skipped`() async throws {
        let server = try LoopbackServer { _ in
            .raw("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
        }
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == Array("abc".utf8))
        #expect(loaded.response?.headers["Link"] == nil)
    }

    @Test func `Cookies are sent and kept only if enabled, and only in memory`() async throws {
        let server = try LoopbackServer { _ in .response(headers: [("Set-Cookie", "a=1; Path=/")], body: [1]) }
        _ = try await downloader.downloadData(with: server.url("/1"))
        _ = try await downloader.downloadData(with: server.url("/2"))
        _ = try await downloader.downloadData(with: server.url("/3"), options: .handleCookies)
        _ = try await downloader.downloadData(with: server.url("/4"), options: .handleCookies)
        _ = try await downloader.downloadData(with: server.url("/5"))
        _ = try await WebImageDownloader().downloadData(with: server.url("/6"), options: .handleCookies)
        #expect(server.requests.map { $0.header("Cookie") } == [nil, nil, nil, "a=1", nil, nil])
    }

    @Test func `Credentials answer a challenge and are not sent before`() async throws {
        let server = try LoopbackServer { request in
            guard request.header("Authorization") == "Basic dTpw" else {
                return .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")], body: [0])
            }
            return .response(body: [7])
        }
        #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 401)
        downloader.config.urlCredential = WebImageCredential(user: "u", password: "p")
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == [7])
        #expect(server.requests.map { $0.header("Authorization") } == [nil, nil, "Basic dTpw"])
        downloader.config.urlCredential = nil
        downloader.config.username = "u"
        downloader.config.password = "wrong"
        #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 401)
    }

    @Test func `Credentials and secret fields do not follow a redirect to another host`() async throws {
        let other = try LoopbackServer { _ in .response(body: [1]) }
        let target = "http://localhost:\(other.port)/b"
        let server = try LoopbackServer { request in
            request.header("Authorization") == nil
                ? .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")]) : .redirect(to: target)
        }
        downloader.config.urlCredential = WebImageCredential(user: "u", password: "p")
        _ = try await downloader.downloadData(with: server.url("/a"))
        #expect(server.requestCount() == 2)
        #expect(other.requests.map { $0.header("Authorization") } == [nil])

        downloader.config.urlCredential = nil
        downloader.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        downloader.setValue("c=1", forHTTPHeaderField: "Cookie")
        _ = try await downloader.downloadData(with: server.url("/a"))
        #expect(server.requests.last?.header("Authorization") == "Bearer t")
        #expect(other.requests.last?.header("Authorization") == nil)
        #expect(other.requests.last?.header("Cookie") == nil)
    }

    @Test func `A proxy gets the whole URL`() async throws {
        let proxy = try LoopbackServer { _ in .response(body: [5]) }
        downloader.config.proxy = .url("http://127.0.0.1:\(proxy.port)")
        let loaded = try await downloader.downloadData(with: testURL("/a.jpg"))
        #expect(Array(loaded.data) == [5])
        #expect(proxy.requests.map(\.target) == ["http://example.test/a.jpg"])
    }

    @Test func `The environment sets the proxy unless the configuration disables it`() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { _ in .response(body: [5]) }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "direct.test", 1)
            let downloader = WebImageDownloader()
            let loaded = try await downloader.downloadData(with: testURL("/a.jpg"))
            guard Array(loaded.data) == [5], proxy.requestCount() == 1 else { exit(1) }
            downloader.config.proxy = .none
            guard await downloadError(downloader, testURL("/a.jpg"))?.code == .cannotFindHost else { exit(2) }
            guard proxy.requestCount() == 1 else { exit(3) }
            exit(0)
        }
    }

    @Test func `Many concurrent downloads all arrive, over no more connections than allowed`() async throws {
        let server = try LoopbackServer { .response(body: Array($0.path.utf8)) }
        downloader.config.maxConcurrentDownloads = 8
        let downloader = downloader
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let data = try? await downloader.downloadData(with: server.url("/\(number)")).data
                    return data.map { Array($0) } == Array("/\(number)".utf8)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(server.connectionCount <= 8)
        #expect(downloader.currentDownloadCount == 0)
    }

    @Test func `A slow first response does not hold back other downloads from the same host`() async throws {
        let server = try LoopbackServer { $0.path == "/slow" ? .silence : .response(body: [1]) }
        let recorder = Recorder()
        let token = downloader.start(server.url("/slow"), recorder)
        for number in 0..<5 { _ = try await downloader.downloadData(with: server.url("/\(number)")) }
        #expect(recorder.results.isEmpty)
        token.cancel()
    }

    @Test func `The connections of a released downloader are closed`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        do {
            let downloader = WebImageDownloader()
            _ = try await downloader.downloadData(with: server.url("/a"))
            #expect(server.openConnectionCount == 1)
        }
        #expect(await server.wait { _, open in open == 0 })
    }

    @Test func `A cancelled transfer closes its connection and frees its slot`() async throws {
        let server = try LoopbackServer { $0.path == "/silent" ? .silence : .response(body: [1]) }
        downloader.config.maxConcurrentDownloads = 1
        let recorder = Recorder()
        let token = downloader.start(server.url("/silent"), recorder)
        #expect(await server.wait { requests, _ in requests == 1 })
        token.cancel()
        #expect(recorder.code == .cancelled)
        #expect(token.isCancelled)
        _ = try await downloader.downloadData(with: server.url("/a"))
        #expect(recorder.results.count == 1)
    }
}
