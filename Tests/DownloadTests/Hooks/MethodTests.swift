import FoundationEssentials
import HTTPTestSupport
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageHTTP

/// Methods and bodies over libcurl.
@Suite struct MethodTests {
    private let downloader = WebImageDownloader()

    private func send(_ method: String, _ body: Data? = nil, _ headers: HTTPHeaders = [:], to url: URL) async
        -> Recorder
    {
        let modifier = DownloadRequestModifier(method: method, headers: headers, body: body)
        return await downloader.end(url, context: .with { $0.downloadRequestModifier = modifier })
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("POST", [1, 0, 13, 10, 2] as [UInt8]?, "5"), ("POST", [], "0"), ("POST", nil, "0"), ("PUT", [1], "1"),
            ("PUT", nil, "0"), ("PATCH", [1], "1"), ("DELETE", nil, nil), ("DELETE", [1], "1"), ("GET", [1, 2], "2"),
            ("REPORT", nil, nil), ("OPTIONS", [1], "1"),
        ] as [(String, [UInt8]?, String?)]
    ) func `Every method and body arrives unchanged`(method: String, body: [UInt8]?, length: String?) async throws {
        let server = try LoopbackServer { _ in .response(body: [7]) }
        #expect(await send(method, body.map { Data($0) }, to: server.url("/a")).data == Data([7]))
        let request = try #require(server.requests.first)
        #expect(request.method == method && request.body == body ?? [])
        #expect(request.header("Content-Length") == length)
        #expect(request.header("Content-Type") == nil && request.header("Expect") == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `A big body arrives, and handles with bodies are not reused`() async throws {
        let server = try LoopbackServer { request in
            .response(
                headers: [("X", request.header("X") ?? "")],
                body: Array("\(request.method) \(request.body.count)".utf8)
            )
        }
        let big = Data(pattern(3_000_000))
        #expect(
            await send("POST", big, ["X": "1", "Content-Type": "a/b"], to: server.url("/a")).data
                == Data("POST 3000000".utf8)
        )
        #expect(server.requests.first.map { $0.body == Array(big) } == true)
        #expect(server.requests.first?.header("Content-Type") == "a/b")
        #expect(try await downloader.downloadData(with: server.url("/b")).data == Data("GET 0".utf8))
        #expect(server.connectionCount == 1)
        #expect(server.requests.last?.header("X") == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `A HEAD response has no image, and the download does not wait for one`()
        async throws
    {
        let server = try LoopbackServer { _ in
            .script { _, connection in connection.sendHead(200, [("Content-Length", "1000")]) }
        }
        let end = await send("HEAD", to: server.url("/a"))
        #expect(end.code == .badImageData && server.requests.first?.method == "HEAD")
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (302, "PUT", "PUT"),
            (307, "POST", "POST"), (308, "PUT", "PUT"),
        ]
    ) func `A redirect keeps or changes the method as its status says`(status: Int, method: String, then: String)
        async throws
    {
        let server = try LoopbackServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: status) : .response(body: [7])
        }
        let end = await send(method, Data([1, 2]), ["Content-Type": "a/b"], to: server.url("/a"))
        #expect(end.data == Data([7]))
        #expect(try end.results.first?.get().metrics?.redirectCount == 1)
        #expect(server.requests.map(\.method) == [method, then])
        #expect(server.requests.last?.body == (method == then ? [1, 2] : []))
        #expect(server.requests.last?.header("Content-Type") == (method == then ? "a/b" : nil))
    }

    @Test(.timeLimit(.minutes(1))) func `A challenge is answered with the body sent again`() async throws {
        let server = try LoopbackServer { request in
            request.header("Authorization") == "Basic dTpw"
                ? .response(body: request.body) : .response(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])
        }
        downloader.config.urlCredential = WebImageCredential(user: "u", password: "p")
        #expect(await send("POST", Data([1, 2]), to: server.url("/a")).data == Data([1, 2]))
    }

    @Test(.timeLimit(.minutes(1))) func `A slow upload is not a timeout`() {
        var timer = TransferTimer(limits: .init(idle: 10, total: 0), now: 0)
        timer.sent(total: 5, at: 1)
        #expect(timer.nextDeadline == .max, "nothing is sent before there is a connection")
        timer.connected(at: 10)
        timer.sent(total: 6, at: 18)
        #expect(timer.check(at: 25) == nil && timer.nextDeadline == 28)
        timer.sent(total: 6, at: 26)
        #expect(timer.check(at: 28) == .idle)
    }
}
