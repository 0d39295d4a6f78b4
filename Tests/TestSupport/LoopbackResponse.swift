/// The behaviour of a ``LoopbackServer`` for a request.
public struct LoopbackResponse: Sendable {
    /// Writes the response; false closes the connection.
    public let run: @Sendable (LoopbackRequest, LoopbackConnection) -> Bool

    /// Any behaviour: the script writes to the connection itself. It returns whether the connection stays open.
    public static func script(
        _ body: @escaping @Sendable (LoopbackRequest, LoopbackConnection) -> Bool
    ) -> LoopbackResponse {
        LoopbackResponse(run: body)
    }

    /// A correct response with its length; the connection stays open.
    public static func response(
        _ status: Int = 200,
        headers: [(String, String)] = [],
        body: [UInt8] = []
    ) -> LoopbackResponse {
        script { request, connection in
            let hasBody = request.method != "HEAD" && status != 204 && status != 304
            let fields = hasBody ? headers + [("Content-Length", "\(body.count)")] : headers
            return connection.sendHead(status, fields) && (!hasBody || connection.send(body))
        }
    }

    /// A body in chunks, without a length.
    public static func chunked(_ chunks: [[UInt8]], headers: [(String, String)] = []) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, headers + [("Transfer-Encoding", "chunked")])
                && chunks.allSatisfy { connection.sendChunk($0) } && connection.send("0\r\n\r\n")
        }
    }

    /// A truncated body: `declared` bytes are announced, `body` is sent, then the connection closes.
    public static func truncated(_ body: [UInt8], declared: Int) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, [("Content-Length", "\(declared)")])
            connection.send(body)
            return false
        }
    }

    /// A chunked body without its last chunk: the connection closes instead.
    public static func truncatedChunked(_ body: [UInt8]) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, [("Transfer-Encoding", "chunked")])
            connection.sendChunk(body)
            return false
        }
    }

    /// A body of `chunks` without a length; before each of them, and before the end, the test must let one through the gate.
    public static func chunkedDrip(_ chunks: [[UInt8]], gate: Gate) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, [("Transfer-Encoding", "chunked")])
            for chunk in chunks { guard gate.wait(), connection.sendChunk(chunk) else { return false } }
            return gate.wait() && connection.send("0\r\n\r\n")
        }
    }

    /// A body of `chunks`; before each of them the test must let one through the gate.
    public static func drip(_ chunks: [[UInt8]], gate: Gate) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, [("Content-Length", "\(chunks.map(\.count).reduce(0, +))")])
            for chunk in chunks { guard gate.wait(), connection.send(chunk) else { return false } }
            return true
        }
    }

    /// One byte at a time, `interval` seconds apart, forever or until the client leaves.
    public static func slow(interval: Double, declared: Int) -> LoopbackResponse {
        script { _, connection in
            connection.sendHead(200, [("Content-Length", "\(declared)")])
            let never = Monitor(())
            for _ in 0..<declared {
                guard connection.send([65]) else { return false }
                // The pace of the server, not a wait of the test.
                _ = never.wait(seconds: interval) { _ -> Bool? in nil }
            }
            return true
        }
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
        response(status, headers: [("Location", location)])
    }

    /// The request is read, and the connection closes without a byte.
    public static let closeWithoutAnswer = script { _, _ in false }

    /// The request is read, and the connection is reset.
    public static let reset = script { _, connection in
        connection.resetOnClose()
        return false
    }

    /// The request is read, and nothing happens until the client leaves.
    public static let silence = script { _, connection in
        connection.waitForClose()
        return false
    }

    /// Bytes unchanged, then the end.
    public static func raw(_ bytes: [UInt8]) -> LoopbackResponse {
        script { _, connection in
            connection.send(bytes)
            return false
        }
    }

    /// Text unchanged, then the end.
    public static func raw(_ text: String) -> LoopbackResponse { raw(Array(text.utf8)) }

    /// `count` fields of `bytes` bytes each before a correct body.
    public static func manyHeaders(_ count: Int, bytes: Int) -> LoopbackResponse {
        let value = String(repeating: "v", count: bytes)
        return response(headers: (0..<count).map { ("X-Field-\($0)", value) }, body: [1, 2, 3])
    }

    /// An endless body, in chunks.
    public static let endless = script { _, connection in
        let block = [UInt8](repeating: 7, count: 64 << 10)
        connection.sendHead(200, [("Transfer-Encoding", "chunked")])
        while connection.sendChunk(block) {}
        return false
    }

    /// `response`, once the gate lets it through.
    public static func delayed(_ gate: Gate, then response: LoopbackResponse) -> LoopbackResponse {
        script { request, connection in gate.wait() && response.run(request, connection) }
    }
}
