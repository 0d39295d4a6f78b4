import FoundationEssentials
import HTTPTestSupport
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

    static let rows = (RefusedHosts.v4Addresses + RefusedHosts.v6Addresses).compactMap { row in
        AddressKind.allCases.first { "\($0)" == row.kind }.map { Row(row.host, $0) }
    }

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
        #expect(Self.rows.count > 100 && RefusedHosts.all.count == Self.rows.count + RefusedHosts.ambiguous.count)
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

    @Test(arguments: RefusedHosts.ambiguous)
    func `Ambiguous hosts, and names of local networks, are refused`(host: String, reason: String) {
        let why: SourceRefusal =
            switch reason {
            case "malformed": .malformed
            case "number": .number(host)
            case "zone": .zone
            default: .localName(reason)
            }
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
