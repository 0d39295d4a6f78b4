import FoundationEssentials
import TestSupport
import Testing

/// `--untrusted` and `--allow`.
@Suite(.timeLimit(.minutes(2))) struct UntrustedTests {
    private let harness = CommandLineHarness()

    private func server() throws -> LoopbackServer {
        let body = try fixtureBytes("JPEG/gray.jpg")
        return try LoopbackServer { _ in .response(body: body) }
    }

    private func failure(_ words: String...) async throws -> JSONLine.Failure {
        let run = try await harness.run(words + ["--json", "--cache-dir", harness.cache])
        #expect(run.status == 1)
        return try #require(try CommandLineHarness.objects(run).first?.error)
    }

    @Test(arguments: [["get"], ["identify"], ["prefetch"]])
    func `A server on loopback is refused, with a code and a reason`(command: [String]) async throws {
        let server = try server()
        let run = try await harness.run(
            command + [server.url("/a.jpg").absoluteString, "--untrusted", "--json", "--cache-dir", harness.cache]
        )
        #expect(run.status == 1)
        let failure = try #require(try CommandLineHarness.objects(run).first?.error)
        #expect(failure.code == 2107 && failure.message == "the address is refused: 127.0.0.1, a loopback address")
        #expect(server.connectionCount == 0)
    }

    @Test func `Every source except public ones is refused`() async throws {
        for source in [
            "http://127.1/a.jpg", "http://[::ffff:7f00:1]/", "http://169.254.169.254/", "http://localhost/a.jpg",
        ] {
            #expect(try await failure("get", source, "--untrusted").code == 2107, "\(source)")
        }
        #expect(
            try await failure("get", "http://0x7f.1/", "--untrusted").message.contains("127.0.0.1, a loopback address")
        )
        for source in [Fixtures.path("JPEG/gray.jpg"), "file:///etc/passwd", "data:image/gif;base64,R0lGODlh", "-"] {
            #expect(try await failure("identify", source, "--untrusted").code == 2107, "\(source)")
        }
    }

    @Test func `An allowed source is loaded by every command`() async throws {
        let server = try server()
        let url = server.url("/a.jpg").absoluteString
        let words = [
            "--untrusted", "--allow", "10.0.0.0/8", "--allow", "127.0.0.1:\(server.port)", "--cache-dir", harness.cache,
        ]
        for command in [["get", "-o", "a.jpg"], ["identify"], ["prefetch"], ["show", "--symbols", "--loops", "1"]] {
            let run = try await harness.run(command + [url] + words)
            #expect(run.status == 0, "\(command): \(run.errors)")
        }
        #expect(server.requestCount() == 1, "they share a cache")
        // The cache is neither that of trusted sources, nor that of other policies.
        #expect(try await harness.run("cache", "list", "--cache-dir", harness.cache).lines.isEmpty)
        let refused = try await harness.run(
            "get",
            url,
            "--untrusted",
            "--cache-only",
            "-o",
            "b.jpg",
            "--cache-dir",
            harness.cache
        )
        #expect(refused.status == 1)
    }

    @Test func `The time limit of the command holds for untrusted sources`() async throws {
        let server = try LoopbackServer { _ in .silence }
        let allow = "127.0.0.1:\(server.port)"
        let url = server.url("/a.jpg").absoluteString
        let failure = try await failure("get", url, "--untrusted", "--allow", allow, "--timeout", "0.3", "-o", "a.jpg")
        #expect(failure.code == 2100 && failure.message.contains("longer than 0.3 s"))
        #expect(server.requestCount() == 1)
    }

    @Test func `Header fields are sent to untrusted sources, with those of the policy`() async throws {
        let server = try server()
        let url = server.url("/a.jpg").absoluteString
        let allow = ["--untrusted", "--allow", "127.0.0.1:\(server.port)", "--no-cache"]
        let run = try await harness.run(["get", url, "-o", "a.jpg", "-H", "X-Key: 1"] + allow)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            server.requests.first?.header("X-Key") == "1"
                && server.requests.first?.header("Accept-Encoding") == "identity"
        )
    }

    @Test func `A decompression bomb is refused by every command that decodes`() async throws {
        let bomb = PNGBomb.make(width: 8000, height: 8000)
        let server = try LoopbackServer { _ in .response(body: bomb) }
        let allow = "127.0.0.1:\(server.port)"
        for command in ["get", "identify"] {
            let failure = try await failure(
                command,
                server.url("/a.png").absoluteString,
                "--untrusted",
                "--allow",
                allow
            )
            #expect(failure.code == 1100 && failure.message.contains("maximumPixelCount = 50000000"))
        }
    }

    @Test(
        arguments: [
            (["--allow", "127.0.0.1"], "needs --untrusted"), (["--untrusted", "--allow", ""], "--allow takes"),
            (["--untrusted", "--allow", "127.1"], "--allow takes"),
            (["--untrusted", "--allow", "http://a.com"], "--allow takes"),
            (["--untrusted", "--allow", "a.com:0"], "--allow takes"), (["--untrusted", "--allow"], "needs a value"),
            (["--untrusted=yes"], "takes no value"),
        ] as [([String], String)]
    )
    func `Invalid arguments exit with status 64`(words: [String], message: String) async throws {
        for command in ["get", "identify", "prefetch", "show"] {
            let run = try await harness.run([command, "http://example.com/a.jpg"] + words)
            #expect(run.status == 64 && run.errors.contains(message), "\(run.errors)")
        }
    }
}
