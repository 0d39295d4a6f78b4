import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageHTTP

extension HostTable {
    subscript(url: URL) -> HostHealth? { HostKey(url).flatMap { hosts[$0] } }
}

@Suite struct HostTableTests {
    private func url(_ text: String) -> URL { URL(string: text) ?? testURL("/") }

    private func report(_ text: String, failed: Bool = true, retryAfter: Double? = nil) -> HostReport {
        var outcome = HostReport.Outcome()
        if !failed { outcome.response = HTTPResponse(url: url(text), statusCode: 200) }
        if failed { outcome.error = WebImageError(.cannotConnectToHost, "") }
        var report = HostReport(url(text), outcome, wallTime: 0)
        report.retryAfter = retryAfter
        return report
    }

    private func note(_ table: inout HostTable, _ report: HostReport, _ id: UInt64, at now: UInt64 = 0) -> [UInt64] {
        table.note(report, of: id, policy: .exact, at: now, random: 0)
    }

    private func open(_ table: inout HostTable, _ text: String) {
        for id: UInt64 in 101...103 { #expect(note(&table, report(text), id).isEmpty) }
    }

    // MARK: Keys

    @Test(arguments: [
        ("http://example.com/a", "http://example.com/b?c#d"), ("http://EXAMPLE.com", "HTTP://example.COM:80/"),
        ("https://example.com:443/", "https://example.com?q"), ("http://ann:b%40c@example.com/", "http://example.com/"),
        ("http://[::1]:80/a", "http://[::1]/"), ("http://example.com:/a", "http://example.com/a"),
        ("http://example.com#@other.test", "http://example.com"),
    ])
    func `Scheme, host and port make a host, whatever else is in a URL`(left: String, right: String) {
        #expect(HostKey(url(left)) != nil && HostKey(url(left)) == HostKey(url(right)))
    }

    @Test(arguments: [
        ("http://example.com", "https://example.com"), ("http://example.com", "http://example.com:8080"),
        ("http://example.com:443", "https://example.com:443"), ("http://a.example.com", "http://example.com"),
        ("http://example.com:8080", "http://example.com:80"), ("http://[::1]:8", "http://[::1]"),
    ])
    func `Other schemes, names and ports are other hosts`(left: String, right: String) {
        #expect(HostKey(url(left)) != nil && HostKey(url(left)) != HostKey(url(right)))
    }

    @Test(arguments: ["file:///a", "data:,a", "http:///a", "a", "http:a"])
    func `A URL without a host has no key, and is not delayed`(text: String) {
        #expect(HostKey(url(text)) == nil)
        var table = HostTable()
        open(&table, "http://a.test/")
        #expect(table.admit(url(text), 1, mayHold: true, at: 0) == .proceed)
    }

    // MARK: Hosts

    @Test func `Hosts are independent, and one that works is forgotten`() {
        var table = HostTable()
        #expect(table.isEmpty)
        open(&table, "http://a.test/1")
        #expect(table.hosts.count == 1)
        #expect(table.admit(url("http://a.test/2"), 1, mayHold: true, at: 0) == .refuse(seconds: 1, wasAsked: false))
        #expect(table.admit(url("http://b.test/2"), 1, mayHold: true, at: 0) == .proceed)
        #expect(note(&table, report("http://b.test/", failed: false), 2).isEmpty)
        #expect(table.hosts.count == 1)
        #expect(note(&table, report("http://a.test/", failed: false), 3).isEmpty)
        #expect(table.isEmpty && table.admit(url("http://a.test/2"), 1, mayHold: true, at: 0) == .proceed)
    }

    @Test func `During a probe the others are held, and woken with its result`() {
        var table = HostTable()
        open(&table, "http://a.test/")
        let later: UInt64 = 1_000_000_000
        let a = url("http://a.test/")
        #expect(table.admit(a, 1, mayHold: true, at: later) == .proceed)
        #expect(table.admit(a, 2, mayHold: true, at: later) == .hold(seconds: nil))
        #expect(table.admit(a, 3, mayHold: true, at: later) == .hold(seconds: nil))
        #expect(table.admit(a, 4, mayHold: false, at: later) == .refuse(seconds: 1, wasAsked: false))
        #expect(note(&table, report("http://a.test/"), 9, at: later).isEmpty, "another says nothing")
        #expect(note(&table, report("http://a.test/", failed: false), 1, at: later) == [2, 3])
        #expect(table.release(1).isEmpty && table.isEmpty)
    }

    @Test func `Held downloads are woken by a failure, too, and by a cancelled probe`() {
        var table = HostTable()
        open(&table, "http://a.test/")
        var now: UInt64 = 1_000_000_000
        let a = url("http://a.test/")
        #expect(table.admit(a, 1, mayHold: true, at: now) == .proceed)
        #expect(table.admit(a, 2, mayHold: true, at: now) == .hold(seconds: nil))
        #expect(note(&table, report("http://a.test/"), 1, at: now) == [2])
        #expect(table.admit(a, 2, mayHold: true, at: now) == .refuse(seconds: 2, wasAsked: false))
        now += 2_000_000_000
        #expect(table.admit(a, 3, mayHold: true, at: now) == .proceed)
        #expect(table.admit(a, 4, mayHold: true, at: now) == .hold(seconds: nil))
        #expect(table.release(7).isEmpty && table.release(1).isEmpty)
        #expect(table.release(3) == [4])
        #expect(table.admit(a, 4, mayHold: true, at: now) == .proceed)
        #expect(table.admit(a, 5, mayHold: true, at: now) == .hold(seconds: nil))
        #expect(table.reset() == [5] && table.isEmpty)
    }

    @Test func `A short Retry-After is waited for if possible, a long one never`() {
        var table = HostTable()
        #expect(note(&table, report("http://a.test/", failed: false, retryAfter: 2), 1).isEmpty)
        let a = url("http://a.test/")
        #expect(table.admit(a, 2, mayHold: true, at: 0) == .hold(seconds: 2))
        #expect(table.admit(a, 3, mayHold: false, at: 0) == .refuse(seconds: 2, wasAsked: true))
        #expect(note(&table, report("http://a.test/", failed: false, retryAfter: 2.5), 1).isEmpty)
        #expect(table.admit(a, 2, mayHold: true, at: 0) == .refuse(seconds: 2.5, wasAsked: true))
        #expect(table.admit(a, 2, mayHold: true, at: 1_000_000_000) == .hold(seconds: 1.5))
        #expect(table.hosts.count == 1)
        #expect(table.admit(a, 2, mayHold: true, at: 2_500_000_000) == .proceed && table.isEmpty)
    }

    // MARK: Checks of hosts

    private static func seconds(_ seconds: UInt64) -> UInt64 { seconds * 1_000_000_000 }

    @Test func `A single failure makes no download check the table, and is forgotten in time`() {
        var table = HostTable()
        #expect(note(&table, report("http://a.test/"), 1, at: Self.seconds(1)).isEmpty)
        #expect(!table.isEmpty && !table.mayBlock)
        #expect(note(&table, report("http://b.test/", failed: false), 2, at: Self.seconds(600)).isEmpty)
        #expect(table.hosts.count == 1)
        #expect(note(&table, report("http://b.test/", failed: false), 3, at: Self.seconds(659)).isEmpty)
        #expect(table.hosts.count == 1, "one look in a minute")
        #expect(note(&table, report("http://b.test/", failed: false), 4, at: Self.seconds(660)).isEmpty)
        #expect(table.isEmpty)
    }

    @Test
    func `Delays and back-offs are forgotten as well, but not while a download waits for them`() {
        var table = HostTable()
        open(&table, "http://a.test/")
        open(&table, "http://b.test/")
        #expect(note(&table, report("http://c.test/", failed: false, retryAfter: 5), 4).isEmpty)
        let b = url("http://b.test/")
        #expect(table.admit(b, 1, mayHold: true, at: Self.seconds(1)) == .proceed)
        #expect(table.admit(b, 2, mayHold: true, at: Self.seconds(1)) == .hold(seconds: nil))
        let asking = report("http://d.test/", failed: false, retryAfter: 600)
        #expect(note(&table, asking, 4, at: Self.seconds(100)).isEmpty)
        #expect(table.hosts.count == 4 && table.mayBlock)
        #expect(note(&table, report("http://x.test/", failed: false), 5, at: Self.seconds(602)).isEmpty)
        #expect(table.hosts.count == 2 && table[b] != nil && table[url("http://d.test/")] != nil)
        #expect(table.release(1) == [2])
        #expect(note(&table, report("http://x.test/", failed: false), 6, at: Self.seconds(702)).isEmpty)
        #expect(table.isEmpty && !table.mayBlock)
    }

    @Test(arguments: 0..<20) func `Downloads check the table while a host may be in back-off`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = HostTable()
        var now: UInt64 = 0
        let hosts = (0..<6).map { "http://h\($0).test/" }
        for step in 1...1000 {
            let host = hosts[Int.random(in: 0..<6, using: &random)]
            let id = UInt64.random(in: 1...9, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: _ = note(&table, report(host), id, at: now)
            case 3: _ = note(&table, report(host, failed: false), id, at: now)
            case 4: _ = note(&table, report(host, failed: false, retryAfter: 9), id, at: now)
            case 5: _ = table.admit(url(host), id, mayHold: Bool.random(using: &random), at: now)
            case 6: _ = table.release(id)
            default: now += UInt64.random(in: 0...40_000_000_000, using: &random)
            }
            let mayBlock = hosts.contains { table[url($0)]?.mayBlock ?? false }
            #expect(table.mayBlock == mayBlock, "step \(step)")
        }
    }

    @Test func `At most 1024 hosts are remembered, and the one unused for longest is dropped`() {
        var table = HostTable()
        for number in 0..<1024 {
            #expect(note(&table, report("http://h\(number).test/"), 1, at: UInt64(number)).isEmpty)
        }
        #expect(table.hosts.count == 1024)
        #expect(note(&table, report("http://h0.test/"), 1, at: 5000).isEmpty)
        #expect(note(&table, report("http://new.test/"), 1, at: 6000).isEmpty)
        #expect(table.hosts.count == 1024 && table[url("http://h1.test/")] == nil)
        #expect(table[url("http://h0.test/")] != nil && table[url("http://new.test/")] != nil)
    }
}
