import FoundationEssentials
import Testing

@testable import WebImageHTTP

@Suite struct SourceRuleTests {
    @Test(
        arguments: [
            ("cdn.example.com", "cdn.example.com", nil), ("CDN.Example.com.", "cdn.example.com", nil),
            ("cdn.example.com:8080", "cdn.example.com:8080", 8080), (".example.com", "*.example.com", nil),
            ("*.example.com:81", "*.example.com:81", 81), ("localhost:1", "localhost:1", 1),
            ("127.0.0.1", "127.0.0.1", nil),
            ("127.0.0.1:65535", "127.0.0.1:65535", 65_535), ("10.0.0.0/8", "10.0.0.0/8", nil),
            ("10.0.0.0/8:80", "10.0.0.0/8:80", 80),
            ("::1", "[::1]", nil), ("[::1]", "[::1]", nil), ("[::1]:8080", "[::1]:8080", 8080),
            ("fe80::/10", "[fe80::/10]", nil),
            ("[fe80::/10]:443", "[fe80::/10]:443", 443), ("bücher.de", "xn--bcher-kva.de", nil),
        ] as [(String, String, Int?)]
    )
    func `A rule is a host, a domain with its subdomains, or a block, with a port or without`(
        text: String,
        usual: String,
        port: Int?
    ) throws {
        let rule = try #require(SourceRule(text))
        #expect(rule.description == usual && rule.port == port)
        #expect(SourceRule(rule.description) == rule)
    }

    @Test(arguments: [
        "", ":80", "a:", "a:0", "a:65536", "a:b", "a:-1", "a:+1", "http://a.com", "a.com/", "a/8", "127.1",
        "0x7f.0.0.1", "010.0.0.1",
        "1.2.3.4.5", "[::1", "[::1]x", "[127.0.0.1]", "[a]", "::1:", "*", "*.", ".", "a..b", "a b", "u@a.com",
        "10.0.0.0/33", "*.1.2.3.4",
        "a\0b", "::g",
    ]) func `Nothing else is a rule`(text: String) { #expect(SourceRule(text) == nil) }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "a.example.com", false),
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "a.b.example.com", true), ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false), ("127.0.0.1", "127.0.0.1", false), ("localhost", "localhost", true),
    ]) func `A name matches by whole labels`(text: String, name: String, isMatch: Bool) throws {
        let rule = try #require(SourceRule(text))
        #expect(rule.matches(name: name) == isMatch)
    }

    @Test func `Only addresses match blocks`() throws {
        let block = try #require(SourceRule("10.0.0.0/8"))
        #expect(block.matches(IPAddress("10.1.1.1")) && !block.matches(IPAddress("11.1.1.1")))
        #expect(!block.matches(IPAddress("::ffff:10.1.1.1")) && !block.matches(nil) && !block.matches(name: nil))
        let host = try #require(SourceRule("a.com"))
        #expect(!host.matches(IPAddress("10.1.1.1")) && !host.isAboutAddresses && block.isAboutAddresses)
    }
}
