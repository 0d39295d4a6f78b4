/// What an address is for that is not one of the public internet. Raw values are the words of error messages.
///
/// From IANA's registries of special-purpose addresses, as of 2025, and what clouds answer their machines' questions on.
enum AddressKind: String, Sendable, CaseIterable {
    case metadata = "the metadata service of a cloud"
    case thisNetwork = "an address of this network"
    case loopback = "a loopback address"
    case privateUse = "a private address"
    case shared = "an address of carriers' own networks (CGNAT)"
    case linkLocal = "a link-local address"
    case protocolAssignment = "an address of protocols"
    case documentation = "an address of documentation"
    case relay = "a 6to4 relay"
    case benchmarking = "an address of benchmarks"
    case multicast = "a multicast address"
    case reserved = "a reserved address"
    case broadcast = "the broadcast address"
    case unspecified = "the unspecified address"
    case mapped = "an IPv4 address written as IPv6"
    case sixToFour = "a 6to4 address"
    case teredo = "a Teredo address"
    case localNAT64 = "an address of a local NAT64"
    case discard = "an address whose packets are discarded"
    case orchid = "an identifier that is no place (ORCHID)"
    case segmentRouting = "a segment identifier"
    case siteLocal = "a site-local address"

    /// What the address is for; nil for one of the public internet.
    ///
    /// IPv6 addresses that hold one of IPv4 are refused in every form that hosts have no use for. That of a NAT64, which hosts
    /// without IPv4 need, is what the address in it is.
    init?(_ address: IPAddress) {
        if let kind = Self.table.first(where: { $0.network.contains(address) })?.kind {
            self = kind
            return
        }
        guard address.family == .v6 else { return nil }
        if let (_, inner) = address.embedded, let kind = AddressKind(inner) {
            self = kind
            return
        }
        // Global unicast is in 2000::/3; the rest of IPv6 has not been given to anybody.
        guard address.high >> 61 == 1 || address.embedded?.embedding == .nat64 else {
            self = .reserved
            return
        }
        return nil
    }

    /// The blocks, the more special first.
    static let table: [(network: IPNetwork, kind: AddressKind)] = metadataTable + v4Table + v6Table

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ length: Int = 32) -> IPNetwork {
        IPNetwork(IPAddress(v4: a << 24 | b << 16 | c << 8 | d), prefixLength: length)
    }

    private static func v6(_ high: UInt64, _ low: UInt64, _ length: Int) -> IPNetwork {
        IPNetwork(IPAddress(high: high, low: low), prefixLength: length)
    }

    private static let metadataTable: [(network: IPNetwork, kind: AddressKind)] = [
        (v4(169, 254, 169, 254), .metadata), (v4(169, 254, 170, 2), .metadata), (v4(168, 63, 129, 16), .metadata),
        (v4(100, 100, 100, 200), .metadata), (v4(192, 0, 0, 192), .metadata),
        (v6(0xFD00_0EC2_0000_0000, 0x254, 128), .metadata), (v6(0xFD20_00CE_0000_0000, 0x254, 128), .metadata),
    ]

    private static let v4Table: [(network: IPNetwork, kind: AddressKind)] = [
        (v4(0, 0, 0, 0, 8), .thisNetwork), (v4(10, 0, 0, 0, 8), .privateUse), (v4(100, 64, 0, 0, 10), .shared),
        (v4(127, 0, 0, 0, 8), .loopback), (v4(169, 254, 0, 0, 16), .linkLocal), (v4(172, 16, 0, 0, 12), .privateUse),
        (v4(192, 0, 0, 0, 24), .protocolAssignment), (v4(192, 0, 2, 0, 24), .documentation),
        (v4(192, 88, 99, 0, 24), .relay), (v4(192, 168, 0, 0, 16), .privateUse),
        (v4(198, 18, 0, 0, 15), .benchmarking), (v4(198, 51, 100, 0, 24), .documentation),
        (v4(203, 0, 113, 0, 24), .documentation), (v4(224, 0, 0, 0, 4), .multicast),
        (v4(255, 255, 255, 255), .broadcast), (v4(240, 0, 0, 0, 4), .reserved),
    ]

    private static let v6Table: [(network: IPNetwork, kind: AddressKind)] = [
        (v6(0, 0, 128), .unspecified), (v6(0, 1, 128), .loopback), (v6(0, 0xFFFF_0000_0000, 96), .mapped),
        (v6(0, 0xFFFF_0000_0000_0000, 96), .mapped), (v6(0, 0, 96), .mapped),
        (v6(0x0064_FF9B_0001_0000, 0, 48), .localNAT64), (v6(0x0100_0000_0000_0000, 0, 64), .discard),
        (v6(0x0100_0000_0000_0001, 0, 64), .discard), (v6(0x2001_0000_0000_0000, 0, 32), .teredo),
        (v6(0x2001_0002_0000_0000, 0, 48), .benchmarking), (v6(0x2001_0010_0000_0000, 0, 28), .orchid),
        (v6(0x2001_0020_0000_0000, 0, 28), .orchid), (v6(0x2001_0030_0000_0000, 0, 28), .orchid),
        (v6(0x2001_0DB8_0000_0000, 0, 32), .documentation), (v6(0x3FFF_0000_0000_0000, 0, 20), .documentation),
        (v6(0x2001_0000_0000_0000, 0, 23), .protocolAssignment), (v6(0x2002_0000_0000_0000, 0, 16), .sixToFour),
        (v6(0x5F00_0000_0000_0000, 0, 16), .segmentRouting), (v6(0xFC00_0000_0000_0000, 0, 7), .privateUse),
        (v6(0xFE80_0000_0000_0000, 0, 10), .linkLocal), (v6(0xFEC0_0000_0000_0000, 0, 10), .siteLocal),
        (v6(0xFF00_0000_0000_0000, 0, 8), .multicast),
        // Of global unicast, what has not been given to anybody.
        (v6(0x2D00_0000_0000_0000, 0, 8), .reserved), (v6(0x2E00_0000_0000_0000, 0, 7), .reserved),
        (v6(0x3000_0000_0000_0000, 0, 4), .reserved),
    ]
}
