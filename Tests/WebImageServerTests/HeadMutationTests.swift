import CLinux
import CMicrohttpd
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Mutated heads through the real parser: no crash, and no request that another parser would take for a body.
@Suite(.tags(.addressSanitizer)) struct HeadMutationTests {
    /// Counts the requests that reach a handler.
    private final class Recorder: HTTPHandling {
        let targets = Monitor<[String]>([])

        func reply(to request: HTTPRequest) -> HTTPReply {
            targets.withLock { $0.append(request.target) }
            return .now(.text(200, "ok"))
        }

        func ended(_ exchange: HTTPExchangeSummary) {}
    }

    private func server(_ recorder: Recorder) throws -> (MicroHTTPServer, UInt16) {
        let listener = webimage_http_listen_tcp("127.0.0.1", 0, 64)
        let server = try MicroHTTPServer(listener: listener, settings: .init(), handler: recorder)
        return (server, UInt16(truncatingIfNeeded: webimage_socket_port(listener)))
    }

    private static let bodies = [
        "Content-Length: 40", "Transfer-Encoding: chunked", "content-length:40", "TRANSFER-ENCODING:\tchunked",
        "Content-Length: 0\r\nContent-Length: 40", "Content-Length: 40\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity, chunked", "Content-Length: 0, 40", "Content-Length: +40",
        "X: a\nTransfer-Encoding: chunked", "Content-Length : 40",
        "Content-Length:\r\n 40", "content-length: \r\n\t40", "Transfer-Encoding:\r\n chunked",
        "Content-Length:\r\n 4\r\n 0",
        "Transfer-Encoding\u{b}: chunked", "Content-Length: 4\u{0}0", "Expect: 100-continue",
    ]

    @Test func `What follows a head with a body is never a request`() async throws {
        let recorder = Recorder()
        let (server, port) = try server(recorder)
        for body in Self.bodies {
            let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
            _ = await RawAnswer.exchange(port, "GET /first HTTP/1.1\r\nHost: a\r\n\(body)\r\n\r\n\(smuggled)")
        }
        #expect(!recorder.targets.withLock { $0.contains("/smuggled") })
        await onThread { server.stop() }
    }

    @Test func `Mutated heads are answered or refused`() async throws {
        let recorder = Recorder()
        let (server, port) = try server(recorder)
        var random = SeededGenerator(seed: 32)
        let seeds = Self.bodies.map { "GET /first HTTP/1.1\r\nHost: a\r\n\($0)\r\nAccept: */*\r\n\r\n" }
        for _ in 0..<TestEffort.rounds(4000) {
            var bytes = Array(seeds[random.below(seeds.count)].utf8)
            for _ in 0...random.below(4) {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert([0, 9, 10, 13, 32, 58, 127, 255][random.below(8)], at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(random.below(40)), at: place)
                }
            }
            let head = bytes
            await valueOnThread {
                guard let client = TestClient(port: port) else { return }
                client.send(head)
                client.close()
            }
        }
        #expect(await RawAnswer.get(port, "/last").status == 200)
        // All targets are those of mutated first lines; nothing begins in the middle of a field.
        #expect(recorder.targets.withLock { $0.allSatisfy { $0.hasPrefix("/") || $0 == "*" } })
        await onThread { server.stop() }
    }
}
