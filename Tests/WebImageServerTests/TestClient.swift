import Glibc
import TestSupport

/// A connection of a client that a test controls.
final class TestClient: Sendable {
    private let socket: Int32
    private let isOpen = Monitor(true)

    /// Nil without a listener.
    init?(port: UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            // Closed here only: `deinit` is not called before the property is set.
            Glibc.close(socket)
            return nil
        }
        self.socket = socket
    }

    deinit { close() }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Drops what arrives until the server ends the connection, or for a few seconds. Blocks the thread.
    ///
    /// - Returns: True if the server ended it.
    func drain() -> Bool {
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket, &block, block.count, 0)
            if count <= 0 { return count == 0 || errno == ECONNRESET }
        }
    }

    /// The next block of bytes, which is the whole head of a short answer; empty at the end.
    func readHead() async -> String {
        await valueOnThread { [socket] in
            var block = [UInt8](repeating: 0, count: 16 << 10)
            let count = recv(socket, &block, block.count, 0)
            return String(decoding: block.prefix(max(count, 0)), as: UTF8.self)
        }
    }

    /// Blocks until a whole answer with a length has arrived: its status, and whether the server closes the connection after it. Nil if the
    /// connection ended before.
    func readAnswer() -> (status: Int, isLast: Bool)? {
        var (bytes, block) = ([UInt8](), [UInt8](repeating: 0, count: 16 << 10))
        var expected: Int?
        var result = (status: 0, isLast: false)
        while expected.map({ bytes.count < $0 }) ?? true {
            let count = recv(socket, &block, block.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += block[..<count]
            guard expected == nil, let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased().split(separator: "\r\n")
            let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
            expected = end.upperBound + (length ?? 0)
            result.status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            result.isLast = lines.contains("connection: close")
        }
        return result
    }

    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { Glibc.close(socket) }
    }

    /// Blocks the thread until a condition holds, which nothing signals; false after 30 seconds.
    static func spin(_ condition: () -> Bool) -> Bool {
        let never = Monitor(())
        for _ in 0..<3000 where !condition() { _ = never.wait(seconds: 0.01) { _ -> Bool? in nil } }
        return condition()
    }
}
