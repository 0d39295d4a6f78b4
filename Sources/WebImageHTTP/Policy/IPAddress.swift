import Glibc

/// An IPv4 or IPv6 address: 4 or 16 bytes, without a port or zone.
package struct IPAddress: Hashable, Sendable {
    enum Family: Sendable { case v4, v6 }

    let family: Family
    /// The 32 or 128 bits of the address.
    let number: UInt128

    init(v4 number: UInt32) { (family, self.number) = (.v4, UInt128(number)) }

    init(v6 number: UInt128) { (family, self.number) = (.v6, number) }

    /// Creates an address from 4 or 16 bytes in network order; nil for any other count.
    init?(bytes: some Collection<UInt8>) {
        let number = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 4: self.init(v4: UInt32(truncatingIfNeeded: number))
        case 16: self.init(v6: number)
        default: return nil
        }
    }

    /// The number of bits of the address.
    var bitCount: Int { family == .v4 ? 32 : 128 }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text: four decimal numbers, or RFC 5952.
    package var description: String {
        let address = withUnsafeBytes(of: number.bigEndian) { Array($0.suffix(bitCount / 8)) }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        let kind = family == .v4 ? AF_INET : AF_INET6
        guard inet_ntop(kind, address, &text, socklen_t(text.count - 1)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A block of addresses with a common prefix, such as `10.0.0.0/8` and `fe80::/10`.
struct IPNetwork: Hashable, Sendable {
    let address: IPAddress
    /// The number of bits of the prefix.
    private(set) var prefixLength: Int

    /// Parses an address in its usual notation, optionally with a slash and a prefix length. Bits after the prefix may be set; they
    /// are ignored.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        (self.address, prefixLength) = (address, address.bitCount)
        guard parts.count == 2 else { return }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(parts[1]), length <= address.bitCount
        else { return nil }
        prefixLength = length
    }

    /// Returns whether the block contains the address.
    func contains(_ other: IPAddress) -> Bool {
        other.family == address.family && (other.number ^ address.number) >> (address.bitCount - prefixLength) == 0
    }
}

extension IPNetwork: CustomStringConvertible {
    /// Address, slash, prefix length; only the address if the block is a single address.
    var description: String { prefixLength == address.bitCount ? "\(address)" : "\(address)/\(prefixLength)" }
}

extension IPAddress {
    /// True for the NAT64 prefix, `64:ff9b::/96`.
    var isNAT64: Bool { family == .v6 && number >> 32 == 0x0064_FF9B_0000_0000_0000_0000 }

    /// The IPv4 address that is embedded in an IPv6 address, if any.
    var embedded: IPAddress? {
        guard family == .v6 else { return nil }
        let last = UInt32(truncatingIfNeeded: number)
        // 6to4, and Teredo, which inverts every bit of the client's address.
        if number >> 112 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: number >> 80)) }
        if number >> 96 == 0x2001_0000 { return IPAddress(v4: ~last) }
        // Mapped, of stateless translators (`::ffff:0:0:0/96`), or the deprecated IPv4-compatible form.
        let isPrefixed = isNAT64 || [0xFFFF, 0xFFFF_0000].contains(number >> 32) || (number >> 32 == 0 && number > 1)
        // ISATAP: an interface identifier, in any network.
        let isIdentifier = [0x5EFE, 0x0200_5EFE].contains(UInt32(truncatingIfNeeded: number >> 32))
        return isPrefixed || isIdentifier ? IPAddress(v4: last) : nil
    }
}

extension IPAddress {
    /// Parses an address in its usual notation: four decimal numbers, or IPv6 without brackets and zone. Nil for anything else.
    package init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 45, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        guard inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses an IPv4 address in any notation that `inet_aton`, and with it libcurl and the C library's resolver, accept: one to
    /// four numbers, each decimal, octal (`0177`) or hexadecimal (`0x7f`), the last of which fills the remaining bytes.
    ///
    /// A bare `0x` is read as 0, as in browsers.
    init?(anySpelling text: String) {
        guard text.utf8.count <= 60, text.utf8.allSatisfy({ $0 > 32 }) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { $0.lowercased() }
        var address = in_addr()
        guard inet_aton(parts.map { $0 == "0x" ? "0" : $0 }.joined(separator: "."), &address) == 1 else { return nil }
        self.init(v4: UInt32(bigEndian: address.s_addr))
    }

    /// Returns whether a name's last label is a number: then it can only be an IPv4 address, and must not be passed to a resolver
    /// that may parse it more liberally.
    static func endsInNumber(_ name: String) -> Bool {
        guard let last = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last else {
            return false
        }
        if !last.isEmpty, last.allSatisfy(\.isASCIIDigit) { return true }
        let start = last.prefix(2).map { $0 | 0x20 }
        return start.elementsEqual("0x".utf8) && last.dropFirst(2).allSatisfy { $0.hexValue != nil }
    }
}
