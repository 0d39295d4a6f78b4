import FoundationEssentials
import HTTPTestSupport
import Testing

@testable import WebImageHTTP

/// The rules of a policy as a table: nothing here uses a network.
@Suite struct SourcePolicyTests {
    static func rules(_ texts: String...) throws -> [SourceRule] { try texts.map { try #require(SourceRule($0)) } }

    private func refusal(_ policy: SourcePolicy, _ url: String) -> SourceRefusal? {
        AddressTableTests.refusal(url, policy)
    }

    private func refusal(_ policy: SourcePolicy, _ host: String, _ port: Int, at address: String) throws
        -> SourceRefusal?
    {
        let place: IPAddress = try #require(IPAddress(address))
        return policy.refusal(try SourceHost(host), port: port, at: place)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://example.com/a", "gopher://example.com/", "data:image/gif;base64,R0lGODlh",
        "javascript:1", "a.jpg",
        "", "//example.com/a", "dict://127.0.0.1:11211/", "ldap://example.com", "httpx://example.com/",
        "http+unix://x/",
    ]) func `Only http and https are schemes of images`(url: String) {
        guard case .scheme? = refusal(.untrusted, url) else {
            Issue.record("\(url): \(String(describing: refusal(.untrusted, url)))")
            return
        }
    }

    @Test(
        arguments: [
            ("http://user@example.com/", SourceRefusal.user), ("http://user:word@example.com/", .user),
            ("http://@example.com/", .user),
            ("http://example.com@127.0.0.1/", .user), ("http://a@b@c.com/", .user), ("http:example.com", .malformed),
            ("http:/example.com", .malformed), ("http:///a", .malformed), ("http://example.com\\@127.0.0.1/", .user),
            ("http://example.com\\.evil.com/", .malformed), ("http://exa mple.com/", .malformed),
            ("http://example.com:x/", .malformed),
            ("http://example.com:0/", .malformed), ("http://example.com:65536/", .malformed),
            ("http://example.com:80:80/", .malformed),
            ("http://example.com/\r\nHost: x", .malformed), ("http://example.com/\u{7F}", .malformed),
            ("http://example.com/\0", .malformed),
            ("http://example.com:8080/", .port(8080)), ("https://example.com:22/", .port(22)),
            ("http://example.com:00080/", nil),
            ("http://example.com:/", nil), ("http://example.com:443/", nil), ("https://example.com#@127.0.0.1/", nil),
            ("http://example.com?@127.0.0.1/", nil), ("HTTP://EXAMPLE.COM/@2x.png", nil),
        ] as [(String, SourceRefusal?)]
    )
    func `A URL is parsed strictly, and its port must be listed`(url: String, why: SourceRefusal?) {
        #expect(refusal(.untrusted, url) == why)
    }

    @Test func `A trusted policy refuses nothing`() throws {
        for text in ["file:///etc/passwd", "http://u:p@127.0.0.1:22/", "http://[::1]/"] {
            let url = try #require(URL(string: text))
            #expect(SourcePolicy.trusted.refusal(of: url) == nil)
        }
        #expect(SourcePolicy.trusted.refusal(ofHost: "a", port: 1, at: "127.0.0.1") == nil)
        #expect(SourcePolicy.trusted.limits() == ImageLimits())
        #expect(WebImageDownloaderConfig().withinPolicy == WebImageDownloaderConfig())
    }

    @Test func `A refusal is a typed error that names the address and the rule`() throws {
        let url = try #require(URL(string: "http://0x7f.1/a.png"))
        let error = try #require(SourcePolicy.untrusted.refusal(of: url))
        #expect(error.code == .sourceRefused && error.url == url)
        #expect(error.message == "the address is refused: 127.0.0.1, a loopback address")
        let named = SourcePolicy.untrusted.refusal(ofHost: "evil.example.com", port: 80, at: "64:ff9b::a9fe:a9fe")
        #expect(
            named?.message == "the host 'evil.example.com' is refused: it resolves to 64:ff9b::a9fe:a9fe "
                + "(169.254.169.254), a cloud metadata service"
        )
        #expect(SourcePolicy.untrusted.refusal(ofHost: "example.com", port: 80, at: "8.8.8.8") == nil)
        for address in ["", "x", "127.1", "fe80::1%1"] {
            #expect(
                SourcePolicy.untrusted.refusal(ofHost: "example.com", port: 80, at: address)?.code == .sourceRefused
            )
        }
    }

    @Test func `A name is judged by its address`() throws {
        let policy = SourcePolicy.untrusted
        #expect(refusal(policy, "http://example.com/") == nil)
        #expect(try refusal(policy, "example.com", 80, at: "8.8.8.8") == nil)
        #expect(
            try refusal(policy, "example.com", 80, at: "10.0.0.1") == .address(IPAddress(v4: 0x0A00_0001), .privateUse)
        )
        #expect(try refusal(policy, "example.com", 25, at: "8.8.8.8") == .port(25))
        #expect(try refusal(policy, "localhost", 80, at: "8.8.8.8") == .localName("localhost"))
    }

    @Test func `A rule with a port allows only that port`() throws {
        var policy = SourcePolicy.untrusted
        policy.allowed = try Self.rules("127.0.0.1:8080", "images.internal", "10.0.0.0/8")
        #expect(refusal(policy, "http://127.0.0.1:8080/") == nil)
        #expect(refusal(policy, "http://127.0.0.1/") == .address(IPAddress(v4: 0x7F00_0001), .loopback))
        #expect(refusal(policy, "http://127.0.0.1:8081/") == .address(IPAddress(v4: 0x7F00_0001), .loopback))
        #expect(refusal(policy, "http://127.0.0.2:8080/") == .address(IPAddress(v4: 0x7F00_0002), .loopback))
        #expect(refusal(policy, "http://8.8.8.8:8080/") == .port(8080))
        #expect(refusal(policy, "http://[::ffff:127.0.0.1]:8080/") != nil)
        // A rule without a port applies to the policy's ports.
        #expect(refusal(policy, "http://images.internal/") == nil && refusal(policy, "https://10.9.9.9/") == nil)
        #expect(refusal(policy, "http://images.internal:8080/") != nil)
        #expect(refusal(policy, "http://10.0.0.1:22/") == .address(IPAddress(v4: 0x0A00_0001), .privateUse))
        // An allowed name may have any address; an allowed address may have any public name.
        #expect(try refusal(policy, "images.internal", 80, at: "192.168.1.1") == nil)
        #expect(try refusal(policy, "cdn.example.com", 8080, at: "127.0.0.1") == nil)
        #expect(try refusal(policy, "cdn.example.com", 8080, at: "8.8.8.8") == .port(8080))
        #expect(refusal(policy, "http://cdn.example.com:8080/") == nil, "its address is not known yet")
        #expect(refusal(policy, "http://localhost:8080/") == .localName("localhost"))
    }

    @Test func `Denied sources stay denied whatever is allowed, also inside IPv6`() throws {
        var policy = SourcePolicy.untrusted
        policy.allowed = try Self.rules("*.example.com", "10.0.0.0/8")
        policy.denied = try Self.rules("bad.example.com", "10.1.0.0/16", "8.8.8.8:443")
        #expect(refusal(policy, "http://bad.example.com/") == .denied(policy.denied[0]))
        #expect(refusal(policy, "http://good.example.com/") == nil)
        #expect(refusal(policy, "http://10.1.2.3/") == .denied(policy.denied[1]))
        #expect(refusal(policy, "http://10.2.2.3/") == nil)
        #expect(try refusal(policy, "good.example.com", 80, at: "10.1.1.1") == .denied(policy.denied[1]))
        #expect(
            refusal(policy, "http://8.8.8.8/") == nil
                && refusal(policy, "https://8.8.8.8/") == .denied(policy.denied[2])
        )
        #expect(refusal(policy, "https://[64:ff9b::8.8.8.8]/") == .denied(policy.denied[2]))
    }

    @Test func `A list of allowed sources lifts no other restriction`() throws {
        var policy = SourcePolicy.untrusted
        policy.limitedTo = try Self.rules("*.example.com", "93.184.216.0/24")
        #expect(refusal(policy, "http://cdn.example.com/") == nil && refusal(policy, "http://93.184.216.34/") == nil)
        #expect(refusal(policy, "http://8.8.8.8/") == .unlisted)
        // At a time when the address of a name is not known yet.
        #expect(refusal(policy, "http://other.org/") == nil)
        #expect(try refusal(policy, "other.org", 80, at: "93.184.216.34") == nil)
        #expect(try refusal(policy, "other.org", 80, at: "8.8.8.8") == .unlisted)
        #expect(try refusal(policy, "cdn.example.com", 80, at: "169.254.169.254") != nil)
        policy.limitedTo = try Self.rules("*.example.com")
        #expect(refusal(policy, "http://other.org/") == .unlisted)
        policy.limitedTo = []
        #expect(refusal(policy, "http://cdn.example.com/") == .unlisted)
    }

    @Test func `Schemes can be removed, and data added`() {
        var policy = SourcePolicy.untrusted
        policy.schemes = [.https, .data]
        #expect(refusal(policy, "http://example.com/") == .scheme("http"))
        #expect(refusal(policy, "https://example.com/") == nil && refusal(policy, "data:,x") == nil)
    }

    // MARK: Bounds

    @Test func `The tighter limits of policy and configuration hold`() {
        var config = WebImageDownloaderConfig()
        config.sourcePolicy = .untrusted
        config.maximumResponseByteCount = 1000
        config.maximumRedirectCount = 50
        config.totalTimeout = 600
        config.username = "u"
        config.password = "p"
        config.proxy = .url("http://127.0.0.1:3128")
        config.partialDownloadDirectory = "/tmp/x"
        config.allowsInsecureRedirects = true
        let bounded = config.withinPolicy
        #expect(
            bounded.maximumResponseByteCount == 1000 && bounded.maximumRedirectCount == 5 && bounded.totalTimeout == 60
        )
        #expect(bounded.maximumResponseHeaderCount == 100 && bounded.maximumResponseHeaderByteCount == 64 << 10)
        #expect(bounded.credential == nil && bounded.proxy == .none && bounded.partialDownloadDirectory == nil)
        #expect(!bounded.allowsInsecureRedirects && bounded.minimumBytesPerSecond == 1000)
        config.totalTimeout = 0
        #expect(config.withinPolicy.totalTimeout == 60)
        config.sourcePolicy.maximumDuration = 0
        #expect(config.withinPolicy.totalTimeout == 0)
        let core = DownloaderCore(config: config, transport: FakeTransport())
        let downloader = WebImageDownloader(core: core, sharer: nil)
        #expect(downloader.config == config, "the value read is the value set")
    }

    @Test func `Limits of decoding are the tighter ones`() {
        let limits = SourcePolicy.untrusted.limits()
        #expect(limits.maximumPixelCount == 50_000_000 && limits.maximumFrameCount == 2000)
        #expect(limits.maximumEncodedByteCount == 32 << 20 && limits.maximumDecodeDuration == 5)
        var own = ImageLimits()
        own.maximumPixelCount = 100
        own.maximumDecodeDuration = 1
        let both = SourcePolicy.untrusted.limits(within: own)
        #expect(both.maximumPixelCount == 100 && both.maximumDecodeDuration == 1)
        var policy = SourcePolicy.untrusted
        policy.maximumDecodeDuration = 0
        #expect(policy.limits().maximumDecodeDuration == nil)
    }

    @Test func `Policies with different sources or formats have separate caches`() throws {
        var policy = SourcePolicy.untrusted
        #expect(policy.cacheNamespace == "untrusted" && SourcePolicy.trusted.cacheNamespace == "default")
        policy.maximumByteCount = 1
        #expect(policy.cacheNamespace == "untrusted", "the sources are the same")
        var names: Set<String> = ["untrusted"]
        for change in [
            { (policy: inout SourcePolicy) in policy.allowed = try Self.rules("10.0.0.1") },
            { policy in policy.denied = try Self.rules("10.0.0.1") },
            { policy in policy.limitedTo = try Self.rules("10.0.0.1") },
            { policy in policy.limitedTo = [] },
            { policy in policy.ports = [80] },
            { policy in policy.schemes = [.http] },
            { policy in policy.formats = [.jpeg] },
            { policy in policy.formats = [.jpeg, .png] },
        ] as [(inout SourcePolicy) throws -> Void] {
            var other = SourcePolicy.untrusted
            try change(&other)
            #expect(names.insert(other.cacheNamespace).inserted)
            #expect(other.cacheNamespace.hasPrefix("untrusted-") && other.cacheNamespace.utf8.count == 26)
        }
        policy.allowed = try Self.rules("10.0.0.1", "a.com")
        let name = policy.cacheNamespace
        policy.allowed.reverse()
        #expect(policy.cacheNamespace == name, "the order says nothing")
    }
}
