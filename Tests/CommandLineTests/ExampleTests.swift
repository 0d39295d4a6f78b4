import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// The programs of `Examples` but the one with a window, which the tests of views run.
@Suite(.timeLimit(.minutes(2))) struct ExampleTests {
    private static let photo = Fixtures.path("../../Documentation/gallery.webp")
    private let directory = TemporaryDirectory()

    private func run(_ name: String, _ words: String...) async throws -> ProgramRun {
        try await ProgramRun.run(
            ProgramRun.product("example-\(name)"),
            words,
            environment: ["XDG_CACHE_HOME": directory.path("cache")],
            directory: directory.path
        )
    }

    private func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: directory.path(name)))
    }

    // MARK: CommandLine

    @Test func `CommandLine writes a thumbnail, and loads an image only once`() async throws {
        let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.photo)))
        let server = try LoopbackServer { _ in .response(body: photo) }
        for _ in 0..<2 {
            let run = try await run("CommandLine", server.url("/a.webp").absoluteString, "thumbnail.jpg")
            #expect(run.status == 0, "\(run.output)")
            let properties = try await ImageProperties.read(from: data("thumbnail.jpg"))
            #expect(properties.format == .jpeg && max(properties.width, properties.height) == 400)
        }
        #expect(server.requestCount() == 1, "the second run finds it in the disk cache")
    }

    @Test func `CommandLine reports errors`() async throws {
        let run = try await run("CommandLine", "http://127.0.0.1:1/a.jpg", "thumbnail.jpg")
        #expect(run.status == 1 && run.output.hasPrefix("http://127.0.0.1:1/a.jpg: "), "\(run.output)")
        #expect(try await self.run("CommandLine").status == 64)
    }

    // MARK: CustomCoder

    @Test func `CustomCoder writes a farbfeld file of the same pixels, and loads it`() async throws {
        let run = try await run("CustomCoder", Fixtures.path("GIF/photo-120.gif"), "photo.ff")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.lines.first?.hasSuffix("photo.ff: 120×90 pixels") == true)
        #expect(run.lines.last == "thumbnail: 100×75 pixels")
        let file = try [UInt8](data("photo.ff"))
        #expect(Array(file.prefix(16)) == Array("farbfeld".utf8) + [0, 0, 0, 120, 0, 0, 0, 90])
        let expected = try Fixtures.pixels("GIF/photo-120.pam")
        let pixels = (0..<90).flatMap { y in (0..<120).flatMap { x in expected.rgba(x: x, y: y) } }
        #expect(Array(file.dropFirst(16)) == pixels.flatMap { [$0, $0] })
    }

    @Test func `CustomCoder keeps transparent pixels`() async throws {
        let pixels: [UInt16] = [65535, 0, 32896, 32896, 1, 2, 3, 0]
        let file =
            Data("farbfeld".utf8) + [0, 0, 0, 2, 0, 0, 0, 1] + pixels.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        try file.write(to: URL(fileURLWithPath: directory.path("a.ff")))
        let run = try await run("CustomCoder", "a.ff", "b.ff")
        #expect(run.status == 0, "\(run.output)")
        let written = try [UInt8](data("b.ff"))
        let values = stride(from: 16, to: written.count, by: 2).map {
            UInt16(written[$0]) << 8 | UInt16(written[$0 + 1])
        }
        // Pixels of 8 bits are in between: 64 of 128 is half within their precision.
        #expect(values == [65535, 0, 32767, 32896, 0, 0, 0, 0])
    }

    @Test(arguments: [
        "farbfeld", "farbfeld\0\0\0\u{1}\0\0\0\u{1}1234567", "farbfeld\0\0\0\0\0\0\0\0",
        "farbfeld\u{7f}\0\0\0\u{7f}\0\0\0",
    ])
    func `CustomCoder refuses a damaged file`(text: String) async throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("a.ff")))
        let run = try await run("CustomCoder", "a.ff", "b.ff")
        #expect(run.status == 1 && run.output.contains("a.ff: "), "\(run.output)")
    }

    // MARK: Server

    /// The running server, and its port.
    private func startServer(allowing ports: [Int]) async throws -> (HelperProcess, port: Int) {
        let words = ["--port", "0"] + ports.flatMap { ["--allow", "127.0.0.1:\($0)"] }
        let program = try HelperProcess(
            path: "/usr/bin/env",
            ["XDG_CACHE_HOME=\(directory.path("cache"))", ProgramRun.product("example-Server")] + words
        )
        let line = try #require(await program.readLine())
        let port = try #require(line.split(separator: ":").last?.split(separator: "/").first.flatMap { Int($0) })
        return (program, port)
    }

    private static func target(_ url: URL, _ rest: String = "") -> String {
        let letters = url.absoluteString.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%\(digits.count < 2 ? "0" : "")\(digits)"
        }
        return "/thumbnail?url=\(letters.joined())\(rest)"
    }

    @Test func `Server makes thumbnails of an image that it loads once, counts requests, and ends on a signal`()
        async throws
    {
        let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.photo)))
        let origin = try LoopbackServer { _ in .response(headers: [("Cache-Control", "max-age=3600")], body: photo) }
        let (program, port) = try await startServer(allowing: [origin.port])
        let target = Self.target(origin.url("/a.webp?b=c&d"), "&width=200&height=150")
        for (accept, format) in [("image/*", ImageFormat.jpeg), ("image/webp,image/*", .webp)] {
            let answer = await LoopbackAnswer.get(target, port: port, fields: "Accept: \(accept)\r\n")
            #expect(
                answer.status == 200 && answer.head.contains("Content-Type: image/\(format == .jpeg ? "jpeg" : "webp")")
            )
            #expect(answer.head.contains("Cache-Control: public, max-age=86400"))
            let properties = try await ImageProperties.read(from: Data(answer.body))
            #expect(properties.format == format && max(properties.width, properties.height) == 200)
        }
        #expect(origin.requests.map(\.target) == ["/a.webp?b=c&d"])
        let metrics = await LoopbackAnswer.get("/metrics", port: port)
        #expect(metrics.status == 200 && metrics.head.contains("Content-Type: text/plain; version=0.0.4"))
        let lines = String(decoding: metrics.body, as: UTF8.self).split(separator: "\n")
        for line in [
            "thumbnail_responses_total{status=\"200\"} 2", "webimage_cache_hits_total{level=\"memory\"} 1",
            "webimage_downloads_total 1", "webimage_decodes_total 1", "thumbnail_requests_running 0",
            "# TYPE webimage_decoded_bytes gauge",
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    @Test func `Server reports errors by the status`() async throws {
        let image = try fixtureBytes("JPEG/gray.jpg")
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/missing.jpg": .response(404)
            case "/broken": .response(500)
            case "/text": .response(body: Array("<html>not an image</html>".utf8))
            case "/torn.jpg": .response(body: Array(image.prefix(image.count / 8)))
            case "/big.jpg": .truncated(image, declared: 17 << 20)
            default: .response(body: image)
            }
        }
        let silent = try ReservedPort()
        let secret = try LoopbackServer { _ in .response(body: image) }
        let (program, port) = try await startServer(allowing: [origin.port, silent.port])
        let dead = try #require(URL(string: "http://127.0.0.1:\(silent.port)/"))
        let cases: [(target: String, status: Int)] = [
            (Self.target(origin.url("/a.jpg")), 200), (Self.target(origin.url("/a.jpg"), "&width=0"), 400),
            (Self.target(origin.url("/a.jpg"), "&height=9999"), 400), ("/thumbnail", 400),
            ("/thumbnail?url=nonsense", 400),
            (Self.target(secret.url("/a.jpg")), 400), (Self.target(URL(fileURLWithPath: Self.photo)), 400),
            (Self.target(origin.url("/missing.jpg")), 404), ("/", 404), (Self.target(origin.url("/big.jpg")), 413),
            (Self.target(origin.url("/text")), 422), (Self.target(origin.url("/torn.jpg")), 422),
            (Self.target(origin.url("/broken")), 502), (Self.target(dead), 502),
        ]
        for (target, status) in cases {
            let answer = await LoopbackAnswer.get(target, port: port)
            #expect(answer.status == status, "\(target): \(answer.head)")
            #expect(status == 200 || !String(decoding: answer.body, as: UTF8.self).contains("127.0.0.1"))
        }
        #expect(secret.connectionCount == 0)
        #expect(await valueOnThread { LoopbackAnswer("POST /thumbnail HTTP/1.1\r\n\r\n", port: port) }.status == 405)
        #expect(await valueOnThread { LoopbackAnswer("nonsense\r\n\r\n", port: port) }.status == 400)
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    @Test func `Server answers the pending requests before it ends`() async throws {
        let image = try fixtureBytes("JPEG/gray.jpg")
        let gate = Gate()
        let origin = try LoopbackServer { _ in
            gate.wait()
            return .response(body: image)
        }
        let (program, port) = try await startServer(allowing: [origin.port])
        async let answer = LoopbackAnswer.get(Self.target(origin.url("/a.jpg")), port: port)
        #expect(await origin.wait { requests, _ in requests == 1 })
        program.send(SIGTERM)
        #expect(await program.readLine() == "finishing the requests under way")
        gate.open()
        #expect(await answer.status == 200)
        #expect(await program.wait() == 0)
    }
}
