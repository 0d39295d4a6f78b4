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
