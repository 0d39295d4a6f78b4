import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageHTTP

/// Hostile servers under the policy for untrusted sources. The servers are reached through an exception.
@Suite(.timeLimit(.minutes(2))) struct UntrustedDownloadTests {
    private func error(
        _ response: LoopbackResponse,
        _ change: (inout SourcePolicy) -> Void = { _ in },
        config: (inout WebImageDownloaderConfig) -> Void = { _ in }
    ) async throws -> WebImageError? {
        let server = try LoopbackServer { _ in response }
        var policy = try SourcePolicy.allowing(server)
        change(&policy)
        return await downloadError(WebImageDownloader(policy, change: config), server.url("/a.jpg"))
    }

    // MARK: Decoding and header events

    @Test func `A downloader decodes isolated formats in a separate process, as managers do`() async throws {
        let coder = PlainCoder()
        let body = [UInt8](try Fixtures.data("JPEG/baseline-420.jpg"))
        let server = try LoopbackServer { _ in .response(body: body) }
        var policy = try SourcePolicy.allowing(server)
        policy.isolatedFormats = [.jpeg]
        let downloader = WebImageDownloader(policy)
        var context = WebImageContext()
        (context.imageCoder, context.callbackQueue) = (coder, .inline)
        _ = try? await downloader.downloadImage(with: server.url("/a.jpg"), context: context)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            downloader.downloadImage(with: server.url("/b.jpg"), coder: coder, callbackQueue: .inline) { _ in
                continuation.resume()
            }
        }
        #expect(coder.decodes.isEmpty && server.requestCount() == 2)
    }

    @Test func `A document that arrives byte by byte is examined a few times, not with each byte`() async throws {
        let transport = CheckingTransport()
        let downloader = WebImageDownloader(config: .init(), transport: transport)
        downloader.config.sourcePolicy = .untrusted
        let recorder = Recorder()
        downloader.start(try #require(URL(string: "http://example.com/a.svg")), recorder)
        let transfer = try #require(transport.base.transfers.first, "\(String(describing: recorder.error))")
        #expect(transfer.respond() == nil)
        let start = ContinuousClock.now
        var refusal: WebImageError?
        var sent = 0
        while refusal == nil, sent < 100_000 {
            refusal = transfer.send([sent < 5 ? Array("<!-- ".utf8)[sent] : UInt8(ascii: ">")])
            sent += 1
        }
        #expect(refusal?.code == .badImageData && sent == 64 << 10)
        // With each byte, two thousand million of them would be examined.
        #expect(ContinuousClock.now - start < .seconds(20))
        transfer.end(refusal)
    }

    // MARK: Redirects

    @Test(arguments: [
        "http://127.0.0.1:PORT/b", "http://127.1:PORT/b", "http://0x7f000001:PORT/b", "//127.0.0.1:PORT/b",
        "http://[::ffff:127.0.0.1]:PORT/b", "http://localhost:PORT/b", "http://a.localhost:PORT/b",
        "http://user@127.0.0.1:PORT/b",
        "http://169.254.169.254/latest/meta-data/", "http://[::1]:PORT/b", "http://2130706433:PORT/",
        "HTTP://127.0.0.1.:PORT/b",
        "http://cdn.example.com:PORT/b",
    ]) func `A redirect from an allowed server to loopback is refused`(location: String) async throws {
        let inner = try LoopbackServer { _ in .response(body: [1]) }
        let target = location.replacing("PORT", with: "\(inner.port)")
        let server = try LoopbackServer { _ in .redirect(to: target) }
        let downloader = WebImageDownloader(try .allowing(server))
        let error = try #require(await downloadError(downloader, server.url("/a.jpg")))
        #expect(error.code == .sourceRefused, "\(error)")
        #expect(error.url == server.url("/a.jpg"))
        #expect(server.requestCount() == 1 && inner.connectionCount == 0)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:70/_x", "data:image/gif;base64,R0lGODlh",
    ])
    func `A redirect to another scheme is refused`(location: String) async throws {
        #expect(try await error(.redirect(to: location))?.code == .badRedirect)
    }

    @Test func `A chain of redirects is checked step by step`() async throws {
        let inner = try LoopbackServer { _ in .response(body: [1]) }
        let port = inner.port
        let server = try LoopbackServer { request in
            switch request.path {
            case "/1": .redirect(to: "/2", status: 301)
            case "/2": .redirect(to: "/3", status: 307)
            case "/3": .redirect(to: "http://127.0.0.1:\(port)/4", status: 308)
            default: .response(404)
            }
        }
        let error = await downloadError(WebImageDownloader(try .allowing(server)), server.url("/1"))
        #expect(error?.code == .sourceRefused)
        #expect(server.requests.map(\.path) == ["/1", "/2", "/3"] && inner.connectionCount == 0)
    }

    @Test func `A redirect's host name is checked when it is resolved`() async throws {
        let inner = try LoopbackServer(address: 0x7F00_0002) { _ in .response(body: [1]) }
        let target = "http://img.example.com:\(inner.port)/b"
        let server = try LoopbackServer { _ in .redirect(to: target) }
        var policy = try SourcePolicy.allowing(server)
        policy.ports.insert(inner.port)
        let downloader = WebImageDownloader(
            policy,
            resolver: { host, _ in host == "127.0.0.1" ? [] : [IPAddress(v4: 0x7F00_0002)] }
        )
        let error = await downloadError(downloader, server.url("/a.jpg"))
        #expect(error?.code == .sourceRefused && error?.message.contains("127.0.0.2") == true)
        #expect(inner.connectionCount == 0)
    }

    @Test func `Redirects within the exception are followed, five of them`() async throws {
        let body = try smallImageData()
        let server = try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == 0 ? .response(body: body) : .redirect(to: "/\(number - 1)")
        }
        let downloader = WebImageDownloader(try .allowing(server))
        #expect(await downloadError(downloader, server.url("/5")) == nil)
        #expect(await downloadError(downloader, server.url("/6"))?.code == .badRedirect)
    }

    @Test func `A modifier cannot change the URL to one that the policy forbids`() async throws {
        let inner = try LoopbackServer { _ in .response(body: [1]) }
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let target = inner.url("/b")
        let downloader = WebImageDownloader(try .allowing(server))
        downloader.requestModifier = DownloadRequestModifier { request in
            var request = request
            request.url = target
            return request
        }
        #expect(await downloadError(downloader, server.url("/a.jpg"))?.code == .sourceRefused)
        #expect(inner.connectionCount == 0 && server.connectionCount == 0)
    }

    // MARK: Bodies

    @Test(arguments: ["<!DOCTYPE html><html>", "{\"password\": \"x\"}", "root:x:0:0:root:/root:/bin/bash\n"])
    func `A body that is not an image is cut off at its first bytes`(start: String) async throws {
        let sent = Monitor(0)
        let block = Array(start.utf8) + [UInt8](repeating: 0x20, count: 64 << 10)
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(200, [("Content-Length", "\(30 << 20)"), ("Content-Type", "image/jpeg")])
                while connection.send(block), sent.withLock({ $0 }) < 30 << 20 { sent.withLock { $0 += block.count } }
                return false
            }
        }
        let error = await downloadError(WebImageDownloader(try .allowing(server)), server.url("/a.jpg"))
        #expect(error?.code == .badImageData)
        #expect(await server.wait { _, open in open == 0 })
        // The system's own buffers, far less than the whole.
        #expect(sent.withLock { $0 } < 16 << 20)
    }

    @Test func `The bytes decide the type of a body, not the Content-Type`() async throws {
        let body = try smallImageData()
        #expect(try await error(.response(headers: [("Content-Type", "text/html")], body: body)) == nil)
        let html = Array("<html>".utf8)
        #expect(
            try await error(.response(headers: [("Content-Type", "image/jpeg")], body: html))?.code == .badImageData
        )
        #expect(try await error(.response(body: [0xFF]))?.code == .badImageData)
        #expect(try await error(.response(body: body)) { $0.formats = [.png] }?.code == .unsupportedFormat)
    }

    @Test func `An encrypted body is checked once it is decrypted`() async throws {
        let body = try smallImageData()
        let server = try LoopbackServer { .response(body: $0.path == "/a" ? body.map { $0 ^ 0x5A } : [1, 2, 3]) }
        let downloader = WebImageDownloader(try .allowing(server))
        downloader.decryptor = DownloadDecryptor { data, _ in Data(data.map { $0 ^ 0x5A }) }
        #expect(await downloadError(downloader, server.url("/a")) == nil)
        #expect(await downloadError(downloader, server.url("/b"))?.code == .badImageData)
    }

    @Test func `An endless body stops at the limit`() async throws {
        let start = try smallImageData()
        let block = [UInt8](repeating: 7, count: 64 << 10)
        let error = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                connection.sendChunk(start)
                while connection.sendChunk(block) {}
                return false
            }
        ) { $0.maximumByteCount = 1 << 20 }
        #expect(error?.limit?.name == "maximumResponseByteCount" && (error?.limit?.required ?? 0) < 3 << 20)
    }

    @Test func `A body announced above the limit is not received`() async throws {
        let error = try await error(.response(body: pattern(2000))) { $0.maximumByteCount = 1000 }
        #expect(error?.limit == .init(name: "maximumResponseByteCount", allowed: 1000, required: 2000))
    }

    @Test func `Content codings are neither requested nor decoded`() async throws {
        let bomb = gzipOfZeros(megabytes: 16)
        let server = try LoopbackServer { request in
            .response(headers: [(request.query, "gzip")], body: bomb)
        }
        let downloader = WebImageDownloader(try .allowing(server))
        #expect(await downloadError(downloader, server.url("/a?Content-Encoding"))?.code == .badImageData)
        let error = await downloadError(downloader, server.url("/a?Transfer-Encoding"))
        #expect(error?.code == .transportFailed)
        #expect(server.requests.allSatisfy { $0.header("Accept-Encoding") == "identity" && $0.header("TE") == nil })
    }

    @Test func `A body with two different lengths is refused`() async throws {
        let body = try smallImageData()
        let error = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked"), ("Content-Length", "\(body.count)")])
                    && connection.sendChunk(body) && connection.send("0\r\n\r\n")
            }
        )
        #expect(error?.code == .transportFailed && error?.message.contains("both") == true)
    }

    @Test func `A body without a head is an error`() async throws {
        let body = try smallImageData()
        #expect(try await error(.raw(body))?.code == .transportFailed)
    }

    @Test func `False lengths are lost connections`() async throws {
        let body = try smallImageData()
        #expect(try await error(.truncated(body, declared: body.count + 10))?.code == .networkConnectionLost)
        #expect(try await error(.truncatedChunked(body))?.code == .networkConnectionLost)
    }

    // MARK: Heads

    @Test func `Heads are limited in bytes and number, trailers too`() async throws {
        #expect(try await error(.manyHeaders(150, bytes: 10))?.limit?.name == "maximumResponseHeaderCount")
        #expect(try await error(.manyHeaders(60, bytes: 2000))?.limit?.name == "maximumResponseHeaderByteCount")
        let endless = try await error(
            .script { _, connection in
                connection.send("HTTP/1.1 200 OK\r\n")
                while connection.send("X-Field: value\r\n") {}
                return false
            }
        )
        #expect(endless?.code == .limitExceeded)
        let body = try smallImageData()
        let trailers = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                connection.sendChunk(body)
                connection.send("0\r\n")
                while connection.send("X-Field: value\r\n") {}
                return false
            }
        )
        #expect(trailers?.code == .limitExceeded)
    }

    @Test(arguments: ["in one", "in each"])
    func `Chunk extensions are limited in bytes`(place: String) async throws {
        let body = try smallImageData()
        let error = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                var index = 0
                let extra = String(repeating: "x", count: 4000)
                if place == "in one" { connection.send("1;") }
                while connection.send(place == "in one" ? extra : "1;\(extra)\r\n") {
                    guard place == "in each" else { continue }
                    connection.send([body[index % body.count]] + Array("\r\n".utf8))
                    index += 1
                }
                return false
            }
        )
        let limit = try #require(error?.limit)
        #expect(error?.code == .limitExceeded && limit.name == "bytes that frame a body")
        // Twice the size of libcurl's reads. The bytes that a server has sent show nothing: the system may buffer 32
        // MiB.
        #expect(limit.required - limit.allowed <= 2 * 256 << 10)
    }

    @Test func `Chunks of a byte each are allowed`() async throws {
        let body = [UInt8](try Fixtures.data("JPEG/icc-long.jpg"))
        let error = try await error(
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked")])
                let chunks = body.flatMap { Array("1;a\r\n".utf8) + [$0] + Array("\r\n".utf8) }
                return connection.send(chunks + Array("0\r\n\r\n".utf8))
            }
        )
        #expect(error == nil)
    }

    // MARK: Time

    /// An image's first bytes, and then some 500 a second, for about a second.
    private func drip() throws -> LoopbackResponse {
        let start = Array(try smallImageData().prefix(40))
        return .script { _, connection in
            connection.sendHead(200, [("Content-Length", "\(start.count + 500)")])
            connection.send(start)
            let never = Monitor(())
            for _ in 0..<50 {
                // The pace of the server, not a wait of the test.
                _ = never.wait(seconds: 0.02) { _ -> Bool? in nil }
                guard connection.send([UInt8](repeating: 7, count: 10)) else { return false }
            }
            return true
        }
    }

    @Test func `A server slower than the policy's minimum speed is aborted`() async throws {
        let error = try await error(try drip(), config: { $0.downloadTimeout = 0.4 })
        #expect(error?.code == .timedOut && error?.message.contains("1000 bytes per second") == true)
        // The policy requires it: for the configuration it is fast enough.
        #expect(try await self.error(try drip(), { $0.minimumBytesPerSecond = 0 }) { $0.downloadTimeout = 0.4 } == nil)
    }

    @Test func `A download's time limit holds, however the time is spent`() async throws {
        let never = Gate()
        let error = try await error(.delayed(never, then: .response(body: [1]))) { $0.maximumDuration = 0.3 }
        #expect(error?.code == .timedOut && error?.message.contains("longer than 0.3 s") == true)
        never.open()
    }

    @Test func `Redirects that are each in time exceed the limit together`() async throws {
        let body = try smallImageData()
        let pace = Monitor(0.3)
        let server = try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            // The pace of the server, not a wait of the test.
            _ = pace.wait(seconds: pace.withLock { $0 }) { _ -> Bool? in nil }
            return number == 0 ? .response(body: body) : .redirect(to: "/\(number - 1)")
        }
        var policy = try SourcePolicy.allowing(server)
        policy.maximumDuration = 1
        #expect(await downloadError(WebImageDownloader(policy), server.url("/5"))?.code == .timedOut)
        #expect(server.requestCount() < 6)
    }

    // MARK: Credentials

    @Test func `Cookies, passwords and untrusted certificates are not used`() async throws {
        let body = try smallImageData()
        let server = try LoopbackServer { request in
            request.path == "/secret" && request.header("Authorization") == nil
                ? .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
                : .response(headers: [("Set-Cookie", "a=1; Path=/")], body: body)
        }
        let downloader = WebImageDownloader(
            try .allowing(server),
            change: { $0.urlCredential = WebImageCredential(user: "ann", password: "word") }
        )
        for path in ["/1", "/2"] {
            #expect(await downloadError(downloader, server.url(path), options: .handleCookies) == nil)
        }
        #expect(await downloadError(downloader, server.url("/secret"))?.statusCode == 401)
        #expect(server.requests.allSatisfy { $0.header("Cookie") == nil && $0.header("Authorization") == nil })
    }

    @Test(.enabled(if: NginxServer.isInstalled))
    func `An untrusted certificate is refused, whatever the options say`() async throws {
        let server = try await NginxServer(files: ["a.jpg": try smallImageData()])
        let url = server.url("/a.jpg", scheme: "https")
        let port = try #require(url.port)
        let downloader = WebImageDownloader(try .allowing("\(url.host() ?? ""):\(port)"))
        let error = await downloadError(downloader, url, options: .allowInvalidSSLCertificates)
        #expect(error?.code == .secureConnectionFailed)
        downloader.config.certificateAuthorityFile = server.certificate
        #expect(await downloadError(downloader, url) == nil, "the operator's own authorities hold")
    }

    @Test func `A field that would inject others is refused, in a URL too`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let downloader = WebImageDownloader(try .allowing(server))
        let recorder = Recorder()
        downloader.start(server.url("/a"), recorder, headers: ["X-A": "1\r\nX-B: 2"])
        #expect(recorder.code == .invalidDownloadOperation)
        for text in ["/a\r\nX-B: 2", "/a\0", "/a\nb", "/%0d%0aX-B:%202"] {
            guard let url = URL(string: "http://127.0.0.1:\(server.port)\(text)") else { continue }
            _ = await downloadError(downloader, url)
        }
        #expect(server.requests.allSatisfy { $0.header("X-B") == nil })
    }
}
