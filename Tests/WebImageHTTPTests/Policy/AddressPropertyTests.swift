import Glibc
import TestSupport
import Testing

@testable import WebImageHTTP

/// Random spellings, compared with the C library's parser.
@Suite struct AddressPropertyTests {
    /// The result of `inet_aton`; nil if it parses nothing, or not all of the text.
    private func systemAddress(_ text: String) -> UInt32? {
        var address = in_addr()
        guard !text.contains(" "), inet_aton(text, &address) != 0 else { return nil }
        return UInt32(bigEndian: address.s_addr)
    }

    /// The address that `getaddrinfo` would connect to, without a query.
    private func resolvedAddresses(_ text: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard entry.pointee.ai_family == AF_INET, let address = entry.pointee.ai_addr else { continue }
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                found.append(IPAddress(v4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr)))
            }
        }
        return found
    }

    private static func v6(_ high: UInt64, _ low: UInt64) -> IPAddress {
        IPAddress(v6: UInt128(high) << 64 | UInt128(low))
    }

    /// An address of a refused block.
    private func refusedAddress(_ random: inout SeededGenerator) -> UInt32 {
        let networks = AddressKind.table.map(\.network).filter { $0.address.family == .v4 }
        let network = networks[random.below(networks.count)]
        let mask = network.prefixLength == 32 ? 0 : UInt32.max >> UInt32(network.prefixLength)
        return UInt32(truncatingIfNeeded: network.address.number) | (UInt32(truncatingIfNeeded: random.next()) & mask)
    }

    private func number(_ value: UInt32, _ random: inout SeededGenerator) -> String {
        let zeros = String(repeating: "0", count: random.below(4))
        switch random.below(3) {
        case 0: return "\(value)"
        case 1: return "0" + zeros + String(value, radix: 8)
        default:
            let digits = String(value, radix: 16, uppercase: random.below(2) == 0)
            return (random.below(2) == 0 ? "0x" : "0X") + zeros + digits
        }
    }

    /// The address with one to four numbers, each in any notation.
    private func spelling(_ address: UInt32, _ random: inout SeededGenerator) -> String {
        let count = 1 + random.below(4)
        var parts: [String] = []
        for index in 0..<(count - 1) { parts.append(number(address >> UInt32(24 - 8 * index) & 255, &random)) }
        let rest = count == 1 ? address : address & (UInt32.max >> UInt32(8 * (count - 1)))
        parts.append(number(rest, &random))
        return parts.joined(separator: ".")
    }

    /// The spelling with some characters replaced by equivalents.
    private func disguised(_ text: String, _ random: inout SeededGenerator) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch random.below(8) {
            case 0: result.unicodeScalars.append(Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar)
            case 1: result += "%" + String(scalar.value, radix: 16, uppercase: random.below(2) == 0)
            case 2 where scalar == ".": result += "。"
            case 2: result += "\(scalar)\u{200B}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + (random.below(4) == 0 ? "." : "")
    }

    @Test func `Ten thousand spellings of refused addresses are parsed as by the system, and refused`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<10_000 {
            let address = refusedAddress(&random)
            let text = spelling(address, &random)
            #expect(systemAddress(text) == address, "\(text)")
            #expect(IPAddress(anySpelling: text) == IPAddress(v4: address), "\(text)")
            let host = disguised(text, &random)
            guard case .address(let found, _)? = AddressTableTests.refusal("http://\(host)/") else {
                Issue.record("\(host), which is \(text), is not refused")
                continue
            }
            #expect(found == IPAddress(v4: address))
        }
    }

    @Test func `Ten thousand texts of digits, dots and letters are parsed as by the system`() {
        var random = SeededGenerator(seed: 11)
        let letters = Array("0123456789.....xXabf0077")
        for _ in 0..<10_000 {
            let text = String((0..<(1 + random.below(16))).map { _ in letters[random.below(letters.count)] })
            let own = IPAddress(anySpelling: text)
            // "0x" by itself is a number to browsers, but not to the C library.
            if let system = systemAddress(text) { #expect(own == IPAddress(v4: system), "\(text)") }
            for address in resolvedAddresses(text) {
                let refusal = AddressTableTests.refusal("http://\(text)/")
                guard AddressKind(address) != nil else { continue }
                #expect(refusal != nil, "\(text) is at \(address)")
            }
            if own == nil, systemAddress(text) == nil, IPAddress.endsInNumber(text) {
                #expect(AddressTableTests.refusal("http://\(text)/") != nil, "\(text)")
            }
        }
    }

    @Test func `IPv6 is parsed as by the system, and its own spelling is parsed again`() {
        var random = SeededGenerator(seed: 13)
        for _ in 0..<2000 {
            let high = random.below(3) == 0 ? 0 : random.next() & (random.below(2) == 0 ? .max : 0xFFFF_0000_0000_FFFF)
            let address = Self.v6(high, random.next() & (random.below(2) == 0 ? .max : 0xFFFF_FFFF))
            let text = "\(address)"
            #expect(IPAddress(text) == address, "\(text)")
            #expect((AddressTableTests.refusal("http://[\(text)]/") == nil) == (AddressKind(address) == nil), "\(text)")
        }
    }

    @Test func `A refused IPv4 address is refused in every form of IPv6 that contains it`() {
        var random = SeededGenerator(seed: 17)
        for _ in 0..<2000 {
            let inner = UInt64(refusedAddress(&random))
            let forms = [
                Self.v6(0, 0xFFFF_0000_0000 | inner), Self.v6(0, 0xFFFF_0000_0000_0000 | inner), Self.v6(0, inner),
                Self.v6(0x0064_FF9B_0000_0000, inner),
                Self.v6(0x2002_0000_0000_0000 | inner << 16, random.next()), Self.v6(0x2001_0000_0000_0000, ~inner),
                Self.v6(0x2A00_1450_0000_0000, 0x0000_5EFE_0000_0000 | inner),
            ]
            for form in forms { #expect(AddressKind(form) != nil, "\(form)") }
        }
    }
}
