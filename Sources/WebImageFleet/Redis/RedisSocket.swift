import Glibc

/// A TCP connection that never blocks.
struct RedisSocket {
    /// The address of a node, as the system's calls take it.
    struct Address: Sendable, Hashable {
        let family: Int32
        let bytes: [UInt8]
    }

    /// The progress of a read or a write.
    enum Progress: Hashable {
        case done(Int)
        /// Nothing more is possible now.
        case blocked
        case ended
    }

    let descriptor: Int32

    /// Begins to connect; nil if that fails at once. The descriptor is not inherited by programs that this process starts.
    init?(connectingTo address: Address) {
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(address.family, flags, 0)
        guard descriptor >= 0 else { return nil }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let result = address.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            return connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if result == 0 || errno == EINPROGRESS { return }
        Glibc.close(descriptor)
        return nil
    }

    /// Returns whether the connection was made, once the system reports that the socket can be written.
    var isConnected: Bool {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Progress {
        progress(Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
        progress(recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }

    private func progress(_ count: Int) -> Progress {
        if count > 0 { return .done(count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return .blocked }
        return .ended
    }

    func close() {
        let result = Glibc.close(descriptor)
        assert(result == 0 || errno != EBADF, "a socket is closed twice")
    }

    // MARK: Addresses

    /// Returns the addresses of a host. Blocks while a name is looked up.
    static func addresses(of endpoint: RedisEndpoint) -> [Address] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(endpoint.host, String(endpoint.port), &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var result: [Address] = []
        var next = first
        while let entry = next?.pointee {
            if let address = entry.ai_addr, result.count < 8 {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                result.append(Address(family: entry.ai_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return result
    }

    /// Returns the address if the host is one and no name; does not block.
    static func address(of endpoint: RedisEndpoint) -> Address? {
        var four = sockaddr_in()
        if inet_pton(AF_INET, endpoint.host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = endpoint.port.bigEndian
            return Address(family: AF_INET, bytes: withUnsafeBytes(of: four) { Array($0) })
        }
        var six = sockaddr_in6()
        if inet_pton(AF_INET6, endpoint.host, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = endpoint.port.bigEndian
            return Address(family: AF_INET6, bytes: withUnsafeBytes(of: six) { Array($0) })
        }
        return nil
    }
}
