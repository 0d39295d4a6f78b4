/// Hosts that a policy for untrusted sources refuses before any lookup.
package enum RefusedHosts {
    /// Spellings of IPv4 addresses that are not of the public internet, and the name of the case of `AddressKind`.
    package static let v4Addresses: [(host: String, kind: String)] = [
        // One address, in every spelling.
        ("127.0.0.1", "loopback"), ("127.1", "loopback"), ("127.0.1", "loopback"), ("2130706433", "loopback"),
        ("0x7f000001", "loopback"), ("0X7F000001", "loopback"), ("017700000001", "loopback"),
        ("0x7f.1", "loopback"), ("0x7f.0x0.0x0.0x1", "loopback"), ("0177.0.0.01", "loopback"),
        ("0177.0x0.1", "loopback"), ("00000177.0.0.1", "loopback"), ("127.0.0.1.", "loopback"),
        ("127.000.000.001", "loopback"), ("127.0.0.0x", "loopback"), ("%31%32%37.0.0.1", "loopback"),
        ("127%2E0%2e0%2E1", "loopback"), ("１２７.0.0.1", "loopback"), ("127。0。0。1", "loopback"),
        ("127．0｡0。1", "loopback"), ("①②⑦.⓪.⓪.①", "loopback"), ("𝟏𝟐𝟕.𝟎.𝟎.𝟏", "loopback"),
        ("127.0.0.\u{AD}1", "loopback"), ("０ｘ７ｆ.1", "loopback"), ("%EF%BC%91%EF%BC%92%EF%BC%97.1", "loopback"),
        ("127.255.255.254", "loopback"), ("127.65530", "loopback"),
        // The other blocks.
        ("0", "thisNetwork"), ("0.0.0.0", "thisNetwork"), ("0.1.2.3", "thisNetwork"), ("0x0", "thisNetwork"),
        ("10.0.0.1", "privateUse"), ("012.0.0.1", "privateUse"), ("167772161", "privateUse"),
        ("172.16.0.1", "privateUse"), ("172.31.255.255", "privateUse"), ("192.168.0.1", "privateUse"),
        ("3232235521", "privateUse"), ("0300.0250.1", "privateUse"), ("100.64.0.1", "shared"),
        ("100.127.255.255", "shared"), ("169.254.0.1", "linkLocal"), ("169.254.169.254", "metadata"),
        ("2852039166", "metadata"), ("0xa9fea9fe", "metadata"), ("0251.0376.0251.0376", "metadata"),
        ("169.254.43518", "metadata"), ("169.254.170.2", "metadata"), ("168.63.129.16", "metadata"),
        ("100.100.100.200", "metadata"), ("192.0.0.192", "metadata"), ("192.0.0.1", "protocolAssignment"),
        ("192.0.2.1", "documentation"), ("198.51.100.1", "documentation"), ("203.0.113.1", "documentation"),
        ("192.88.99.1", "relay"), ("198.18.0.1", "benchmarking"), ("198.19.255.255", "benchmarking"),
        ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"), ("240.0.0.1", "reserved"),
        ("255.255.255.254", "reserved"), ("255.255.255.255", "broadcast"), ("4294967295", "broadcast"),
        ("0xffffffff", "broadcast"),
    ]

    /// The same for IPv6.
    package static let v6Addresses: [(host: String, kind: String)] = [
        ("[::1]", "loopback"), ("[0:0:0:0:0:0:0:1]", "loopback"), ("[0000::0001]", "loopback"),
        ("[::]", "unspecified"), ("[::ffff:127.0.0.1]", "mapped"), ("[::FFFF:7F00:1]", "mapped"),
        ("[0:0:0:0:0:ffff:a9fe:a9fe]", "mapped"), ("[::ffff:8.8.8.8]", "mapped"), ("[::127.0.0.1]", "mapped"),
        ("[::7f00:1]", "mapped"), ("[::ffff:0:127.0.0.1]", "mapped"), ("[64:ff9b::127.0.0.1]", "loopback"),
        ("[64:ff9b::a9fe:a9fe]", "metadata"), ("[64:ff9b::10.0.0.1]", "privateUse"),
        ("[64:ff9b:1::a00:1]", "localNAT64"), ("[2002:7f00:1::]", "sixToFour"),
        ("[2002:808:808::1]", "sixToFour"),
        ("[2001:0:4136:e378:8000:63bf:80ff:fffe]", "teredo"), ("[2a00:1450::5efe:10.0.0.1]", "privateUse"),
        ("[2a00:1450::200:5efe:127.0.0.1]", "loopback"), ("[fe80::1]", "linkLocal"), ("[febf::1]", "linkLocal"),
        ("[fec0::1]", "siteLocal"), ("[fc00::1]", "privateUse"), ("[fdff::1]", "privateUse"),
        ("[fd00:ec2::254]", "metadata"), ("[FD00:0EC2:0:0::254]", "metadata"), ("[fd20:ce::254]", "metadata"),
        ("[ff02::1]", "multicast"), ("[100::1]", "discard"), ("[100:0:0:1::1]", "discard"),
        ("[2001:2::1]", "benchmarking"), ("[2001:10::1]", "orchid"), ("[2001:20::1]", "orchid"),
        ("[2001:30::1]", "orchid"), ("[2001:1::1]", "protocolAssignment"), ("[2001:db8::1]", "documentation"),
        ("[3fff:fff::1]", "documentation"), ("[5f00::1]", "segmentRouting"), ("[4000::1]", "reserved"),
        ("[3ffe::1]", "reserved"), ("[2d00::1]", "reserved"), ("[2f00::1]", "reserved"),
        ("[3000::1]", "reserved"),
        ("[1::1]", "reserved"), ("[200::1]", "reserved"),
    ]

    /// Hosts that are neither clearly an address nor a name of the public internet: a number that is not an address, malformed, with a zone, or
    /// a name of local networks, which then stands as it is looked up.
    package static let ambiguous: [(host: String, reason: String)] = [
        ("1.2.3.4.5", "number"), ("256.256.256.256", "number"),
        ("127.0.0.08", "number"), ("4294967296", "number"),
        ("1.2.3.256", "number"),
        ("a.0x7f", "number"), ("1.example.0x", "number"),
        ("127.0.0.1e1.9", "number"),
        ("99999999999999999999999999", "number"),
        ("0x100000000", "number"),
        ("127..1", "malformed"), ("127.0.0.1..", "malformed"), ("", "malformed"), (".", "malformed"),
        (".a.com", "malformed"),
        ("a..com", "malformed"), ("[127.0.0.1]", "malformed"), ("[::1", "malformed"), ("[]", "malformed"),
        ("[::1]x", "malformed"),
        ("::1", "malformed"), ("[::g]", "malformed"), ("[:::1]", "malformed"), ("[::ffff:0x7f.1]", "malformed"),
        ("[fe80::1%25eth0]", "zone"), ("[fe80::1%eth0]", "zone"), ("[2606:4700::1%251]", "zone"),
        ("a%2Fb.com", "malformed"),
        ("a%00.com", "malformed"), ("a%40b.com", "malformed"), ("a%zz.com", "malformed"), ("a%2", "malformed"),
        ("%-1.com", "malformed"),
        ("a!b.com", "malformed"), ("a*b.com", "malformed"), ("%FF.com", "malformed"), ("a%5Cb.com", "malformed"),
        // Names invalid today, but perhaps valid in 2003, which a library might look up instead.
        ("ß\(String(repeating: "a", count: 58)).de", "malformed"), ("a⑴.com", "malformed"), ("🄁.com", "malformed"),
        ("stra\u{200D}ße.de", "malformed"), ("127.0.0․1", "malformed"), ("℀.com", "malformed"),
        ("localhost", "localhost"), ("LOCALHOST.", "localhost"),
        ("a.localhost", "a.localhost"),
        ("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost"), ("ｌｏｃａｌｈｏｓｔ", "localhost"),
        ("printer.local", "printer.local"),
        ("metadata.google.internal", "metadata.google.internal"),
        ("metadata", "metadata"), ("router.home.arpa", "router.home.arpa"),
        ("nas.lan", "nas.lan"),
        ("localhost.localdomain", "localhost.localdomain"), ("a.test", "a.test"),
    ]

    /// All hosts.
    package static let all = (v4Addresses + v6Addresses).map(\.host) + ambiguous.map(\.host)
}
