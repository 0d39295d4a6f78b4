import CLinux
import CMicrohttpd
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Mutated heads through the real parser: no crash, and no request that another parser would take for a body.
@Suite(.tags(.threadSanitizer, .addressSanitizer)) struct HeadMutationTests {
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
        "Content-Length:\r\n 4\r\n 0", "Content-Length:4\r\n 0", "Transfer-Encoding:c\r\n hunked",
        "Content-Length:G\r\n 4\r\n 0",
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

    /// Mutates the bytes of a head at some places.
    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0...random.below(4) {
            let place = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes[place] = UInt8(random.below(256))
            case 1: bytes.remove(at: place)
            case 2: bytes.insert([0, 9, 10, 13, 32, 58, 127, 255][random.below(8)], at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(random.below(40)), at: place)
            }
        }
    }

    /// Returns whether a parser, however lenient, could see a body in a head: a field of that name, whatever stands around the name, with
    /// another value than 0. Folded lines belong to the field before them.
    ///
    /// libmicrohttpd takes NUL for the end of a line, and shows nothing of that. No parser of HTTP may accept NUL, and proxies do not
    /// (``PackagingTests`` has nginx), so such heads are only answered.
    private static func mayHaveBody(_ head: [UInt8]) -> Bool {
        guard !head.contains(0) else { return false }
        let lines = head.split(separator: 10, omittingEmptySubsequences: false).dropFirst()
        // What follows an empty line is not of this head.
        for line in lines.prefix(while: { !$0.allSatisfy { $0 == 13 } }) {
            guard let colon = line.firstIndex(of: 58), let first = line.first, first != 32, first != 9 else { continue }
            let name = line[..<colon].filter { (33...126).contains($0) }.map { $0 | 0x20 }
            if name.elementsEqual("transfer-encoding".utf8) { return true }
            let value = line[(colon + 1)...].filter { (33...126).contains($0) }
            if name.elementsEqual("content-length".utf8), !value.elementsEqual("0".utf8) { return true }
        }
        return false
    }

    /// `WEBIMAGE_HEAD_MUTATIONS` is the number of heads; 4 000 by default.
    private static let count =
        getenv("WEBIMAGE_HEAD_MUTATIONS").flatMap { Int(String(cString: $0)) } ?? TestEffort.rounds(4000)

    /// The outcome of some heads.
    private struct Outcome: Sendable {
        /// The heads that may have a body, by the targets behind them.
        var suspects: [String: [UInt8]] = [:]
        /// The connections that could not be opened, and those that the server did not end.
        var failureCount = 0
    }

    /// Sends heads, each on a connection. Blocks the thread.
    private static func sendHeads(_ numbers: Range<Int>, to port: UInt16) -> Outcome {
        let seeds = bodies.map { "GET /first HTTP/1.1\r\nHost: a\r\n\($0)\r\nAccept: */*\r\n\r\n" }
        // The last request ends the connection, unless an earlier one did.
        let end = "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        var random = SeededGenerator(seed: UInt64(32 + numbers.lowerBound))
        var outcome = Outcome()
        for number in numbers {
            var head = Array(seeds[random.below(seeds.count)].utf8)
            mutate(&head, &random)
            // Behind it in the same packet, as a proxy would send the body.
            let target = "/smuggled-\(number)"
            if mayHaveBody(head) { outcome.suspects[target] = head }
            let client = TestClient(port: port)
            client?.send(head + Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n\(end)".utf8))
            if client?.drain() != true { outcome.failureCount += 1 }
        }
        return outcome
    }

    @Test func `Mutated heads are answered or refused, and smuggle no request`() async throws {
        let recorder = Recorder()
        let (server, port) = try server(recorder)
        let part = (Self.count + 3) / 4
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            for worker in 0..<4 {
                let numbers = min(worker * part, Self.count)..<min((worker + 1) * part, Self.count)
                group.addTask { await valueOnThread { Self.sendHeads(numbers, to: port) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0.failureCount == 0 })
        #expect(outcomes.reduce(0) { $0 + $1.suspects.count } > Self.count / 4)
        #expect(await RawAnswer.get(port, "/last").status == 200)
        let targets = recorder.targets.withLock { $0 }
        // All targets are those of mutated first lines; nothing begins in the middle of a field.
        #expect(targets.allSatisfy { $0.hasPrefix("/") || $0 == "*" })
        let smuggled = targets.compactMap { target in outcomes.lazy.compactMap { $0.suspects[target] }.first }
        for head in smuggled.prefix(5) {
            Issue.record("what follows is a request: \(String(decoding: head, as: UTF8.self).debugDescription)")
        }
        await onThread { server.stop() }
    }
}
