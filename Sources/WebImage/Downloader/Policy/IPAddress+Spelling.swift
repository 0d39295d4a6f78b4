import Glibc

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
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...4).contains(parts.count), text.utf8.count <= 60 else { return nil }
        var value: UInt64 = 0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let bits = UInt64(isLast ? 8 * (5 - parts.count) : 8)
            guard let number = Self.number(part), number < 1 << bits else { return nil }
            value = value << bits | number
        }
        self.init(v4: UInt32(truncatingIfNeeded: value))
    }

    /// A number as C spells it; nil for what is none, or far too big for an address.
    private static func number(_ text: Substring.UTF8View) -> UInt64? {
        var digits = text
        var radix: UInt64 = 10
        if digits.first == UInt8(ascii: "0"), digits.count > 1 {
            digits = digits.dropFirst()
            radix = 8
            if let mark = digits.first, mark | 0x20 == UInt8(ascii: "x") {
                digits = digits.dropFirst()
                radix = 16
                if digits.isEmpty { return 0 }
            }
        }
        guard !digits.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = Self.digit(byte), digit < radix else { return nil }
            value = value * radix + digit
            guard value <= UInt64(UInt32.max) else { return nil }
        }
        return value
    }

    /// What a hexadecimal digit stands for.
    static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    /// Whether a name's last label is a number: then it can only be an IPv4 address, and a resolver that is more liberal than
    /// we are must not be asked what it makes of it.
    static func endsInNumber(_ name: String) -> Bool {
        guard let last = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last else {
            return false
        }
        if !last.isEmpty, last.allSatisfy({ (48...57).contains($0) }) { return true }
        let start = last.prefix(2).map { $0 | 0x20 }
        return start.elementsEqual("0x".utf8) && last.dropFirst(2).allSatisfy { digit($0) != nil }
    }
}
