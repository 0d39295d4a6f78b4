import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageModel

/// Properties that hold for every response, request and time.
@Suite struct HTTPCachePropertyTests {
    private static let seeds: Range<UInt64> = 0..<8

    private func decide(_ record: HTTPCacheRecord, _ headers: HTTPHeaders, at now: Double) -> HTTPCacheDecision {
        let request = HTTPCacheRequest(headers: headers)
        return HTTPCacheMachine.decide(
            record,
            isStored: true,
            request: request,
            policy: .http,
            now: CacheRow.start + now
        )
    }

    @Test(arguments: seeds)
    func `Nothing is served past its lifetime, and everything within it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            let oracle = CacheOracle(using: &random)
            let record = oracle.row.record
            var fields: [String: String] = [:]
            for name in ["foo", "bar"] where random.below(2) == 0 { fields[name] = "\(random.below(3))" }
            if random.below(2) == 0 { fields = oracle.sent }
            var headers = HTTPHeaders()
            for (name, value) in fields { headers.add(name: name.uppercased(), value: value) }
            for _ in 0..<6 {
                let now = Double(random.below(500)) - 100 + random.unit()
                if oracle.isAtBorder(now) { continue }
                let decision = decide(record, headers, at: now)
                let expected = expectation(oracle, fields, now)
                #expect(expected.contains(kind(decision)), "\(oracle.row) at \(now): \(decision)")
            }
        }
    }

    /// The kinds of decisions that the RFC allows.
    private func expectation(_ oracle: CacheOracle, _ request: [String: String], _ now: Double) -> [String] {
        guard oracle.isVariant(request) else {
            return oracle.vary.contains("*") && (oracle.hasETag || oracle.lastModified != nil) ? ["ask"] : ["fetch"]
        }
        if oracle.isNoCache || oracle.isNoStore { return ["ask"] }
        if oracle.isFresh(at: now) { return ["hit"] }
        return oracle.mayBeDeliveredStale(at: now) ? ["serve"] : ["ask"]
    }

    private func kind(_ decision: HTTPCacheDecision) -> String {
        String(CacheRow.text(decision).prefix { $0 != " " })
    }

    @Test(arguments: seeds)
    func `Request directives never allow more to be served, except max-stale`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 1000)
        for _ in 0..<300 {
            let oracle = CacheOracle(using: &random)
            var headers = HTTPHeaders()
            for (name, value) in oracle.sent { headers.add(name: name, value: value) }
            let now = Double(random.below(500)) - 100
            let plain = kind(decide(oracle.row.record, headers, at: now))
            let directive = [
                "no-cache", "max-age=\(random.below(99))", "min-fresh=\(random.below(99))", "no-store", "x",
            ]
            headers.add(name: "Cache-Control", value: directive[random.below(5)])
            let asked = kind(decide(oracle.row.record, headers, at: now))
            #expect(asked == plain || asked == "ask")
            headers["Cache-Control"] = "only-if-cached"
            let alone = kind(decide(oracle.row.record, headers, at: now))
            #expect(alone == (plain == "hit" || plain == "serve" ? "hit" : "refuse"))
        }
    }

    @Test(arguments: seeds)
    func `A no-store response is never stored`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 2000)
        let others = [
            "max-age=60", "public", "private", "immutable", "must-understand", "foo=\"a, b\"", "no-cache=\"x\"", "=",
            "max-age=",
            "s-maxage=\"5\"", "a b c", ",", "foo=\"no-store\"", "stale-if-error=9", "\"quoted, text\"", "x=\"\\\"\"",
        ]
        for _ in 0..<300 {
            var directives = (0..<random.below(6)).map { _ in others[random.below(others.count)] }
            let said = ["no-store", "No-Store", "NO-STORE", "no-store=1", "no-store=\"x\"", "no-store x"]
            directives.insert(said[random.below(said.count)], at: random.below(directives.count + 1))
            var headers: HTTPHeaders = [
                "ETag": "\"a\"", "Expires": "Thu, 18 Aug 2050 02:01:18 GMT", "Connection": "cache-control",
            ]
            let cut = random.below(directives.count + 1)
            for part in [directives[..<cut], directives[cut...]] {
                headers.add(name: "cache-Control", value: part.joined(separator: random.below(2) == 0 ? "," : " , "))
            }
            let status = [200, 203, 204, 301, 404, 410, 501, 599][random.below(8)]
            let stored = HTTPResponse(url: CacheRow.url, statusCode: status, headers: headers)
            #expect(!HTTPCacheMachine.mayStore(stored, request: HTTPCacheRequest(), policy: .http), "\(headers)")
            let other = HTTPResponse(url: CacheRow.url, statusCode: status, headers: ["Cache-Control": "max-age=60"])
            #expect(!HTTPCacheMachine.mayStore(other, request: HTTPCacheRequest(headers: headers), policy: .http))
            let lifetime = HTTPCacheMachine.negativeLifetime(
                of: stored,
                request: HTTPCacheRequest(),
                policy: .http,
                now: 0
            )
            #expect(lifetime == nil)
        }
    }

    @Test(arguments: seeds)
    func `A 304 leaves the fields that describe the body, or is refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 3000)
        let body = ["content-type: image/png", "content-length: 5", "content-encoding: gzip"]
        for _ in 0..<300 {
            var stored = CacheOracle(using: &random)
            stored.fields += body
            let record = stored.row.record
            let answer = CacheOracle(using: &random)
            var notModified = CacheRow.answer(answer.fields.joined(separator: " | "), status: 304)
            notModified.headers.add(name: "Content-Type", value: "text/\(random.below(9))")
            notModified.headers.add(name: "Content-Length", value: "\(random.below(9))")
            let now = CacheRow.start + Double(random.below(500))
            let request = HTTPCacheRequest(headers: ["foo": "1"])
            let new = HTTPCacheMachine.updated(record, by: notModified, request: request, now: now)
            let (old, tag) = (record.headers["etag"], notModified.headers["etag"])
            if let tag { #expect((new != nil) == (old == tag)) }
            guard let new else { continue }
            for name in ["content-type", "content-length", "content-encoding"] {
                #expect(new.headers[name] == record.headers[name])
            }
            #expect(new.statusCode == record.statusCode)
            #expect(new.headers["etag"] == record.headers["etag"])
            #expect(new.responseTime == now)
            #expect(HTTPCacheRecord(lines: new.encodedLines()) == new)
        }
    }

    @Test(arguments: seeds)
    func `No clock makes an age negative or traps`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 4000)
        let extremes: [Double] = [
            0, -1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e-300, 1e18,
            -1e18, 9.3e18,
        ]
        for _ in 0..<40 {
            let oracle = CacheOracle(using: &random)
            var record = oracle.row.record
            if random.below(2) == 0 { record.responseTime = extremes[random.below(extremes.count)] }
            if random.below(3) == 0 { record.requestTime = extremes[random.below(extremes.count)] }
            for now in extremes + [CacheRow.start + Double(random.below(1000)) * 1e6 - 5e8] {
                for policy in [CachePolicy.http, .immutable, .revalidate, .ttl(60), .ttl(.nan), .ttl(-.infinity)] {
                    let request = HTTPCacheRequest(headers: ["Cache-Control": "max-stale=9, min-fresh=1"])
                    let decision = HTTPCacheMachine.decide(
                        record,
                        isStored: true,
                        request: request,
                        policy: policy,
                        now: now
                    )
                    if let age = CacheRow.age(of: decision) { #expect(age >= 0) }
                }
                let freshness = record.freshness(now: now)
                #expect(freshness.age >= 0)
                #expect((freshness.lifetime ?? 0) >= 0)
                let age = HTTPCacheMachine.delivered(record, url: CacheRow.url, now: now).headers["Age"]
                #expect(age.flatMap { Int($0) }.map { (0...2_147_483_648).contains($0) } == true)
                var answer = CacheRow.answer("Cache-Control: max-age=60", status: 404)
                answer.exchange = HTTPExchange(requestHeaders: [:], requestTime: now, responseTime: record.responseTime)
                let lifetime = HTTPCacheMachine.negativeLifetime(
                    of: answer,
                    request: HTTPCacheRequest(),
                    policy: .http,
                    now: now
                )
                #expect(lifetime.map { $0 > 0 && $0 <= 60 } ?? true)
            }
        }
    }

    @Test(arguments: seeds)
    func `A clock set back makes nothing older, one set forward nothing fresh`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 5000)
        for _ in 0..<200 {
            let oracle = CacheOracle(using: &random)
            let record = oracle.row.record
            let (early, late) = (Double(random.below(300)) - 200, Double(random.below(100_000)))
            #expect(record.age(at: CacheRow.start + early) <= record.age(at: CacheRow.start + Swift.max(late, early)))
            let isFresh = record.cacheStatus(at: CacheRow.start + early).isFresh
            let isFreshLater = record.cacheStatus(at: CacheRow.start + Swift.max(late, early)).isFresh
            #expect(isFresh || !isFreshLater)
        }
    }

    @Test(arguments: seeds)
    func `Records survive encoding, whatever they contain`(seed: UInt64) {
        var random = SeededGenerator(seed: seed &+ 6000)
        for _ in 0..<200 {
            let oracle = CacheOracle(using: &random)
            var record = oracle.row.record
            record.requestTime += random.unit()
            record.responseTime += random.unit() * 1e-5
            if random.below(3) == 0 { record.redirectLifetime = random.unit() * 1e4 }
            let read = HTTPCacheRecord(lines: record.encodedLines())
            #expect(read == record)
            #expect(read?.hashValue == record.hashValue)
        }
    }
}
