import Glibc

/// The response of a server on 127.0.0.1 to one request.
public struct LoopbackAnswer: Sendable {
    /// The status; 0 if there was no response.
    public let status: Int
    /// The status line and the fields.
    public let head: String
    /// The bytes until the server closes the connection.
    public let body: [UInt8]

    /// Sends a GET request on a new connection, and suspends until the server closes it.
    ///
    /// - Parameter fields: Further lines of the request, each with its line end.
    public static func get(_ target: String, port: Int, fields: String = "") async -> LoopbackAnswer {
        await valueOnThread { LoopbackAnswer("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)\r\n", port: port) }
    }

    /// Sends text on a new connection, and blocks until the server closes it.
    public init(_ request: String, port: Int) {
        var bytes: [UInt8] = []
        if let socket = LoopbackSocket.connect(port: port) {
            defer { close(socket) }
            LoopbackConnection(socket: socket).send(request)
            var block = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(socket, &block, block.count, 0), count > 0 || (count < 0 && errno == EINTR) {
                bytes += block[..<max(count, 0)]
            }
        }
        let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) ?? bytes.endIndex..<bytes.endIndex
        head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        body = Array(bytes[end.upperBound...])
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
