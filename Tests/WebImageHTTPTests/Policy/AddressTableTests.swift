import FoundationEssentials
import Testing

@testable import WebImageHTTP

/// Spellings of a host, and the policy's decision before any lookup.
@Suite struct AddressTableTests {
    /// A spelling, and the reason for its refusal.
    struct Row: Sendable, CustomTestStringConvertible {
        let host: String
        let kind: AddressKind
        var testDescription: String { host }

        init(_ host: String, _ kind: AddressKind) { (self.host, self.kind) = (host, kind) }
    }

    private static let v4Rows: [Row] = [
        // One address, in every spelling.
        Row("127.0.0.1", .loopback), Row("127.1", .loopback), Row("127.0.1", .loopback), Row("2130706433", .loopback),
        Row("0x7f000001", .loopback), Row("0X7F000001", .loopback), Row("017700000001", .loopback),
        Row("0x7f.1", .loopback), Row("0x7f.0x0.0x0.0x1", .loopback), Row("0177.0.0.01", .loopback),
        Row("0177.0x0.1", .loopback), Row("00000177.0.0.1", .loopback), Row("127.0.0.1.", .loopback),
        Row("127.000.000.001", .loopback), Row("127.0.0.0x", .loopback), Row("%31%32%37.0.0.1", .loopback),
        Row("127%2E0%2e0%2E1", .loopback), Row("１２７.0.0.1", .loopback), Row("127。0。0。1", .loopback),
        Row("127．0｡0。1", .loopback), Row("①②⑦.⓪.⓪.①", .loopback), Row("𝟏𝟐𝟕.𝟎.𝟎.𝟏", .loopback),
        Row("127.0.0.\u{AD}1", .loopback), Row("０ｘ７ｆ.1", .loopback), Row("%EF%BC%91%EF%BC%92%EF%BC%97.1", .loopback),
        Row("127.255.255.254", .loopback), Row("127.65530", .loopback),
        // The other blocks.
        Row("0", .thisNetwork), Row("0.0.0.0", .thisNetwork), Row("0.1.2.3", .thisNetwork), Row("0x0", .thisNetwork),
        Row("10.0.0.1", .privateUse), Row("012.0.0.1", .privateUse), Row("167772161", .privateUse),
        Row("172.16.0.1", .privateUse), Row("172.31.255.255", .privateUse), Row("192.168.0.1", .privateUse),
        Row("3232235521", .privateUse), Row("0300.0250.1", .privateUse), Row("100.64.0.1", .shared),
        Row("100.127.255.255", .shared), Row("169.254.0.1", .linkLocal), Row("169.254.169.254", .metadata),
        Row("2852039166", .metadata), Row("0xa9fea9fe", .metadata), Row("0251.0376.0251.0376", .metadata),
        Row("169.254.43518", .metadata), Row("169.254.170.2", .metadata), Row("168.63.129.16", .metadata),
        Row("100.100.100.200", .metadata), Row("192.0.0.192", .metadata), Row("192.0.0.1", .protocolAssignment),
        Row("192.0.2.1", .documentation), Row("198.51.100.1", .documentation), Row("203.0.113.1", .documentation),
        Row("192.88.99.1", .relay), Row("198.18.0.1", .benchmarking), Row("198.19.255.255", .benchmarking),
        Row("224.0.0.1", .multicast), Row("239.255.255.255", .multicast), Row("240.0.0.1", .reserved),
        Row("255.255.255.254", .reserved), Row("255.255.255.255", .broadcast), Row("4294967295", .broadcast),
        Row("0xffffffff", .broadcast),
    ]

    private static let v6Rows: [Row] = [
        Row("[::1]", .loopback), Row("[0:0:0:0:0:0:0:1]", .loopback), Row("[0000::0001]", .loopback),
        Row("[::]", .unspecified), Row("[::ffff:127.0.0.1]", .mapped), Row("[::FFFF:7F00:1]", .mapped),
        Row("[0:0:0:0:0:ffff:a9fe:a9fe]", .mapped), Row("[::ffff:8.8.8.8]", .mapped), Row("[::127.0.0.1]", .mapped),
        Row("[::7f00:1]", .mapped), Row("[::ffff:0:127.0.0.1]", .mapped), Row("[64:ff9b::127.0.0.1]", .loopback),
        Row("[64:ff9b::a9fe:a9fe]", .metadata), Row("[64:ff9b::10.0.0.1]", .privateUse),
        Row("[64:ff9b:1::a00:1]", .localNAT64), Row("[2002:7f00:1::]", .sixToFour),
        Row("[2002:808:808::1]", .sixToFour),
        Row("[2001:0:4136:e378:8000:63bf:80ff:fffe]", .teredo), Row("[2a00:1450::5efe:10.0.0.1]", .privateUse),
        Row("[2a00:1450::200:5efe:127.0.0.1]", .loopback), Row("[fe80::1]", .linkLocal), Row("[febf::1]", .linkLocal),
        Row("[fec0::1]", .siteLocal), Row("[fc00::1]", .privateUse), Row("[fdff::1]", .privateUse),
        Row("[fd00:ec2::254]", .metadata), Row("[FD00:0EC2:0:0::254]", .metadata), Row("[fd20:ce::254]", .metadata),
        Row("[ff02::1]", .multicast), Row("[100::1]", .discard), Row("[100:0:0:1::1]", .discard),
        Row("[2001:2::1]", .benchmarking), Row("[2001:10::1]", .orchid), Row("[2001:20::1]", .orchid),
        Row("[2001:30::1]", .orchid), Row("[2001:1::1]", .protocolAssignment), Row("[2001:db8::1]", .documentation),
        Row("[3fff:fff::1]", .documentation), Row("[5f00::1]", .segmentRouting), Row("[4000::1]", .reserved),
        Row("[3ffe::1]", .reserved), Row("[2d00::1]", .reserved), Row("[2f00::1]", .reserved),
        Row("[3000::1]", .reserved),
        Row("[1::1]", .reserved), Row("[200::1]", .reserved),
    ]

    static let rows = v4Rows + v6Rows

    @Test(
        "Every spelling of an address that is not of the public internet is refused, by the right rule",
        arguments: rows
    )
    func refused(row: Row) {
        for scheme in ["http", "https", "HTTP"] {
            let refusal = Self.refusal("\(scheme)://\(row.host)/a.png")
            guard case .address(_, let kind) = refusal else {
                Issue.record("\(row.host): \(String(describing: refusal))")
                continue
            }
            #expect(kind == row.kind)
        }
        #expect(Self.refusal("https://\(row.host):443/?q#f") != nil)
    }

    @Test func `The table is long, and has every kind of address`() {
        #expect(Self.rows.count > 100)
        #expect(Set(Self.rows.map(\.kind)) == Set(AddressKind.allCases))
        let blocks = AddressKind.blocks.flatMap { $0.1.split(separator: " ") }
        #expect(AddressKind.table.count == blocks.count, "each is read")
    }

    @Test(arguments: [
        "8.8.8.8", "93.184.216.34", "134744072", "0x08080808", "172.15.255.255", "172.32.0.1", "100.63.255.255",
        "100.128.0.1",
        "192.0.1.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "169.253.255.255", "11.0.0.0", "128.0.0.1",
        "[2606:4700:4700::1111]", "[2001:200::1]", "[2003::1]", "[64:ff9b::8.8.8.8]", "[2a00::5efe:8.8.8.8]",
        "[2c00::1]",
        "cdn१.com", "straße.de", "σίγμας.gr", "BÜCHER.de",
        "example.com", "EXAMPLE.COM.", "cdn-1.example.co.uk", "bücher.de", "b%C3%BCcher.de", "xn--bcher-kva.de",
        "a_b.example.org",
        "1and1.com", "0x.com", "7f.com",
    ]) func `Public addresses pass`(host: String) { #expect(Self.refusal("https://\(host)/a.png") == nil) }

    @Test func `A digit of another script makes another name, which no rule matches`() throws {
        #expect(try SourceHost("cdn१.com").name == "xn--cdn-tph.com")
        #expect(try SourceHost("cdn１.com").name == "cdn1.com")
        var policy = SourcePolicy.untrusted
        policy.limitedTo = [try #require(SourceRule("cdn1.com"))]
        #expect(policy.refusal(of: try #require(URL(string: "https://cdn1.com/"))) == nil)
        let other = try #require(URL(string: "https://cdn१.com/"))
        #expect(policy.refusal(of: other) != nil)
    }

    @Test(arguments: [
        ("straße.de", "xn--strae-oqa.de"), ("stra%C3%9Fe.de", "xn--strae-oqa.de"),
        ("BÜCHER.de", "xn--bcher-kva.de"), ("bu\u{308}cher.de", "xn--bcher-kva.de"), ("bücher。de.", "xn--bcher-kva.de"),
        ("bü\u{AD}cher.de", "xn--bcher-kva.de"), ("XN--BCHER-KVA.de", "xn--bcher-kva.de"),
        ("σίγμας.gr", "xn--kxaef0b5ab.gr"),
        ("ſecret.com", "secret.com"), ("ℓab.com", "lab.com"), ("ªb.com", "ab.com"), ("ﬁne.com", "fine.com"),
    ])
    func `A name is compared in its looked-up form, in a URL, in a rule and for libcurl`(host: String, name: String)
        throws
    {
        try expectOneName(host, name)
    }

    @Test func `The capital sharp s is a small one or two of s, as libidn2's version has it, and the same for all`()
        throws
    {
        let name = try #require(SourceHost("STRAẞE.de").name)
        #expect(["strasse.de", "xn--strae-oqa.de"].contains(name))
        try expectOneName("STRAẞE.de", name)
    }

    private func expectOneName(_ host: String, _ name: String) throws {
        #expect(try SourceHost(host).name == name)
        let rule = try #require(SourceRule(host))
        #expect(rule.description == name && rule.matches(name: name))
        var policy = SourcePolicy.untrusted
        policy.denied = [try #require(SourceRule(name))]
        #expect(Self.refusal("http://\(host)/a.png", policy) != nil)
        guard let url = URL(string: "http://\(host):8080/a.png?x#y"), host.utf8.contains(where: { $0 > 0x7F }) else {
            return
        }
        // A URL may itself convert a name, and the result is checked.
        let (judged, address) = (try SourceTarget(url.absoluteString).host, HostName.address(of: url))
        #expect(
            address.lowercased().hasPrefix("http://\(judged.name ?? "?")") && address.hasSuffix(":8080/a.png?x#y"),
            "\(address)"
        )
    }

    @Test(
        arguments: [
            ("1.2.3.4.5", SourceRefusal.number("1.2.3.4.5")), ("256.256.256.256", .number("256.256.256.256")),
            ("127.0.0.08", .number("127.0.0.08")), ("4294967296", .number("4294967296")),
            ("1.2.3.256", .number("1.2.3.256")),
            ("a.0x7f", .number("a.0x7f")), ("1.example.0x", .number("1.example.0x")),
            ("127.0.0.1e1.9", .number("127.0.0.1e1.9")),
            ("99999999999999999999999999", .number("99999999999999999999999999")),
            ("0x100000000", .number("0x100000000")),
            ("127..1", .malformed), ("127.0.0.1..", .malformed), ("", .malformed), (".", .malformed),
            (".a.com", .malformed),
            ("a..com", .malformed), ("[127.0.0.1]", .malformed), ("[::1", .malformed), ("[]", .malformed),
            ("[::1]x", .malformed),
            ("::1", .malformed), ("[::g]", .malformed), ("[:::1]", .malformed), ("[::ffff:0x7f.1]", .malformed),
            ("[fe80::1%25eth0]", .zone), ("[fe80::1%eth0]", .zone), ("[2606:4700::1%251]", .zone),
            ("a%2Fb.com", .malformed),
            ("a%00.com", .malformed), ("a%40b.com", .malformed), ("a%zz.com", .malformed), ("a%2", .malformed),
            ("%-1.com", .malformed),
            ("a!b.com", .malformed), ("a*b.com", .malformed), ("%FF.com", .malformed), ("a%5Cb.com", .malformed),
            // Names invalid today, but perhaps valid in 2003, which a library might look up instead.
            ("ß\(String(repeating: "a", count: 58)).de", .malformed), ("a⑴.com", .malformed), ("🄁.com", .malformed),
            ("stra\u{200D}ße.de", .malformed), ("127.0.0․1", .malformed), ("℀.com", .malformed),
            ("localhost", .localName("localhost")), ("LOCALHOST.", .localName("localhost")),
            ("a.localhost", .localName("a.localhost")),
            ("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", .localName("localhost")), ("ｌｏｃａｌｈｏｓｔ", .localName("localhost")),
            ("printer.local", .localName("printer.local")),
            ("metadata.google.internal", .localName("metadata.google.internal")),
            ("metadata", .localName("metadata")), ("router.home.arpa", .localName("router.home.arpa")),
            ("nas.lan", .localName("nas.lan")),
            ("localhost.localdomain", .localName("localhost.localdomain")), ("a.test", .localName("a.test")),
        ] as [(String, SourceRefusal)]
    )
    func `Ambiguous hosts, and names of local networks, are refused`(
        host: String,
        why: SourceRefusal
    ) {
        #expect(Self.refusal("http://\(host)/a.png") == why)
    }

    @Test func `A host of more than 253 bytes is refused`() {
        let label = String(repeating: "a", count: 60)
        #expect(Self.refusal("http://\(label).\(label).\(label).com/") == nil)
        #expect(Self.refusal("http://\(label).\(label).\(label).\(label).\(label).com/") == .malformed)
    }

    /// The rules' decision about a text, whether or not it makes a `URL`.
    static func refusal(_ text: String, _ policy: SourcePolicy = .untrusted) -> SourceRefusal? {
        do throws(SourceRefusal) {
            try policy.check(text)
            return nil
        } catch {
            return error
        }
    }
}
