import FoundationEssentials
import Testing
import WebImage

@testable import WebImageLoading
@testable import WebImageModel

/// Stored responses, their fields, and remembered errors.
@Suite struct HTTPCacheStoringTests {
    @Test(arguments: [
        (200, "", "", true), (200, "Cache-Control: max-age=60", "", true), (200, "Cache-Control: private", "", true),
        (200, "Cache-Control: no-cache", "", true), (200, "Cache-Control: max-age=0", "", true),
        (200, "Cache-Control: no-store", "", false), (200, "Cache-Control: No-StOrE", "", false),
        (200, "Cache-Control: no-store=\"x\"", "", false), (200, "Cache-Control: no-store x", "", false),
        (200, "Cache-Control: max-age=60, no-store, public | Expires: {60}", "", false),
        (200, "Cache-Control: max-age=60 | Cache-Control: no-store", "", false),
        (200, "Cache-Control: no-store, must-understand, max-age=60", "", false),
        (200, "Cache-Control: foo=\"no-store\"", "", true), (200, "Cache-Control: foo=\"open, no-store", "", false),
        (200, "Connection: cache-control | Cache-Control: no-store", "", false),
        (200, "Pragma: no-cache", "", true), (200, "", "Cache-Control: no-store", false),
        (200, "Cache-Control: max-age=60", "Cache-Control: no-store", false),
        (200, "", "Cache-Control: no-cache", true),
        (200, "Cache-Control: max-age=60", "Authorization: a", true), (200, "Set-Cookie: a=b", "Cookie: a=b", true),
        (200, "Vary: *", "", false), (200, "Vary: * | ETag: \"a\"", "", true), (200, "Vary: Foo", "", true),
        (206, "Cache-Control: max-age=60 | ETag: \"a\"", "", false), (304, "Cache-Control: max-age=60", "", false),
        (100, "Cache-Control: max-age=60", "", false), (600, "Cache-Control: max-age=60", "", false),
        (203, "", "", true), (404, "", "", true), (410, "", "", true), (201, "", "", false), (500, "", "", false),
        (201, "Cache-Control: max-age=60", "", true), (500, "Expires: {60}", "", true), (599, "ETag: \"a\"", "", true),
        (599, "Cache-Control: public", "", true), (599, "Cache-Control: private", "", true), (599, "Age: 1", "", false),
        (599, "Cache-Control: must-understand, max-age=60", "", false),
        (299, "Cache-Control: must-understand, max-age=60", "", false),
        (200, "Cache-Control: must-understand, max-age=60", "", true),
    ])
    func `Status and fields decide whether a response may be stored`(
        status: Int,
        response: String,
        request: String,
        isStored: Bool
    ) {
        let answer = CacheRow.answer(response, status: status)
        let request = HTTPCacheRequest(headers: CacheRow.headers(request))
        #expect(HTTPCacheMachine.mayStore(answer, request: request, policy: .http) == isStored)
        for policy in [CachePolicy.immutable, .revalidate, .ttl(5)] {
            #expect(HTTPCacheMachine.mayStore(answer, request: request, policy: policy) == (status != 304))
        }
    }

    @Test(
        arguments: [
            (404, "", "", 60), (410, "", "", 60), (404, "Cache-Control: max-age=5", "", 5),
            (410, "Expires: {90}", "", 90),
            (404, "Cache-Control: max-age=90 | Age: 30", "", 60), (404, "Cache-Control: max-age=9000", "", 9000),
            (404, "Cache-Control: max-age=30 | Age: 30", "", nil), (404, "Cache-Control: max-age=0", "", nil),
            (404, "Cache-Control: max-age=x", "", nil), (404, "Expires: 0", "", nil),
            (404, "Cache-Control: no-store", "", nil),
            (404, "Cache-Control: no-cache, max-age=60", "", nil), (404, "", "Cache-Control: no-store", nil),
            (404, "", "Cache-Control: no-cache", nil), (404, "", "Pragma: no-cache", nil), (404, "Vary: *", "", nil),
            (404, "Vary: * | ETag: \"a\"", "", nil), (404, "Vary: Accept", "", 60),
            (404, "Vary: Accept, Cookie", "", nil),
            (404, "Vary: Authorization", "", nil), (404, "Last-Modified: {-900000}", "", 60),
            (403, "Cache-Control: max-age=60", "", nil), (200, "Cache-Control: max-age=60", "", nil),
            (500, "Cache-Control: max-age=60", "", nil), (451, "Cache-Control: max-age=60", "", nil),
        ] as [(Int, String, String, Double?)]
    )
    func `A missing image is remembered for its lifetime, or shortly`(
        status: Int,
        response: String,
        request: String,
        seconds: Double?
    ) {
        func lifetime(_ policy: CachePolicy) -> Double? {
            HTTPCacheMachine.negativeLifetime(
                of: CacheRow.answer(response, status: status),
                request: HTTPCacheRequest(headers: CacheRow.headers(request)),
                policy: policy,
                now: CacheRow.start
            )
        }
        #expect(lifetime(.http) == seconds)
        #expect(lifetime(.immutable) == nil)
        #expect(lifetime(.ttl(60)) == nil)
        #expect(lifetime(.revalidate) == nil)
    }

    @Test func `A record has the end-to-end fields, without cookies and the names of its own lines`() {
        let record = CacheRow(
            """
            Connection: close, X-Hop, cache-control | X-Hop: 1 | Keep-Alive: 5 | Proxy-Connection: x | TE: x | Trailer: x \
            | Transfer-Encoding: chunked | Upgrade: x | Proxy-Authenticate: x | Proxy-Authorization: x \
            | Set-Cookie: a=b | Set-Cookie2: a=b | Cache-Control: max-age=60 | X-Foo: 1 | x-foo: 2 | ETag: "a" \
            | X-HTTP-Status: 500 | X-Received-Hash: 0 | Content-Length: 5 | Bad Name: 1
            """,
            at: 0,
            ""
        ).record
        let fields = record.headers.fields.map { "\($0.name): \($0.value)" }
        #expect(fields == ["cache-control: max-age=60", "x-foo: 1", "x-foo: 2", "etag: \"a\"", "content-length: 5"])
        #expect(record.facts.validators?.etag == "\"a\"")
    }

    @Test func `A value with a line break or a zero byte is not kept`() {
        var response = CacheRow.answer("ETag: \"a\"")
        for (name, value) in [("X-A", "1\r2"), ("X-B", "1\n2"), ("X-C", "1\u{0}2"), ("X-D", "ok")] {
            response.headers.add(name: name, value: value)
        }
        let record = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 5)
        #expect(record.headers.fields.map(\.name) == ["etag", "x-d"])
    }

    @Test func `Times and fields are those of the exchange, or the caller's`() {
        var response = CacheRow.answer("Vary: Foo, Bar")
        let request = HTTPCacheRequest(headers: ["Foo": "of the caller", "Other": "1"])
        let plain = HTTPCacheMachine.record(of: response, request: request, now: 50)
        #expect(plain.requestTime == 50)
        #expect(plain.responseTime == 50)
        #expect(plain.selectingHeaders == ["foo": "of the caller"])
        #expect(plain.redirectLifetime == nil)
        response.exchange = HTTPExchange(
            requestHeaders: ["Bar": "1", "BAR": "2"],
            requestTime: 10,
            responseTime: 12,
            redirects: [.init(statusCode: 302, headers: [:])]
        )
        let exact = HTTPCacheMachine.record(of: response, request: request, now: 50)
        #expect(exact.requestTime == 10)
        #expect(exact.responseTime == 12)
        #expect(exact.selectingHeaders == ["bar": "1, 2"])
        #expect(exact.redirectLifetime == 0)
    }

    @Test func `Secrets that Vary names are not in the record`() {
        let record = CacheRow(
            "Vary: Cookie, Authorization, Proxy-Authorization, Accept",
            asked: "Cookie: secret | Authorization: secret | Proxy-Authorization: secret | Accept: image/png",
            at: 0,
            ""
        ).record
        #expect(record.selectingHeaders.fields.count == 4)
        #expect(record.selectingHeaders["accept"] == "image/png")
        #expect(!record.encodedLines().contains { $0.contains("secret") })
    }

    @Test func `If fields exceed the limit, those that control caching are kept`() {
        var response = CacheRow.answer(
            "Cache-Control: max-age=60 | Vary: Accept | ETag: \"a\" | Last-Modified: {-9} | Date: {0} | Content-Type: image/png"
        )
        response.headers.add(name: "X-Fill", value: String(repeating: "x", count: 15_000))
        let whole = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 0)
        #expect(whole.headers["x-fill"] != nil)
        response.headers.add(name: "X-More", value: String(repeating: "y", count: 2000))
        let small = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 0)
        let names = ["cache-control", "vary", "date", "etag", "last-modified", "content-type"]
        #expect(small.headers.fields.map(\.name) == names)
        for name in names { #expect(small.headers[name] == response.headers[name]) }
    }

    @Test(
        arguments: [
            ("Cache-Control", "max-age=60, x=", "no-cache"), ("Vary", "Accept, ", "*"), ("Expires", "x", "0"),
            ("ETag", "\"a", nil), ("Content-Type", "image/png;", nil),
        ] as [(String, String, String?)]
    )
    func `A value that is too long counts as the strictest one`(name: String, start: String, kept: String?) {
        var response = CacheRow.answer("X-A: 1")
        response.headers.add(name: name, value: start + String(repeating: "x", count: 17_000))
        let record = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 0)
        #expect(record.headers[name] == kept)
        #expect(record.headers["x-a"] == nil)
    }

    @Test func `Many long lines of one name do not exceed the limit`() {
        var response = CacheRow.answer("")
        for name in [
            "Cache-Control", "Vary", "ETag", "Last-Modified", "Date", "Age", "Pragma", "Content-Type", "Expires",
        ] {
            for _ in 0..<100 { response.headers.add(name: name, value: String(repeating: "a", count: 40)) }
        }
        let record = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 0)
        let size = record.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        #expect(size <= HTTPHeaders.keptByteCount)
    }

    @Test func `A response to request fields that are too long to be kept matches no other request`() {
        let long = String(repeating: "a", count: 9000)
        var response = CacheRow.answer("Cache-Control: max-age=60 | Vary: Foo | ETag: \"a\"")
        response.exchange = HTTPExchange(requestHeaders: ["Foo": long], requestTime: 0, responseTime: 0)
        let record = HTTPCacheMachine.record(of: response, request: HTTPCacheRequest(), now: 0)
        #expect(record.headers["vary"] == "*")
        #expect(record.selectingHeaders.fields.isEmpty)
        let request = HTTPCacheRequest(headers: ["Foo": long])
        let decision = HTTPCacheMachine.decide(record, isStored: true, request: request, policy: .http, now: 1)
        #expect(CacheRow.text(decision) == "ask variesOnAll, never (fresh)")
    }
}
