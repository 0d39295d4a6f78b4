import Glibc

/// An IPv4 or IPv6 address: 4 or 16 bytes, without a port or zone.
struct IPAddress: Hashable, Sendable {
    enum Family: Sendable { case v4, v6 }

    let family: Family
    /// The first 8 bytes of an IPv6 address; 0 for IPv4.
    let high: UInt64
    /// The last 8 bytes of an IPv6 address; an IPv4 address in the lower half.
    let low: UInt64

    init(v4 number: UInt32) { (family, high, low) = (.v4, 0, UInt64(number)) }

    init(high: UInt64, low: UInt64) { (family, self.high, self.low) = (.v6, high, low) }

    /// 4 or 16 bytes in network order; nil for any other number.
    init?(bytes: some Collection<UInt8>) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(v4: UInt32(truncatingIfNeeded: number(bytes)))
        case 16: self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// The IPv4 address as one number; nil for IPv6.
    var v4Number: UInt32? { family == .v4 ? UInt32(truncatingIfNeeded: low) : nil }

    /// How many bits it has.
    var bitCount: Int { family == .v4 ? 32 : 128 }

    /// Whether its first bits are those of `other`, and both are of one family.
    func hasPrefix(of other: IPAddress, bitCount count: Int) -> Bool {
        guard family == other.family else { return false }
        if family == .v4 { return Self.first(count, of: low << 32) == Self.first(count, of: other.low << 32) }
        return Self.first(count, of: high) == Self.first(count, of: other.high)
            && Self.first(count - 64, of: low) == Self.first(count - 64, of: other.low)
    }

    /// The first `count` bits of 64, the others 0.
    private static func first(_ count: Int, of value: UInt64) -> UInt64 {
        if count <= 0 { return 0 }
        return count >= 64 ? value : value & ~(UInt64.max >> UInt64(count))
    }
}

extension IPAddress: CustomStringConvertible {
    /// The usual spelling: four decimal numbers, or RFC 5952.
    var description: String {
        if let number = v4Number {
            return (0..<4).map { "\(number >> UInt32(24 - 8 * $0) & 255)" }.joined(separator: ".")
        }
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in 0..<8 {
                let shift = UInt64(56 - 8 * index)
                bytes[index] = UInt8(truncatingIfNeeded: high >> shift)
                bytes[index + 8] = UInt8(truncatingIfNeeded: low >> shift)
            }
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count - 1)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
