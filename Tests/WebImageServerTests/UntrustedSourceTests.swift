import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Sources that strangers name.
@Suite(.tags(.threadSanitizer)) struct UntrustedSourceTests {
    /// One address and others like it, in many spellings.
    private static let hosts = [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "017700000001", "0x7f.1",
        "0177.0.0.01", "0177.0x0.1", "127.0.0.1.", "127.000.000.001", "%31%32%37.0.0.1", "127%2E0%2e0%2E1",
        "127.255.255.254", "127.65530", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST.", "a.localhost",
        "printer.local",
        "router.lan", "db.internal", "10.0.0.1", "012.0.0.1", "192.168.0.1", "3232235521", "169.254.169.254",
        "2852039166", "100.100.100.200", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]",
        "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[fe80::1]", "[fc00::1]", "user@127.0.0.1",
        "example.com\\@127.0.0.1",
    ]

    @Test func `No spelling of an address in the server's network is connected to`() async throws {
        let server = try ServerUnderTest(
            change: { configuration in
                configuration.policy.allowed = []
            },
            origin: { _ in .response(404) }
        )
        for host in Self.hosts {
            for scheme in ["http", "https", "HTTP"] {
                let source = "\(scheme)://\(host):\(server.origin.port)/a.jpg"
                let answer = await RawAnswer.get(server.server.port, "/w:10/source/\(source)")
                #expect([400, 403].contains(answer.status), "\(source)")
            }
        }
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
