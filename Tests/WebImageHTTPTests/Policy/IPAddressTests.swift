import Testing

@testable import WebImageHTTP

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("1.2.3.4", "1.2.3.4"), ("255.255.255.255", "255.255.255.255"), ("::", "::"), ("0:0:0:0:0:0:0:1", "::1"),
        ("2001:0DB8::A", "2001:db8::a"), ("::ffff:1.2.3.4", "::ffff:1.2.3.4"), ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
    ]) func `An address is written in its usual spelling`(text: String, usual: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == usual)
    }

    @Test(arguments: [
        "", " 1.2.3.4", "1.2.3.4 ", "1.2.3", "0x1.2.3.4", "1.2.3.256", "[::1]", "::1%lo", ":::", "1:2:3:4:5:6:7:8:9",
        "a",
        "1.2.3.4\0", "１.2.3.4",
    ]) func `Nothing else is an address`(text: String) { #expect(IPAddress(text) == nil) }

    @Test func `Only 4 or 16 bytes make an address`() {
        #expect(IPAddress(bytes: [127, 0, 0, 1]) == IPAddress(v4: 0x7F00_0001))
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 15) + [1]) == IPAddress(v6: 1))
        for count in [0, 1, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func `Prefixes of every length distinguish addresses at the right bit`() throws {
        let v4 = IPAddress(v4: 0xAAAA_AAAA)
        for length in 0...32 {
            let network = try #require(IPNetwork("\(v4)/\(length)"))
            for bit in 0..<32 {
                let other = IPAddress(v4: 0xAAAA_AAAA ^ (0x8000_0000 >> UInt32(bit)))
                #expect(network.contains(other) == (bit >= length))
            }
        }
        let v6 = IPAddress(v6: 0xAAAA_AAAA_AAAA_AAAA_5555_5555_5555_5555)
        for length in 0...128 {
            let network = try #require(IPNetwork("\(v6)/\(length)"))
            for bit in 0..<128 {
                let other = IPAddress(v6: v6.number ^ UInt128(1) << UInt128(127 - bit))
                #expect(network.contains(other) == (bit >= length))
            }
            #expect(!network.contains(v4), "they are of two families")
        }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3/8", "10.9.9.9", true),
        ("0.0.0.0/0", "9.9.9.9", true), ("1.2.3.4", "1.2.3.4", true), ("1.2.3.4", "1.2.3.5", false),
        ("1.2.3.4/32", "1.2.3.4", true), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
        ("::/0", "1.2.3.4", false), ("::1/128", "::1", true), ("2001:db8::/33", "2001:db8:8000::", false),
    ]) func `A block contains the addresses with its prefix`(block: String, address: String, isIn: Bool) throws {
        let network = try #require(IPNetwork(block))
        let other = try #require(IPAddress(address))
        #expect(network.contains(other) == isIn)
        #expect(IPNetwork("\(network)") == network)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10/8", "a/8",
    ])
    func `Nothing else is a block`(text: String) { #expect(IPNetwork(text) == nil) }

    @Test(arguments: [
        "::ffff:1.2.3.4", "::1.2.3.4", "::ffff:0:1.2.3.4", "64:ff9b::1.2.3.4", "2002:102:304::9",
        "2001:0:1:2:3:4:fefd:fcfb", "2a00::5efe:1.2.3.4", "2a00::200:5efe:1.2.3.4", "::5efe:1.2.3.4",
    ]) func `The IPv4 address inside an IPv6 address is found`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.embedded == IPAddress(v4: 0x0102_0304))
        #expect(address.isNAT64 == text.hasPrefix("64:ff9b::"))
    }

    @Test(arguments: ["::", "::1", "2606:4700::1111", "1.2.3.4", "64:ff9b:1::1.2.3.4", "fe80::1"])
    func `Other addresses contain none`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.embedded == nil)
    }
}
