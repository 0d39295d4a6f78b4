import CLinux
import CMicrohttpd
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// The files for nginx, systemd and containers, by the programs that read them.
@Suite struct PackagingTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Fixtures.path("../../Packaging/\(path)"), encoding: .utf8)
    }

    /// A port that was free a moment ago.
    private static func freePort() -> Int {
        let socket = webimage_http_listen_tcp("127.0.0.1", 0, 1)
        defer { close(socket) }
        return Int(webimage_socket_port(socket))
    }

    @Test(.enabled(if: NginxServer.isInstalled, "nginx is not installed"))
    func `Signed URLs pass nginx as they were sent, over TLS`() async throws {
        let jpeg = try Array(Fixtures.data("Options/photo.jpg"))
        var settings = ImgproxyGrammar.Configuration()
        settings.keys = [SignatureKey(key: [1, 2, 3], salt: [4])]
        let grammar = try ImgproxyGrammar(settings)
        let server = try ServerUnderTest {
            $0.grammar = grammar
        } origin: { _ in
            .response(headers: [("Cache-Control", "max-age=600")], body: jpeg)
        }
        let port = Self.freePort()
        let configuration = try Self.text("nginx/webimage-server.conf")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(server.server.port)")
            .replacing("listen 443", with: "listen 127.0.0.1:\(port)")
            .replacing("/etc/ssl/certs/images.example.com.pem", with: "cert.pem")
            .replacing("/etc/ssl/private/images.example.com.key", with: "key.pem")
        // In place of the end of the test server's block.
        let end = try #require(configuration.lastIndex(of: "}"))
        let nginx = try await NginxServer(locations: "}\n" + configuration[..<end])
        func status(_ path: String, _ field: String = "") async throws -> Substring? {
            let request = "GET \(path) HTTP/1.1\r\nHost: images.example.com\r\n\(field)Connection: close\r\n\r\n"
            let command = """
                printf %b "$0" |
                exec openssl s_client -quiet -ign_eof -CAfile "$1" -verify_return_error -connect "$2"
                """
            let place = "127.0.0.1:\(port)"
            let run = try await ProgramRun.run("/bin/sh", ["-c", command, request, nginx.certificate, place])
            return run.output.split(separator: "\r\n").first
        }
        let signed = "w:40/plain/" + server.origin.url("/a%2520b.jpg").absoluteString + "@webp"
        let code = MessageAuthentication.sha256.code(of: [4] + Array("/\(signed)".utf8), key: [1, 2, 3]) ?? []
        let signature = String(decoding: URLBytes.base64Encoded(code[...], isPadded: false), as: UTF8.self)
        #expect(try await status("/\(signature)/\(signed)") == "HTTP/1.1 200 OK")
        #expect(try await status("/AAAA/\(signed)") == "HTTP/1.1 403 Forbidden")
        #expect(try await status("/health") == "HTTP/1.1 200 OK")
        // What libmicrohttpd would take for the end of a line does not reach it.
        for field in ["Content-Length: 0\\0, 40\r\n", "\\0Content-Length: 40\r\n", "X: a\\0b\r\n"] {
            #expect(try await status("/health", field) == "HTTP/1.1 400 Bad Request", "\(field)")
        }
        for path in ["/metrics", "/ready"] { #expect(try await status(path) == "HTTP/1.1 403 Forbidden") }
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"),
            "systemd is not installed"
        )
    )
    func `systemd finds nothing wrong with the units`() async throws {
        let directory = TemporaryDirectory()
        for name in ["webimage-server.service", "webimage-server.socket"] {
            // The program is not installed there.
            let text = try Self.text("systemd/\(name)").replacing("/usr/bin/webimage-server", with: "/bin/true")
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path(name)))
        }
        let run = try await ProgramRun.run(
            "/usr/bin/systemd-analyze",
            ["verify", "--man=no", directory.path("webimage-server.service"), directory.path("webimage-server.socket")]
        )
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }

    @Test func `The container's file has known instructions, and copies from its own stages`() throws {
        let text = try Self.text("container/Containerfile").replacing("\\\n", with: " ")
        var stages: Set<Substring> = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            let known = ["FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"]
            #expect(known.contains(String(words[0])), "\(line)")
            if words[0] == "FROM", words.count == 4, words[2] == "AS" { stages.insert(words[3]) }
            for word in words where word.hasPrefix("--from=") { #expect(stages.contains(word.dropFirst(7)), "\(line)") }
            if words[0] == "ENV" {
                for word in words.dropFirst() {
                    let name = word.prefix { $0 != "=" }.dropFirst("WEBIMAGE_".count).lowercased()
                    #expect(["listen", "cache_dir", "log"].contains(name), "\(word)")
                }
            }
        }
        #expect(stages == ["build"])
    }
}
