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
