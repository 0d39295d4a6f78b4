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
