import FoundationEssentials
import Glibc
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageHTTP

/// The addresses of real connections: libcurl and the system's resolver look names up, and servers listen.
@Suite(.timeLimit(.minutes(2))) struct UntrustedTransportTests {
    private func server() throws -> LoopbackServer {
        let body = try smallImageData()
        return try LoopbackServer { _ in .response(body: body) }
    }

    /// The transport's result for a URL that no other check has seen.
    private func directError(_ url: URL, _ policy: SourcePolicy) async -> WebImageError? {
        final class Sink: HTTPTransferSink {
            let end = Monitor<WebImageError??>(nil)
            func didReceive(_ response: HTTPResponse) -> WebImageError? { nil }
            func didReceive(_ bytes: UnsafeRawBufferPointer) -> WebImageError? { nil }
            func didFinish(_ error: WebImageError?, metrics: DownloadMetrics) { end.withLock { $0 = .some(error) } }
        }
        var request = HTTPTransferRequest(url: url)
        request.sourcePolicy = policy
        let (sink, transport) = (Sink(), CurlTransport())
        let transfer = transport.start(request, sink: sink)
        defer {
            transfer.cancel()
            transport.invalidate()
        }
        let end = await sink.end.value { $0 }
        return end ?? nil
    }

    @Test(
        "A socket to loopback is not opened, however libcurl is directed there",
        arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "0x7f.1", "0177.0.0.1", "127.0.0.1.",
            "[::ffff:127.0.0.1]", "[::1]", "0", "0.0.0.0", "[::]", "localhost", "LOCALHOST", "a.localhost",
            "%31%32%37.0.0.1",
            "１２７.0.0.1", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        ]
    )
    func spelledSockets(host: String) async throws {
        let server = try server()
        guard let url = URL(string: "http://\(host):\(server.port)/a.jpg") else { return }
        // Neither the port nor the URL is refused: only the connection's address is checked.
        var policy = SourcePolicy.untrusted
        policy.ports = [server.port]
        let error = try #require(await directError(url, policy), "\(host) was reached")
        #expect([.sourceRefused, .invalidURL, .cannotFindHost].contains(error.code), "\(host): \(error)")
        if host.utf8.first.map({ (48...57).contains($0) || $0 == UInt8(ascii: "[") }) ?? false,
            host.utf8.allSatisfy({ $0 < 0x80 }), host.utf8.last != UInt8(ascii: ".")
        {
            #expect(error.code == .sourceRefused, "\(host): \(error)")
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `Where the locale lets libcurl decode other scripts, they are refused, too`() async {
        await #expect(processExitsWith: .success) {
            // Without it libcurl does not know the encoding of a host, and looks none up.
            guard setlocale(LC_ALL, "C.UTF-8") != nil else { exit(1) }
            let suite = UntrustedTransportTests()
            let server = try suite.server()
            var policy = SourcePolicy.untrusted
            policy.ports = [server.port]
            var reached = 0
            for host in ["１２７.0.0.1", "127。0。0。1", "①②⑦.⓪.⓪.①", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ", "0x7f.1", "127.1"] {
                guard let url = URL(string: "http://\(host):\(server.port)/a.jpg") else { continue }
                // The request reaches the server here, so only the policy prevents it.
                guard await suite.directError(url, .trusted) == nil else { continue }
                reached += 1
                let connections = server.connectionCount
                guard await suite.directError(url, policy)?.code == .sourceRefused else { exit(2) }
                guard server.connectionCount == connections else { exit(3) }
            }
            exit(reached >= 5 ? 0 : 4)
        }
    }

    @Test func `Without a policy the same server is reached`() async throws {
        let server = try server()
        #expect(await directError(server.url("/a.jpg"), .trusted) == nil)
        #expect(server.requestCount() == 1)
    }

    @Test func `A server on loopback is reached only through an explicit exception`() async throws {
        let server = try server()
        for rules in [
            [], ["127.0.0.1"], ["127.0.0.1:1"], ["127.0.0.2:\(server.port)"], ["localhost:\(server.port)"],
            ["10.0.0.0/8"],
        ] {
            var policy = SourcePolicy.untrusted
            policy.allowed = try rules.map { try #require(SourceRule($0)) }
            #expect(await downloadError(WebImageDownloader(policy), server.url("/a.jpg"))?.code == .sourceRefused)
        }
        #expect(server.connectionCount == 0)
        for rule in ["127.0.0.1:\(server.port)", "127.0.0.0/8:\(server.port)"] {
            #expect(await downloadError(WebImageDownloader(try .allowing(rule)), server.url("/a.jpg")) == nil)
        }
        let named = try #require(URL(string: "http://localhost:\(server.port)/a.jpg"))
        #expect(await downloadError(WebImageDownloader(try .allowing("localhost:\(server.port)")), named) == nil)
        #expect(server.requestCount() == 3)
    }

    // MARK: Names that change

    private func url(_ host: String, _ server: LoopbackServer) throws -> URL {
        try #require(URL(string: "http://\(host):\(server.port)/a.jpg"))
    }

    @Test func `A name that changes from an allowed address to another is refused (DNS rebinding)`() async throws {
        let body = try smallImageData()
        let server = try LoopbackServer { _ in
            .script { _, connection in
                connection.sendHead(200, [("Content-Length", "\(body.count)"), ("Connection", "close")])
                connection.send(body)
                return false
            }
        }
        let inner = try LoopbackServer(address: 0x7F00_0002, port: server.port) { _ in .response(body: body) }
        let resolver = ChangingResolver("127.0.0.1", "127.0.0.2")
        let downloader = WebImageDownloader(try .allowing(server), resolver: resolver.addresses)
        let url = try url("cdn.example.com", server)
        #expect(await downloadError(downloader, url) == nil)
        let error = try #require(await downloadError(downloader, url))
        #expect(error.code == .sourceRefused && error.message.contains("127.0.0.2"))
        #expect(error.message.contains("cdn.example.com"))
        #expect(server.requestCount() == 1 && inner.connectionCount == 0)
        #expect(resolver.asked == ["cdn.example.com", "cdn.example.com"])
    }

    @Test func `Only the connection looks the name up: the address cannot change in between`() async throws {
        let server = try server()
        let resolver = ChangingResolver("127.0.0.1")
        let downloader = WebImageDownloader(try .allowing(server), resolver: resolver.addresses)
        #expect(await downloadError(downloader, try url("cdn.example.com", server)) == nil)
        #expect(resolver.asked == ["cdn.example.com"])
    }

    @Test func `A kept connection goes to its checked address, whatever the name resolves to now`() async throws {
        let server = try server()
        let inner = try LoopbackServer(address: 0x7F00_0002, port: server.port) { _ in .response(body: [1]) }
        let resolver = ChangingResolver("127.0.0.1", "127.0.0.2")
        let downloader = WebImageDownloader(try .allowing(server), resolver: resolver.addresses)
        for _ in 0..<3 { #expect(await downloadError(downloader, try url("cdn.example.com", server)) == nil) }
        #expect(server.connectionCount == 1 && inner.connectionCount == 0)
    }

    @Test(arguments: ["127.0.0.2 127.0.0.1", "10.0.0.1 ::1 169.254.169.254 127.0.0.1", "127.0.0.1 127.0.0.2"])
    func `Of several addresses the refused ones are skipped`(answer: String) async throws {
        let server = try server()
        let inner = try LoopbackServer(address: 0x7F00_0002, port: server.port) { _ in .response(body: [1]) }
        let resolver = ChangingResolver(answer)
        let downloader = WebImageDownloader(try .allowing(server), resolver: resolver.addresses)
        #expect(await downloadError(downloader, try url("cdn.example.com", server)) == nil)
        #expect(server.connectionCount == 1 && inner.connectionCount == 0)
    }

    @Test(arguments: [
        "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00:ec2::254", "0.0.0.0",
    ])
    func `A public name with a private address is refused before anything is sent`(address: String) async throws {
        let resolver = ChangingResolver(address)
        let downloader = WebImageDownloader(.untrusted, resolver: resolver.addresses)
        let url = try #require(URL(string: "http://cdn.example.com/a.jpg"))
        let error = try #require(await downloadError(downloader, url))
        #expect(error.code == .sourceRefused && error.url == url)
    }

    @Test func `A connection made before the policy is not used under it`() async throws {
        let server = try server()
        let downloader = WebImageDownloader(.trusted, resolver: { _, _ in [IPAddress(v4: 0x7F00_0001)] })
        let url = try url("cdn.example.com", server)
        #expect(await downloadError(downloader, url) == nil)
        var policy = SourcePolicy.untrusted
        policy.ports = [server.port]
        downloader.config.sourcePolicy = policy
        #expect(await downloadError(downloader, url)?.code == .sourceRefused)
        #expect(server.requestCount() == 1)
    }

    @Test func `A transport that does not check addresses gets no requests`() async throws {
        let transport = FakeTransport()
        var config = WebImageDownloaderConfig()
        config.sourcePolicy = .untrusted
        let downloader = WebImageDownloader(config: config, transport: transport)
        let url = try #require(URL(string: "https://cdn.example.com/a.jpg"))
        #expect(await downloadError(downloader, url)?.code == .sourceRefused)
        #expect(transport.transfers.isEmpty)
    }

    @Test(arguments: [
        ("http://a.com/x", "a.com", 80), ("https://A.com:81?x@b.com", "A.com", 81), ("https://[::1]/", "[::1]", 443),
        ("http://bücher.de/", "bücher.de", 80), ("http://u:p@a.com:8080/@b", "a.com", 8080),
    ]) func `Host and port are parsed from a URL as libcurl does`(text: String, host: String, port: Int) throws {
        let address = try #require(CurlAddress(text))
        #expect(address.host == host && address.port == port)
    }

    @Test(arguments: ["", "a.com", "http://", "http://[::1", "http://a b/", "http://a.com:99999/", "nonsense://a.com/"])
    func `URLs that libcurl rejects are not parsed`(text: String) { #expect(CurlAddress(text) == nil) }

    // MARK: The environment

    @Test func `Proxies and passwords of the environment have no influence`() async {
        await #expect(processExitsWith: .success) {
            let home = TemporaryDirectory()
            let entry = "machine 127.0.0.1 login ann password word\n"
            try Data(entry.utf8).write(to: URL(fileURLWithPath: home.path(".netrc")))
            let proxy = try LoopbackServer { _ in .response(500) }
            let body = try smallImageData()
            let server = try LoopbackServer { request in
                request.path == "/secret" && request.header("Authorization") == nil
                    ? .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")]) : .response(body: body)
            }
            for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
            }
            setenv("HOME", home.path, 1)
            let downloader = WebImageDownloader(try .allowing(server))
            guard await downloadError(downloader, server.url("/a.jpg")) == nil, proxy.requestCount() == 0 else {
                exit(1)
            }
            guard await downloadError(downloader, server.url("/secret"))?.statusCode == 401 else { exit(2) }
            guard server.requests.allSatisfy({ $0.header("Authorization") == nil }) else { exit(3) }
            exit(0)
        }
    }
}
