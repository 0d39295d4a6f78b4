import Glibc

/// A port of 127.0.0.1 that nobody else gets while the object exists, without a listener unless a program is told to
/// listen: connections to it are refused.
public final class ReservedPort: Sendable {
    /// The number.
    public let port: Int
    private let socket: Int32

    /// Takes a free port.
    public init() throws {
        guard let (socket, port) = LoopbackSocket.bind(reusesAddress: true) else {
            throw LoopbackServer.StartFailure()
        }
        (self.socket, self.port) = (socket, port)
    }

    deinit { close(socket) }
}

/// Sockets on 127.0.0.1.
enum LoopbackSocket {
    /// A socket on a free port. With `reusesAddress`, another socket with the same option can listen on the port while
    /// this one does not.
    static func bind(
        reusesAddress: Bool,
        address number: UInt32 = 0x7f00_0001,
        port: Int = 0
    ) -> (socket: Int32, port: Int)? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        var one: Int32 = 1
        if reusesAddress { setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)) }
        var address = address(number, port: port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else {
            close(socket)
            return nil
        }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A connection to a port; nil without a listener.
    static func connect(port: Int) -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        var address = address(0x7f00_0001, port: port)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return socket }
        close(socket)
        return nil
    }

    private static func address(_ number: UInt32, port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = number.bigEndian
        return address
    }
}
