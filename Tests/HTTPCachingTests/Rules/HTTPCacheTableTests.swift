import Testing
import WebImage

@testable import WebImageLoading

@Suite struct HTTPCacheTableTests {
    @Test(arguments: CacheRows.all.flatMap { $0 })
    func `Each row of the table is decided as written`(row: CacheRow) {
        let decision = row.decision
        #expect(CacheRow.text(decision) == row.expected)
        if let age = row.age {
            let difference = CacheRow.age(of: decision).map { $0 == age ? 0 : abs($0 - age) }
            #expect(difference.map { $0 < 1e-3 } == true)
        }
    }

    @Test func `The table has no row twice and needs every rule`() {
        let rows = CacheRows.all.flatMap { $0 }
        #expect(rows.count >= 150)
        let texts = rows.map { "\($0)" }
        #expect(Set(texts).count == texts.count)
        let words = Set(rows.flatMap { row in row.expected.split { $0 == " " || $0 == "," }.map(String.init) })
        let unseen = HTTPCacheRule.allCases.filter { !words.contains("\($0)") }
        // The rules for an entry without a record, which no row has.
        #expect(Set(unseen) == [.nothingStored, .noRecord])
    }

    @Test(
        arguments: [
            (.immutable, "", "fetch nothingStored", "hit immutablePolicy"),
            (.revalidate, "", "fetch nothingStored", "ask revalidatePolicy, always"),
            (.ttl(10), "", "fetch nothingStored", "ask noRecord, always"),
            (.ttl(.infinity), "", "fetch nothingStored", "hit withinTimeToLive"),
            (.ttl(.nan), "", "fetch nothingStored", "hit immutablePolicy"),
            (.http, "", "fetch nothingStored", "ask noRecord, offline"),
            (.http, "Cache-Control: max-stale", "fetch nothingStored", "ask noRecord, offline"),
            (.http, "Cache-Control: only-if-cached", "refuse onlyIfCached", "refuse onlyIfCached"),
            (.immutable, "Cache-Control: only-if-cached", "fetch nothingStored", "hit immutablePolicy"),
        ] as [(CachePolicy, String, String, String)]
    )
    func `Without a record the policy decides`(policy: CachePolicy, request: String, missing: String, unknown: String) {
        func text(_ isStored: Bool) -> String {
            let request = HTTPCacheRequest(headers: CacheRow.headers(request))
            return CacheRow.text(
                HTTPCacheMachine.decide(nil, isStored: isStored, request: request, policy: policy, now: CacheRow.start)
            )
        }
        #expect(text(false) == missing)
        #expect(text(true) == unknown)
    }

    @Test func `Every rule has its own description`() {
        let words = HTTPCacheRule.allCases.map(\.explanation)
        #expect(Set(words).count == words.count)
        #expect(words.allSatisfy { $0.count > 10 && !$0.hasSuffix(".") && !$0.contains("\n") })
    }

    @Test(
        arguments: [
            ("Cache-Control: max-age=60", 10, 60, 10, true, .maxAge),
            ("Cache-Control: max-age=60", 60, 60, 60, false, .expired),
            ("Cache-Control: max-age=60, immutable", 10, 60, 10, true, .immutableResponse),
            ("Expires: {60} | Age: 5", 10, 60, 15, true, .expires),
            ("Last-Modified: {-1000}", 10, 100, 10, true, .heuristic),
            ("ETag: \"a\"", 10, nil, 10, false, .expired),
            ("Cache-Control: max-age=60, no-cache", 10, 60, 10, false, .noCache),
            ("Cache-Control: max-age=60, no-store", 10, 60, 10, false, .noCache),
            ("Cache-Control: max-age=60 | Vary: *", 10, 60, 10, false, .variesOnAll),
            ("Cache-Control: max-age=60, must-revalidate", 70, 60, 70, false, .mustRevalidate),
            ("Cache-Control: max-age=60, stale-while-revalidate=60", 70, 60, 70, false, .staleWhileRevalidate),
        ] as [(String, Double, Double?, Double, Bool, HTTPCacheRule)]
    )
    func `A record reports how fresh it is`(
        response: String,
        at: Double,
        lifetime: Double?,
        age: Double,
        isFresh: Bool,
        rule: HTTPCacheRule
    ) {
        let freshness = CacheRow(response, at: at, "").record.freshness(now: CacheRow.start + at)
        #expect(freshness == HTTPFreshness(lifetime: lifetime, age: age, isFresh: isFresh, rule: rule))
        #expect(freshness.explanation == rule.explanation)
    }

    @Test func `A redirect shortens the reported lifetime`() {
        let row = CacheRow("Cache-Control: max-age=60 | Age: 5", via: "302 Cache-Control: max-age=20", at: 0, "")
        let freshness = row.record.freshness(now: CacheRow.start + 21)
        #expect(freshness == HTTPFreshness(lifetime: 25, age: 26, isFresh: false, rule: .redirected))
    }
}
