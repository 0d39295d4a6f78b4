import FoundationEssentials
import Testing
import WebImage

@testable import WebImageLoading
@testable import WebImageModel

/// Conditional requests, and the effect of a 304.
@Suite struct HTTPCacheValidationTests {
    private let stored = CacheRow(
        """
        ETag: "a" | Last-Modified: {-900} | Cache-Control: max-age=60, stale-if-error=9 | Date: {0} | Age: 7 | X-Foo: 1 \
        | X-Foo: 2 | X-Bar: old | Content-Type: image/png | Content-Length: 5 | Content-Encoding: gzip | Content-Range: x
        """,
        at: 0,
        ""
    ).record

    private func updated(_ record: HTTPCacheRecord, _ fields: String, sent: HTTPHeaders = [:]) -> HTTPCacheRecord? {
        let answer = CacheRow.answer(fields, status: 304)
        let now = CacheRow.start + 100
        return HTTPCacheMachine.updated(record, by: answer, request: HTTPCacheRequest(headers: sent), now: now)
    }

    @Test(
        arguments: [
            ("", []), ("X-Foo: 1", []), ("ETag: ", []),
            ("ETag: \"a\"", ["If-None-Match: \"a\""]), ("ETag: W/\"a\"", ["If-None-Match: W/\"a\""]),
            ("ETag: a", ["If-None-Match: a"]), ("ETag: \"a\" | ETag: \"b\"", ["If-None-Match: \"a\""]),
            ("Last-Modified: {-60}", ["If-Modified-Since: Tue, 14 Nov 2023 22:12:20 GMT"]),
            ("Last-Modified: yesterday", ["If-Modified-Since: yesterday"]), ("Date: {0} | Expires: {0}", []),
            (
                "Last-Modified: {-60} | ETag: \"a\"",
                ["If-None-Match: \"a\"", "If-Modified-Since: Tue, 14 Nov 2023 22:12:20 GMT"]
            ),
        ] as [(String, [String])]
    )
    func `Conditions are the validators as they were received`(response: String, conditions: [String]) {
        let fields = CacheValidators(record: CacheRow(response, at: 0, "").record)?.conditions.fields
        #expect(fields?.map { "\($0.name): \($0.value)" } == conditions)
    }

    @Test(arguments: [
        ("ETag: \"a\"", "ETag: \"a\"", true), ("ETag: \"a\"", "ETag: \"b\"", false), ("ETag: \"a\"", "", true),
        ("ETag: W/\"a\"", "ETag: W/\"a\"", true), ("ETag: W/\"a\"", "ETag: W/\"b\"", false),
        ("ETag: W/\"a\"", "ETag: \"a\"", true), ("ETag: \"a\"", "ETag: W/\"a\"", true),
        ("ETag: W/\"a\"", "ETag: \"b\"", false), ("ETag: \"a\"", "ETag: W/\"b\"", false),
        ("ETag: \"a\" | Last-Modified: {-9}", "ETag: \"a\" | Last-Modified: {-5}", true),
        ("ETag: \"a\" | Last-Modified: {-9}", "ETag: \"b\" | Last-Modified: {-9}", false),
        ("ETag: \"a\" | Last-Modified: {-9}", "Last-Modified: {-9}", true),
        ("ETag: \"a\" | Last-Modified: {-9}", "Last-Modified: {-5}", false),
        ("Last-Modified: {-9}", "Last-Modified: {-9}", true), ("Last-Modified: {-9}", "Last-Modified: {-5}", false),
        ("Last-Modified: {-9}", "", true), ("Last-Modified: {-9}", "ETag: \"a\" | Last-Modified: {-9}", false),
        ("Last-Modified: {-9}", "ETag: W/\"a\" | Last-Modified: {-9}", true), ("", "", true),
        ("", "ETag: \"a\"", false),
        ("ETag: \"A\"", "ETag: \"a\"", false),
    ])
    func `A 304 applies to the entry with its validators`(stored: String, answer: String, isAbout: Bool) {
        #expect((updated(CacheRow(stored, at: 0, "").record, answer) != nil) == isAbout)
    }

    @Test(arguments: [200, 206, 302, 404, 503])
    func `No other response updates a record`(status: Int) {
        let answer = CacheRow.answer("ETag: \"a\"", status: status)
        #expect(HTTPCacheMachine.updated(stored, by: answer, request: HTTPCacheRequest(), now: 0) == nil)
    }

    @Test func `A 304 replaces fields and leaves those that it does not have`() throws {
        let new = try #require(
            updated(stored, "ETag: \"a\" | X-Foo: 3 | X-New: 4 | Date: {100} | Age: 2 | Expires: {900}")
        )
        #expect(new.headers["x-foo"] == "3")
        #expect(new.headers["x-new"] == "4")
        #expect(new.headers["x-bar"] == "old")
        #expect(new.headers["cache-control"] == "max-age=60, stale-if-error=9")
        #expect(new.headers["age"] == "2")
        #expect(new.statusCode == 200)
        #expect(new.requestTime == CacheRow.start + 100)
        #expect(new.responseTime == CacheRow.start + 100)
        #expect(new.age(at: CacheRow.start + 105) == 7)
    }

    @Test func `Fields that describe the stored bytes stay`() throws {
        let answer = """
            Content-Type: text/html | Content-Length: 0 | Content-Encoding: br | Content-Range: y | Content-Language: de \
            | Connection: X-Bar | X-Bar: hop | Set-Cookie: a=b | Transfer-Encoding: chunked
            """
        let new = try #require(updated(stored, answer))
        #expect(new.headers["content-type"] == "image/png")
        #expect(new.headers["content-length"] == "5")
        #expect(new.headers["content-encoding"] == "gzip")
        #expect(new.headers["content-range"] == "x")
        #expect(new.headers["content-language"] == "de")
        #expect(new.headers["x-bar"] == "old")
        #expect(new.headers["set-cookie"] == nil)
        #expect(new.headers["transfer-encoding"] == nil)
    }

    @Test func `A 304 without Date and Age has the age of the exchange`() throws {
        let new = try #require(updated(stored, "ETag: \"a\""))
        #expect(new.headers["date"] == nil)
        #expect(new.headers["age"] == nil)
        #expect(new.age(at: CacheRow.start + 110) == 10)
        #expect(new.cacheStatus(at: CacheRow.start + 159).isFresh)
        #expect(!new.cacheStatus(at: CacheRow.start + 160).isFresh)
    }

    @Test func `A 304 can change the cache directives`() throws {
        let strict = try #require(updated(stored, "Cache-Control: no-cache"))
        let request = HTTPCacheRequest()
        let now = CacheRow.start + 101
        let decision = HTTPCacheMachine.decide(strict, isStored: true, request: request, policy: .http, now: now)
        #expect(CacheRow.text(decision) == "ask noCache, never (fresh)")
        let varying = try #require(updated(stored, "Vary: Foo", sent: ["Foo": "1", "Bar": "2"]))
        #expect(varying.selectingHeaders == ["foo": "1"])
        #expect(!varying.isSelected(by: request))
        #expect(varying.isSelected(by: HTTPCacheRequest(headers: ["Foo": "1"])))
    }

    @Test func `Times, fields and redirects of the exchange count`() throws {
        let record = CacheRow("Vary: Foo | ETag: \"a\"", asked: "Foo: 1", via: "302", at: 0, "").record
        #expect(record.redirectLifetime == 0)
        var answer = CacheRow.answer("", status: 304)
        let kept = HTTPCacheMachine.updated(
            record,
            by: answer,
            request: HTTPCacheRequest(headers: ["Foo": "1"]),
            now: 9
        )
        #expect(try #require(kept).redirectLifetime == 0)
        answer.exchange = HTTPExchange(requestHeaders: ["Foo": "2"], requestTime: 20, responseTime: 25)
        let new = try #require(HTTPCacheMachine.updated(record, by: answer, request: HTTPCacheRequest(), now: 99))
        #expect(new.requestTime == 20)
        #expect(new.responseTime == 25)
        #expect(new.selectingHeaders == ["foo": "2"])
        #expect(new.redirectLifetime == nil)
    }

    @Test func `A record does not grow with every 304`() throws {
        var record = stored
        for round in 0..<40 {
            var answer = CacheRow.answer("ETag: \"a\"", status: 304)
            answer.headers.add(name: "X-Round-\(round)", value: String(repeating: "x", count: 1000))
            record = try #require(HTTPCacheMachine.updated(record, by: answer, request: HTTPCacheRequest(), now: 0))
            let size = record.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
            #expect(size <= HTTPHeaders.keptByteCount)
        }
        #expect(record.headers["etag"] == "\"a\"")
        #expect(record.headers["cache-control"] != nil)
    }

    @Test func `A delivered image has its age`() {
        let response = HTTPCacheMachine.delivered(stored, url: CacheRow.url, now: CacheRow.start + 5.9)
        #expect(response.statusCode == 200)
        #expect(response.url == CacheRow.url)
        #expect(response.headers["Age"] == "12")
        #expect(response.headers["Date"] == stored.headers["Date"])
        #expect(response.headers["X-Foo"] == "1, 2")
        #expect(response.headers.fields.count == stored.headers.fields.count)
        for now in [Double.infinity, 1e300] {
            #expect(HTTPCacheMachine.delivered(stored, url: CacheRow.url, now: now).headers["Age"] == "2147483648")
        }
    }

    @Test(
        arguments: [
            ("\"a\"", false, "\"a\""), ("W/\"a\"", true, "\"a\""), ("w/\"a\"", true, "\"a\""),
            (" \"a\"\t", false, "\"a\""),
            ("a", false, "a"), ("W/", nil, ""), ("", nil, ""), ("  ", nil, ""), ("W\"a\"", false, "W\"a\""),
            ("/", false, "/"),
        ] as [(String, Bool?, String)]
    )
    func `An entity tag consists of a weakness mark and its opaque part`(text: String, isWeak: Bool?, opaque: String) {
        let tag = HTTPEntityTag(text)
        #expect(tag?.isWeak == isWeak)
        #expect(tag.map { $0.opaque == opaque } ?? (isWeak == nil))
    }
}
