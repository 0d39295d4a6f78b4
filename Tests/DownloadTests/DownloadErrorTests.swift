import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Every way in which a server or a network can misbehave, and the resulting typed error.
@Suite(.tags(.threadSanitizer)) struct DownloadErrorTests {
    private let downloader = WebImageDownloader()

    private func error(_ response: LoopbackResponse) async throws -> WebImageError? {
        let server = try LoopbackServer { _ in response }
        let error = await downloadError(downloader, server.url("/a.jpg"))
        #expect(error == nil || error?.url == server.url("/a.jpg"))
        return error
    }

    @Test func `A truncated body is a lost connection`() async throws {
        let error = try await error(.truncated(pattern(1000), declared: 2000))
        #expect(error?.code == .networkConnectionLost)
        #expect((error?.underlyingError as? TransportFailure)?.code == 18)
        #expect(error.map { downloader.shouldBlockFailedURL(testURL("/"), error: $0) } == false)
    }

    @Test func `A chunked body without its end is a lost connection`() async throws {
        #expect(try await error(.truncatedChunked(pattern(1000)))?.code == .networkConnectionLost)
    }

    @Test(arguments: [404, 403, 500, 503, 301, 418])
    func `An unacceptable status is an error that has it`(status: Int) async throws {
        let error = try await error(.response(status, body: pattern(100)))
        #expect(error?.code == .invalidDownloadStatusCode)
        #expect(error?.statusCode == status)
        #expect(error.map { downloader.shouldBlockFailedURL(testURL("/"), error: $0) } == false)
    }

    @Test func `A status is acceptable if the configuration says so`() async throws {
        let server = try LoopbackServer { _ in .response(404, body: [4]) }
        downloader.config.acceptableStatusCodes = nil
        #expect(Array(try await downloader.downloadData(with: server.url("/a")).data) == [4])
        downloader.config.acceptableStatusCodes = RangeSet(400..<405)
        #expect(Array(try await downloader.downloadData(with: server.url("/a")).data) == [4])
    }

    @Test func `Not modified has its own error`() async throws {
        #expect(try await error(.response(304))?.code == .cacheNotModified)
    }

    @Test func `Partial content that was not requested is refused`() async throws {
        #expect(try await error(.response(206, body: [1]))?.statusCode == 206)
    }

    @Test func `An unacceptable content type is an error`() async throws {
        let server = try LoopbackServer { request in
            let type = request.path == "/html" ? "text/HTML; charset=utf-8" : "Image/JPEG;q=1"
            return .response(headers: request.path == "/none" ? [] : [("Content-Type", type)], body: [1])
        }
        downloader.config.acceptableContentTypes = ["image/jpeg"]
        #expect(await downloadError(downloader, server.url("/html"))?.code == .invalidDownloadContentType)
        #expect(await downloadError(downloader, server.url("/jpeg")) == nil)
        #expect(await downloadError(downloader, server.url("/none")) == nil)
    }

    @Test func `An empty body is bad image data, and the URL is blocked`() async throws {
        let error = try await error(.response(200))
        #expect(error?.code == .badImageData)
        #expect(error.map { downloader.shouldBlockFailedURL(testURL("/"), error: $0) } == true)
        #expect(try await self.error(.chunked([]))?.code == .badImageData)
        #expect(try await self.error(.response(204))?.code == .badImageData)
    }

    @Test func `A port without a listener is a failed connection`() async throws {
        let dead = try ReservedPort()
        let url = URL(string: "http://127.0.0.1:\(dead.port)/a.jpg") ?? testURL("/")
        let error = await downloadError(downloader, url)
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.url == url)
        #expect(error?.underlyingError is TransportFailure)
        _ = dead
    }

    @Test func `A host that does not exist cannot be found`() async {
        downloader.config.proxy = .none
        let url = URL(string: "http://no-such-host.invalid/a.jpg") ?? testURL("/")
        #expect(await downloadError(downloader, url)?.code == .cannotFindHost)
    }

    @Test func `A connection that closes or resets without a response is lost`() async throws {
        #expect(try await error(.closeWithoutAnswer)?.code == .networkConnectionLost)
        #expect(try await error(.reset)?.code == .networkConnectionLost)
    }

    @Test func `Garbage instead of HTTP is a failed transfer`() async throws {
        #expect(try await error(.raw("garbage garbage\r\n\r\n garbage"))?.code == .transportFailed)
        #expect(try await error(.raw(pattern(5000)))?.code == .transportFailed)
    }

    @Test func `Response heads above the limits are refused`() async throws {
        let big = try await error(.manyHeaders(100, bytes: 1000))
        #expect(big?.limit?.name == "maximumResponseHeaderByteCount")
        let many = try await error(.manyHeaders(300, bytes: 10))
        #expect(many?.limit?.name == "maximumResponseHeaderCount")
        downloader.config.maximumResponseHeaderCount = 1000
        #expect(try await error(.manyHeaders(300, bytes: 10)) == nil)
    }

    // MARK: Limits of size

    @Test func `A body announced above the limit is refused before it is received`() async throws {
        downloader.config.maximumResponseByteCount = 1000
        let error = try await error(.response(body: pattern(1001)))
        #expect(error?.code == .limitExceeded)
        #expect(error?.limit == .init(name: "maximumResponseByteCount", allowed: 1000, required: 1001))
        #expect(try await self.error(.response(body: pattern(1000))) == nil)
    }

    @Test func `An endless body stops at the limit`() async throws {
        downloader.config.maximumResponseByteCount = 1 << 20
        let error = try await error(.endless)
        #expect(error?.code == .limitExceeded)
        #expect(error?.limit?.name == "maximumResponseByteCount")
        #expect((error?.limit?.required ?? 0) < 3 << 20)
    }

    @Test func `A small body that decompresses to a huge one stops at the limit`() async throws {
        let bomb = gzipOfZeros(megabytes: 32)
        #expect(bomb.count < 256 << 10)
        downloader.config.maximumResponseByteCount = 4 << 20
        let error = try await error(.response(headers: [("Content-Encoding", "gzip")], body: bomb))
        #expect(error?.limit?.name == "maximumResponseByteCount")
    }

    @Test func `An endless body of a redirect stops at the limit`() async throws {
        downloader.config.maximumResponseByteCount = 1 << 20
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(302, [("Location", "/b"), ("Transfer-Encoding", "chunked")])
                while connection.sendChunk(pattern(64 << 10)) {}
                return false
            }
        }
        let error = await downloadError(downloader, server.url("/a"))
        #expect(error != nil)
    }

    @Test func `A false huge announced length is a lost connection`() async throws {
        downloader.config.maximumResponseByteCount = 1 << 40
        let error = try await error(.truncated(pattern(100), declared: 1 << 39))
        #expect(error?.code == .networkConnectionLost)
    }

    @Test func `A body longer than announced is cut`() async throws {
        let server = try LoopbackServer { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdefgh")
        }
        #expect(Array(try await downloader.downloadData(with: server.url("/a")).data) == Array("abc".utf8))
    }

    // MARK: Redirects

    @Test func `Redirects are followed and counted, and the response is that of the last URL`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/1": .redirect(to: "/2", status: 301)
            case "/2": .redirect(to: "3", status: 307)
            default: .response(body: Array(request.path.utf8))
            }
        }
        let loaded = try await downloader.downloadData(with: server.url("/1"))
        #expect(Array(loaded.data) == Array("/3".utf8))
        #expect(loaded.response?.url == server.url("/3"))
        #expect(loaded.metrics?.redirectCount == 2)
    }

    @Test(arguments: [302, 304, 404])
    func `A refused response keeps its connection, also without a length`(status: Int) async throws {
        let server = try LoopbackServer { request in
            guard request.path == "/a" else { return .response(body: [1]) }
            return .script { _, connection in
                let head = "HTTP/1.1 \(status) Status\r\nLocation: /b\r\n"
                // A 304 has no body.
                let rest = status == 304 ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                return connection.send(head + rest)
            }
        }
        _ = await downloadError(downloader, server.url("/a"))
        _ = try await downloader.downloadData(with: server.url("/b"))
        #expect(server.connectionCount == 1)
    }

    @Test func `A redirect loop ends after ten redirects`() async throws {
        let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .redirect(to: "/a") }
        let error = await downloadError(downloader, server.url("/a"))
        #expect(error?.code == .badRedirect)
        #expect(server.requestCount() == 11)
    }

    @Test func `Redirects are not followed if none are allowed`() async throws {
        let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .response(body: [1]) }
        downloader.config.maximumRedirectCount = 0
        #expect(await downloadError(downloader, server.url("/a"))?.code == .badRedirect)
        #expect(server.requestCount("/b") == 0)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:text/plain,hi", "gopher://127.0.0.1/"])
    func `A redirect to another scheme is refused`(target: String) async throws {
        #expect(try await error(.redirect(to: target))?.code == .badRedirect)
    }

    // MARK: Refused requests

    @Test(arguments: [
        "ftp://example.test/a", "http:///a.jpg", "/a.jpg", "http:", "javascript:1", "file:///etc/passwd",
    ])
    func `A URL with an unsupported scheme completes at once with an invalid URL`(text: String) throws {
        let url = try #require(URL(string: text))
        let recorder = Recorder()
        downloader.start(url, recorder)
        #expect(recorder.results.count == 1)
        #expect(recorder.code == .invalidURL)
        #expect(recorder.error?.url == url)
        #expect(recorder.error.map { downloader.shouldBlockFailedURL(url, error: $0) } == true)
    }

    @Test(arguments: [
        ("X-A", "1\r\nX-B: 2"), ("X-A", "1\nfoo"), ("X-A", "a\0b"), ("X A", "1"), ("X-A\r\nY", "1"), ("", "1"),
        ("X:", "1"),
    ])
    func `A field that would inject others is refused`(field: (String, String)) async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let recorder = Recorder()
        downloader.start(server.url("/a"), recorder, headers: .init(pairs: [field]))
        #expect(recorder.code == .invalidDownloadOperation)
        downloader.setValue(field.1, forHTTPHeaderField: field.0)
        #expect(await downloadError(downloader, server.url("/a"))?.code == .invalidDownloadOperation)
        downloader.setValue(nil, forHTTPHeaderField: field.0)
        #expect(await downloadError(downloader, server.url("/a")) == nil)
        #expect(server.requestCount() == 1)
    }

    // MARK: Time

    @Test func `A silent server times out`() async throws {
        downloader.config.downloadTimeout = 0.2
        let server = try LoopbackServer { _ in .silence }
        let ended = Monitor<Double?>(nil)
        let start = ClockSource.system.monotonicNanoseconds()
        let recorder = Recorder()
        // The time is taken on the network thread: tasks may have to wait for their turn.
        downloader.downloadData(with: server.url("/a"), callbackQueue: .inline) { result in
            ended.withLock { $0 = Double(ClockSource.system.monotonicNanoseconds() - start) / 1e9 }
            recorder.onEnd(result)
        }
        await recorder.end()
        #expect(recorder.code == .timedOut)
        let seconds = ended.withLock { $0 } ?? 0
        #expect(seconds > 0.19 && seconds < 5)
    }

    @Test func `A server that goes silent in the body times out`() async throws {
        downloader.config.downloadTimeout = 0.2
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(200, [("Content-Length", "100000")])
                connection.send(pattern(50_000))
                connection.waitForClose()
                return false
            }
        }
        #expect(await downloadError(downloader, server.url("/a"))?.code == .timedOut)
    }

    @Test func `A server that sends a byte now and then times out`() async throws {
        downloader.config.downloadTimeout = 0.3
        let error = try await error(.slow(interval: 0.05, declared: 1000))
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("100 bytes per second") == true)
    }

    @Test func `The total time can be limited`() async throws {
        downloader.config.totalTimeout = 0.2
        downloader.config.minimumBytesPerSecond = 0
        let error = try await error(.slow(interval: 0.02, declared: 1000))
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("longer than 0.2 s") == true)
    }

    @Test func `A connection that is not established times out`() async throws {
        // With a full backlog the system does not accept further connections.
        let full = try FullBacklog()
        downloader.config.connectTimeout = 0.2
        let url = URL(string: "http://127.0.0.1:\(full.port)/a") ?? testURL("/")
        #expect(await downloadError(downloader, url)?.code == .timedOut)
    }

    @Test func `A failing download does not disturb the others`() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/silent": .silence
            case "/truncated": .truncated([1], declared: 10)
            case "/missing": .response(404)
            default: .response(body: pattern(10_000))
            }
        }
        downloader.config.downloadTimeout = 10
        downloader.config.maxConcurrentDownloads = 40
        let downloader = downloader
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let path = number % 4 == 3 ? "/ok\(number)" : ["/silent", "/truncated", "/missing"][number % 4]
                    let error = await downloadError(downloader, server.url(path + "?\(number)"))
                    #expect((error == nil) == (number % 4 == 3))
                }
            }
        }
        #expect(downloader.currentDownloadCount == 0)
    }
}
