import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageHTTP
@testable import WebImageLoading

/// Hostile servers, odd URLs and careless programs.
@Suite struct DownloadHardeningTests {
    private let downloader = WebImageDownloader()

    @Test(.enabled(if: NginxServer.isInstalled))
    func `A second Location field does not smuggle a redirect from https to http`() async throws {
        let plain = try LoopbackServer { _ in .response(body: [1]) }
        let location = """
            location = /two {
                add_header Location "http://127.0.0.1:\(plain.port)/b" always;
                return 302 /a.jpg;
            }
            """
        let server = try await NginxServer(files: ["a.jpg": pattern(100)], locations: location)
        downloader.config.certificateAuthorityFile = server.certificate
        let error = await downloadError(downloader, server.url("/two", scheme: "https"))
        // Newer versions of libcurl treat two Location fields as a broken response.
        let codes: [WebImageError.Code?] = [nil, .badRedirect, .transportFailed]
        #expect(codes.contains(error?.code))
        #expect(plain.requests.isEmpty)
    }

    @Test func `An international host name is looked up in its encoded form`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let url = try #require(URL(string: "http://bücher.localhost:\(server.port)/ä.jpg"))
        #expect(await downloadError(downloader, url) == nil)
        #expect(server.requests.first?.header("Host") == "xn--bcher-kva.localhost:\(server.port)")
        #expect(server.requests.first?.path == "/%C3%A4.jpg")
    }

    @Test(arguments: ["http://a%2Fb/c", "http://a%40b/c", "http://a%00b/c", "http://a%3A1/c"])
    func `An encoded delimiter does not move the end of the host`(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(HostName.address(of: url) == url.absoluteString)
    }

    @Test func `A password in a URL is sent to the server and not shown in errors`() async throws {
        let server = try LoopbackServer { request in
            request.header("Authorization") == nil
                ? .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")]) : .response(500)
        }
        let url = try #require(URL(string: "http://ann:secret%40word@127.0.0.1:\(server.port)/a@2x.png"))
        let error = try #require(await downloadError(downloader, url))
        #expect(error.statusCode == 500)
        // "ann:secret@word"
        #expect(server.requests.last?.header("Authorization") == "Basic YW5uOnNlY3JldEB3b3Jk")
        #expect(error.description.hasPrefix("http://***@127.0.0.1:\(server.port)/a@2x.png: "))
        #expect(!"\(error)".contains("secret"))
        #expect(error.url == url)
    }

    @Test func `A name in one URL is not reused for the next`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/a" && request.header("Authorization") == nil
                ? .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")]) : .response(body: [1])
        }
        let secret = try #require(URL(string: "http://ann:word@127.0.0.1:\(server.port)/a"))
        _ = try await downloader.downloadData(with: secret)
        #expect(await downloadError(downloader, server.url("/a"))?.statusCode == 401)
        _ = try await downloader.downloadData(with: server.url("/b@2x.png"))
        #expect(server.requests.last?.header("Authorization") == nil)
    }

    @Test func `Child processes do not inherit connections`() async throws {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        _ = try await downloader.downloadData(with: server.url("/a"))
        let connections = (3..<1024).filter { isConnected(Int32($0), to: server.port) }
        #expect(!connections.isEmpty)
        for descriptor in connections { #expect(fcntl(Int32(descriptor), F_GETFD) & FD_CLOEXEC != 0) }
    }

    @Test(arguments: [
        ("/a b|c[d]", "/a%20b%7Cc[d]"), ("/a%20b", "/a%20b"), ("/a?q=1#part", "/a?q=1"), ("/ü", "/%C3%BC"),
        ("?q=1", "/?q=1"), ("", "/"), ("/a%2Fb", "/a%2Fb"), ("//a", "//a"), ("/100%25", "/100%25"),
    ]) func `Odd paths are requested as the URL has them, without the fragment`(path: String, target: String)
        async throws
    {
        let server = try LoopbackServer { _ in .response(body: [1]) }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)"))
        _ = try await downloader.downloadData(with: url)
        #expect(server.requests.map { $0.target.replacing("%5B", with: "[").replacing("%5D", with: "]") } == [target])
    }

    @Test func `An IPv6 address is a valid host`() async throws {
        let reserved = try ReservedPort()
        let url = try #require(URL(string: "http://[::1]:\(reserved.port)/a"))
        #expect(await downloadError(downloader, url)?.code == .cannotConnectToHost)
    }

    @Test(arguments: [204, 205]) func `A status without a body is not an image`(status: Int) async throws {
        let server = try LoopbackServer { _ in
            .script { _, connection in connection.sendHead(status, [("Content-Length", "0")]) }
        }
        #expect(await downloadError(downloader, server.url("/a"))?.code == .badImageData)
    }

    @Test func `Early hints precede the head and are not taken for it`() async throws {
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.send("HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\nX-Hint: 1\r\n\r\n")
                    && connection.sendHead(200, [("Content-Length", "3")]) && connection.send([1, 2, 3])
            }
        }
        let loaded = try await downloader.downloadData(with: server.url("/a"))
        #expect(Array(loaded.data) == [1, 2, 3])
        #expect(loaded.response?.headers["X-Hint"] == nil)
    }

    @Test func `A chunked body counts as received, whatever length is announced beside it`() async throws {
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(200, [("Transfer-Encoding", "chunked"), ("Content-Length", "1")])
                    && connection.sendChunk(pattern(500)) && connection.send("0\r\n\r\n")
            }
        }
        #expect(Array(try await downloader.downloadData(with: server.url("/a")).data) == pattern(500))
    }

    @Test func `An identity coding is allowed, an unknown coding is an error`() async throws {
        let server = try LoopbackServer { request in
            .response(headers: [("Content-Encoding", request.query)], body: [1, 2, 3])
        }
        let plain = try await downloader.downloadData(with: server.url("/a?identity"))
        #expect(Array(plain.data) == [1, 2, 3])
        #expect(await downloadError(downloader, server.url("/a?nonsense"))?.code == .transportFailed)
    }

    @Test func `A deflated body is decompressed with and without the zlib wrapper`() async throws {
        // "hello", by another program's zlib: as a zlib stream, and as the bare deflate stream in it.
        let wrapped: [UInt8] = [120, 156, 203, 72, 205, 201, 201, 7, 0, 6, 44, 2, 21]
        let server = try LoopbackServer { request in
            .response(
                headers: [("Content-Encoding", "deflate")],
                body: request.path == "/bare" ? Array(wrapped.dropFirst(2).dropLast(4)) : wrapped
            )
        }
        for path in ["/wrapped", "/bare"] {
            let loaded = try await downloader.downloadData(with: server.url(path))
            #expect(Array(loaded.data) == Array("hello".utf8))
        }
    }

    private func isConnected(_ descriptor: Int32, to port: Int) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let answer = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return answer == 0 && address.sin_family == sa_family_t(AF_INET)
            && UInt16(bigEndian: address.sin_port) == UInt16(port)
    }
}
