import CLinux
import CMicrohttpd
import Glibc
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Sources that strangers name.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct UntrustedSourceTests {
    /// A listening socket for both families of addresses. Nobody accepts, so its queue has what has connected.
    private final class Listener {
        let descriptor: Int32
        let port: Int

        init?() {
            let both = webimage_http_listen_tcp("::", 0, 64)
            descriptor = both >= 0 ? both : webimage_http_listen_tcp("0.0.0.0", 0, 64)
            guard descriptor >= 0 else { return nil }
            port = Int(webimage_socket_port(descriptor))
        }

        deinit { close(descriptor) }

        var hasConnection: Bool {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&state, 1, 0) > 0
        }
    }

    /// Returns a source for a path of imgproxy: every byte but letters and digits is encoded once, and decoded by the grammar.
    private static func encoded(_ source: String) -> String {
        source.utf8.map { byte in
            let isPlain = byte < 128 && Character(UnicodeScalar(byte)).isLetter || (48...57).contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    @Test func `No spelling of an address in the server's network is connected to`() async throws {
        let listener = try #require(Listener())
        let grammar = try ImgproxyGrammar(ImgproxyGrammar.Configuration())
        let server = try ServerUnderTest(
            change: { configuration in
                configuration.policy.allowed = []
                configuration.grammar = grammar
            },
            origin: { _ in .response(404) }
        )
        var count = 0
        for host in RefusedHosts.all {
            for start in ["http://", "https://", "HTTP://user@"] {
                let source = "\(start)\(host):\(listener.port)/a.jpg"
                let answer = await RawAnswer.get(server.server.port, "/_/w:10/plain/\(Self.encoded(source))")
                #expect([400, 403].contains(answer.status), "\(source)")
                count += 1
            }
        }
        #expect(count > 400)
        #expect(!listener.hasConnection)
        // It does notice connections.
        #expect(TestClient(port: UInt16(listener.port)) != nil && listener.hasConnection)
    }

    @Test func `Other schemes are not loaded`() async throws {
        let server = try ServerUnderTest { _ in .response(404) }
        for source in [
            "file:///etc/passwd", "data:image/png;base64,AAAA", "ftp://127.0.0.1/a", "gopher://a/", "local:///a",
        ] {
            #expect(
                [400, 403].contains(await RawAnswer.get(server.server.port, "/source/\(source)").status),
                "\(source)"
            )
        }
        #expect(server.origin.connectionCount == 0)
    }

    @Test func `A redirect into the server's network is not followed`() async throws {
        let inner = try LoopbackServer { _ in .response(404) }
        let target = inner.url("/secret.jpg").absoluteString
        let server = try ServerUnderTest { _ in .redirect(to: target) }
        let answer = await server.get("/w:10")
        #expect(answer.status == 403)
        #expect(inner.connectionCount == 0)
    }
}
