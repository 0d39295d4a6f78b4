import Glibc
import TestSupport

/// Forwards TCP connections to a port of 127.0.0.1, until it becomes a black hole: bytes of both directions then get lost, while connections
/// stay open and new ones are accepted.
final class FaultyProxy: Sendable {
    struct StartFailure: Error {}

    let port: Int
    private let listener: Int32
    private let isHole = Monitor(false)
    private let reservation: ReservedPort

    init(to target: Int) throws {
        reservation = try ReservedPort()
        port = reservation.port
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        listener = socket(AF_INET, kind, 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard Self.withAddress(port, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            close(listener)
            throw StartFailure()
        }
        startThread { [listener, isHole] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Self.forward(client, to: target, isHole)
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    func setBlackHole(_ value: Bool) { isHole.withLock { $0 = value } }

    private static func forward(_ client: Int32, to target: Int, _ isHole: Monitor<Bool>) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(target, { connect(server, $0, $1) }) == 0 else {
            close(server)
            close(client)
            return
        }
        let open = Monitor(2)
        for (source, sink) in [(client, server), (server, client)] {
            startThread {
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    let count = recv(source, &bytes, bytes.count, 0)
                    guard count > 0 else { break }
                    if isHole.withLock({ $0 }) { continue }
                    var sent = 0
                    while sent < count {
                        let step = send(sink, Array(bytes[sent..<count]), count - sent, Int32(MSG_NOSIGNAL))
                        guard step > 0 else { break }
                        sent += step
                    }
                }
                shutdown(source, Int32(SHUT_RDWR))
                shutdown(sink, Int32(SHUT_RDWR))
                // The second of both closes: until then the numbers must not get other owners.
                let isLast = open.withLock { open -> Bool in
                    open -= 1
                    return open == 0
                }
                guard isLast else { return }
                close(source)
                close(sink)
            }
        }
    }

    private static func withAddress(
        _ port: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
