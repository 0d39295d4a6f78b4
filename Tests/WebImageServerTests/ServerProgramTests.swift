import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// The program `webimage-server`.
@Suite struct ServerProgramTests {
    private static let program = ProgramRun.product("webimage-server")

    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramRun {
        try await ProgramRun.run(Self.program, arguments, environment: environment)
    }

    /// A started program, and the line that says where it serves.
    private func start(_ arguments: [String], variables: [String] = []) async throws -> (HelperProcess, [String]) {
        let words =
            ["-c", "exec env \"$@\" 2>&1", "sh"] + variables + [Self.program, "--listen", "127.0.0.1:0"] + arguments
        let process = try HelperProcess(path: "/bin/sh", words)
        var lines: [String] = []
        while let line = await process.readLine() {
            lines.append(line)
            if line.contains("serving on") { break }
        }
        return (process, lines)
    }

    private func port(_ lines: [String]) throws -> UInt16 {
        try #require(lines.last?.split(separator: ":").last.flatMap { UInt16($0) })
    }

    @Test func `It does not start if anybody could request any variant`() async throws {
        let refused = try await run(["--listen", "127.0.0.1:0"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("--insecure"))
        for arguments in [
            ["--sizes", "0"], ["--key", "zz", "--salt", "00"], ["--listen", "80", "--insecure"], ["x"],
        ] {
            #expect(try await run(arguments).status == 64, "\(arguments)")
        }
    }

    @Test func `It does not start without the watermark that it is to draw`() async throws {
        let place = ["--listen", "127.0.0.1:0", "--insecure"]
        let missing = try await run(place + ["--watermark", "/none.png"])
        #expect(missing.status == 71 && missing.errors.contains("watermark"))
        #expect(try await run(place, environment: ["IMGPROXY_WATERMARK_DATA": "%"]).status == 64)
        #expect(try await run(place, environment: ["IMGPROXY_WATERMARK_DATA": "AAAA"]).status == 71)
        #expect(try await run(place + ["--watermark-opacity", "2"]).status == 64)
    }

    @Test func `It prints its options, and its manual page`() async throws {
        let help = try await run(["--help"])
        #expect(help.status == 0)
        for option in ["--listen", "--key", "--max-source-megapixels", "--base-url", "--drain-delay"] {
            #expect(help.output.contains(option), "\(option)")
        }
        #expect(try await run(["--generate", "man"]).output.hasPrefix(".TH") || help.status == 0)
    }

    @Test func `It serves signed URLs of imgproxy's clients, and ends on SIGTERM`() async throws {
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        let origin = try LoopbackServer { _ in .response(headers: [("Cache-Control", "max-age=60")], body: jpeg) }
        let directory = TemporaryDirectory()
        // The key and the salt of imgproxy's documentation.
        let (process, lines) = try await start(
            ["--allow", "127.0.0.1:\(origin.port)", "--cache-dir", directory.path],
            variables: ["IMGPROXY_KEY=736563726574", "IMGPROXY_SALT=68656C6C6F", "IMGPROXY_PREFERRED_FORMATS=webp"]
        )
        #expect(lines.contains { $0.contains("IMGPROXY_PREFERRED_FORMATS is not used") })
        let port = try port(lines)
        #expect(await RawAnswer.get(port, "/health").status == 200)
        #expect(await RawAnswer.get(port, "/ready").status == 200)
        let path = "/rs:fit:40/plain/\(origin.url("/photo.jpg").absoluteString)@webp"
        #expect(await RawAnswer.get(port, "/AAAA\(path)").status == 403)
        #expect(await RawAnswer.get(port, "/insecure\(path)").status == 403)
        process.send(SIGTERM)
        #expect(await process.wait() == 0)
    }

    @Test func `Without keys, the sizes of a list are made`() async throws {
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        let origin = try LoopbackServer { _ in .response(headers: [("Cache-Control", "max-age=60")], body: jpeg) }
        let directory = TemporaryDirectory()
        let (process, lines) = try await start(
            ["--allow", "127.0.0.1:\(origin.port)", "--cache-dir", directory.path, "--sizes", "40,80"]
        )
        let port = try port(lines)
        let source = "plain/\(origin.url("/photo.jpg").absoluteString)"
        let made = await RawAnswer.get(port, "/_/rs:fill:40:40/\(source)@webp")
        #expect(made.status == 200)
        let image = try await Image.decode(Data(made.body))
        #expect((image.pixelWidth, image.pixelHeight) == (40, 40))
        #expect(await RawAnswer.get(port, "/_/rs:fill:41:40/\(source)").status == 403)
        #expect(await RawAnswer.get(port, "/_/w:40/q:50/\(source)").status == 403)
        process.send(SIGTERM)
        #expect(await process.wait() == 0)
    }
}
