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
        func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
        }
        let isV4 = family == .v4
        let address = isV4 ? bytes(low, 4) : bytes(high, 8) + bytes(low, 8)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        guard inet_ntop(isV4 ? AF_INET : AF_INET6, address, &text, socklen_t(text.count - 1)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A block of addresses: those that begin with the same bits, as `10.0.0.0/8` and `fe80::/10` say it.
struct IPNetwork: Hashable, Sendable {
    let address: IPAddress
    /// How many bits they share.
    let prefixLength: Int

    /// The block of an address; lengths that are none are taken for the nearest that are.
    init(_ address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = min(max(prefixLength, 0), address.bitCount)
    }

    /// An address in its usual spelling, alone or with a slash and a length. Bits behind the length may be set; they do not count.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        guard parts.count == 2 else {
            self.init(address, prefixLength: address.bitCount)
            return
        }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(parts[1]), length <= address.bitCount
        else { return nil }
        self.init(address, prefixLength: length)
    }

    /// Whether the address is one of the block.
    func contains(_ other: IPAddress) -> Bool { other.hasPrefix(of: address, bitCount: prefixLength) }
}

extension IPNetwork: CustomStringConvertible {
    /// Address, slash, length; the address alone where it is the whole block.
    var description: String { prefixLength == address.bitCount ? "\(address)" : "\(address)/\(prefixLength)" }
}

extension IPAddress {
    /// How an IPv6 address can hold one of IPv4.
    enum Embedding: Sendable, Hashable {
        /// `::ffff:0:0/96`.
        case mapped
        /// `::/96`, long out of use.
        case compatible
        /// `::ffff:0:0:0/96`, of stateless translators.
        case translated
        /// `64:ff9b::/96`.
        case nat64
        /// `2002::/16`.
        case sixToFour
        /// `2001::/32`: the client's address, every bit turned over.
        case teredo
        /// An interface identifier of `0:5efe` or `200:5efe`, in any network.
        case isatap
    }

    /// The IPv4 address that is written into this one, if there is any.
    var embedded: (embedding: Embedding, address: IPAddress)? {
        guard family == .v6, let embedding else { return nil }
        let number =
            switch embedding {
            case .sixToFour: high >> 16
            case .teredo: ~low
            case .mapped, .compatible, .translated, .nat64, .isatap: low
            }
        return (embedding, IPAddress(v4: UInt32(truncatingIfNeeded: number)))
    }

    private var embedding: Embedding? {
        let upperLow = low >> 32
        if high == 0 {
            switch upperLow {
            case 0xFFFF: return .mapped
            case 0xFFFF_0000: return .translated
            case 0 where low > 1: return .compatible
            default: break
            }
        }
        if high == 0x0064_FF9B_0000_0000, upperLow == 0 { return .nat64 }
        if high >> 48 == 0x2002 { return .sixToFour }
        if high >> 32 == 0x2001_0000 { return .teredo }
        return upperLow == 0x5EFE || upperLow == 0x0200_5EFE ? .isatap : nil
    }
}

extension IPAddress {
    /// An address in its usual spelling: four decimal numbers, or IPv6 without brackets and zone. Nil for anything else.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 45, text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        let isV6 = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isV6 ? 16 : 4)
        guard inet_pton(isV6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// An IPv4 address in any spelling that `inet_aton`, and with it libcurl and the C library's resolver, take: one to four
    /// numbers, each decimal, octal (`0177`) or hexadecimal (`0x7f`), the last of which fills what is left.
    ///
    /// `0x` alone is read as 0, as browsers do.
    init?(anySpelling text: String) {
        guard text.utf8.count <= 60, text.utf8.allSatisfy({ $0 > 32 }) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { $0.lowercased() }
        var address = in_addr()
        guard inet_aton(parts.map { $0 == "0x" ? "0" : $0 }.joined(separator: "."), &address) == 1 else { return nil }
        self.init(v4: UInt32(bigEndian: address.s_addr))
    }

    /// Whether a name's last label is a number: then it can only be an IPv4 address, and a resolver that is more liberal than
    /// we are must not be asked what it makes of it.
    static func endsInNumber(_ name: String) -> Bool {
        guard let last = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last else {
            return false
        }
        if !last.isEmpty, last.allSatisfy(\.isASCIIDigit) { return true }
        let start = last.prefix(2).map { $0 | 0x20 }
        return start.elementsEqual("0x".utf8) && last.dropFirst(2).allSatisfy { $0.hexValue != nil }
    }
}
