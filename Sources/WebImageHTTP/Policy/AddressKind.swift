/// The purpose of an address that does not belong to the public internet. Raw values are used in error messages.
///
/// From IANA's registries of special-purpose addresses, as of 2025, and the metadata addresses of cloud providers.
enum AddressKind: String, Sendable, CaseIterable {
    case metadata = "a cloud metadata service"
    case thisNetwork = "a 'this network' address"
    case loopback = "a loopback address"
    case privateUse = "a private address"
    case shared = "a carrier-grade NAT address (CGNAT)"
    case linkLocal = "a link-local address"
    case protocolAssignment = "a protocol assignment address"
    case documentation = "a documentation address"
    case relay = "a 6to4 relay"
    case benchmarking = "a benchmarking address"
    case multicast = "a multicast address"
    case reserved = "a reserved address"
    case broadcast = "the broadcast address"
    case unspecified = "the unspecified address"
    case mapped = "an IPv4 address embedded in IPv6"
    case sixToFour = "a 6to4 address"
    case teredo = "a Teredo address"
    case localNAT64 = "a local NAT64 address"
    case discard = "a discard-only address"
    case orchid = "an ORCHID identifier"
    case segmentRouting = "a segment routing identifier"
    case siteLocal = "a site-local address"

    /// Creates the kind of an address; nil for an address of the public internet.
    ///
    /// IPv6 addresses that embed an IPv4 address are refused in every form that hosts have no use for. A NAT64 address, which hosts
    /// without IPv4 need, has the kind of its embedded address.
    init?(_ address: IPAddress) {
        if let kind = Self.table.first(where: { $0.network.contains(address) })?.kind {
            self = kind
            return
        }
        guard address.family == .v6 else { return nil }
        if let inner = address.embedded, let kind = AddressKind(inner) {
            self = kind
            return
        }
        // Global unicast is in 2000::/3; the rest of IPv6 is unallocated.
        guard address.number >> 125 == 1 || address.isNAT64 else {
            self = .reserved
            return
        }
        return nil
    }

    /// The blocks, more specific ones first.
    static let table: [(network: IPNetwork, kind: AddressKind)] = blocks.flatMap { kind, blocks in
        blocks.split(separator: " ").compactMap { IPNetwork(String($0)) }.map { ($0, kind) }
    }

    static let blocks: [(AddressKind, String)] = [
        (
            .metadata,
            "169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254"
        ),
        (.thisNetwork, "0.0.0.0/8"),
        (.privateUse, "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"),
        (.shared, "100.64.0.0/10"),
        (.loopback, "127.0.0.0/8 ::1"),
        (.linkLocal, "169.254.0.0/16 fe80::/10"),
        (.documentation, "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"),
        (.relay, "192.88.99.0/24"),
        (.benchmarking, "198.18.0.0/15 2001:2::/48"),
        (.multicast, "224.0.0.0/4 ff00::/8"),
        (.broadcast, "255.255.255.255"),
        (.unspecified, "::"),
        (.mapped, "::ffff:0:0/96 ::ffff:0:0:0/96 ::/96"),
        (.localNAT64, "64:ff9b:1::/48"),
        (.discard, "100::/64 100:0:0:1::/64"),
        (.teredo, "2001::/32"),
        (.orchid, "2001:10::/28 2001:20::/28 2001:30::/28"),
        (.protocolAssignment, "192.0.0.0/24 2001::/23"),
        (.sixToFour, "2002::/16"),
        (.segmentRouting, "5f00::/16"),
        (.siteLocal, "fec0::/10"),
        // The unallocated blocks of global unicast.
        (.reserved, "240.0.0.0/4 2d00::/8 2e00::/7 3000::/4"),
    ]
}
