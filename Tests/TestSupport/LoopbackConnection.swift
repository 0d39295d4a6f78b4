import Glibc

/// The server's end of a connection: for scripts that write a response themselves.
public final class LoopbackConnection: Sendable {
    private let socket: Int32
    private let unread = Monitor<[UInt8]>([])

    init(socket: Int32) { self.socket = socket }

    /// Sends bytes unchanged; false when the client is gone.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends text as UTF-8; false when the client is gone.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends a status line, fields and the empty line.
    @discardableResult
    public func sendHead(_ status: Int, _ headers: [(String, String)]) -> Bool {
        var text = "HTTP/1.1 \(status) Status\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return send(text + "\r\n")
    }

    /// Sends one chunk of a chunked body.
    @discardableResult
    public func sendChunk(_ bytes: [UInt8]) -> Bool {
        // A chunk of no bytes would end the body.
        bytes.isEmpty || send(Array(String(bytes.count, radix: 16).utf8) + [13, 10] + bytes + [13, 10])
    }

    /// Makes the close that follows a reset instead of an orderly end.
    public func resetOnClose() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Blocks until the client has closed its end, or 30 seconds have passed.
    public func waitForClose() {
        var poll = pollfd(fd: socket, events: Int16(POLLIN) | 0x2000, revents: 0)
        _ = Glibc.poll(&poll, 1, 30_000)
    }

    /// The lines of the next request's head; nil at the end.
    func readHead() -> [String]? {
        var bytes = unread.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            if let end = Self.endOfHead(bytes) {
                unread.withLock { $0 = Array(bytes[end...]) }
                let text = String(decoding: bytes[..<end], as: UTF8.self)
                return text.split(separator: "\r\n", omittingEmptySubsequences: true).map(String.init)
            }
            let count = recv(socket, &block, block.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0, bytes.count < 1 << 20 else { return nil }
            bytes += block[..<count]
        }
    }

    /// The next `count` bytes; nil if the client leaves before.
    func readBody(_ count: Int) -> [UInt8]? {
        guard count > 0 else { return [] }
        var bytes = unread.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < count {
            let received = recv(socket, &block, block.count, 0)
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { return nil }
            bytes += block[..<received]
        }
        unread.withLock { $0 = Array(bytes[count...]) }
        return Array(bytes[..<count])
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 3..<bytes.count where bytes[index] == 10 {
            if bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 { return index + 1 }
        }
        return nil
    }
}
