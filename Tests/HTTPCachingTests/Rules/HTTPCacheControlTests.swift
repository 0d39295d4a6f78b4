import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageCodecs
@testable import WebImageLoading
@testable import WebImageModel

@Suite struct HTTPCacheControlTests {
    @Test(
        arguments: [
            ("a", ["a"]), ("A-b", ["a-b"]), ("a,b", ["a", "b"]), (" a ,\t b ", ["a", "b"]), (",, a,,", ["a"]), ("", []),
            (" , ", []), ("a=1", ["a=1"]), ("a=\"1\"", ["a=1"]), ("a=\"1,2\", b", ["a=1,2", "b"]), ("a=\"\"", ["a="]),
            ("a=\"\\\"\\\\\"", ["a=\"\\"]), ("a=", ["a?"]), ("a= 1", ["a?"]), ("a =1", ["a?"]), ("a b", ["a?"]),
            ("a=1 b, c", ["a?", "c"]), ("a=1\"2\", c", ["a?", "c"]), ("a=\"1\"2, c", ["a?", "c"]),
            ("a=\"1, b=2, c", ["a?", "b=2", "c"]), ("a=\"1\\", ["a?"]), ("=1, b", ["=1", "b"]),
            ("\"a\", b", ["?", "b"]),
            ("\"a, b", ["?", "b"]), ("a x=\"b, c\", d", ["a?", "d"]), ("a==1", ["a==1"]), ("a='1, b", ["a='1", "b"]),
            ("a=\"1\" , b", ["a=1", "b"]), ("Ä=1", ["Ä=1"]),
        ] as [(String, [String])]
    )
    func `A list is parsed directive by directive`(text: String, directives: [String]) {
        var reader = HTTPDirectiveReader(text)
        var found: [String] = []
        while let directive = reader.next() {
            switch directive.argument {
            case .none: found.append(directive.name)
            case .text(let bytes): found.append("\(directive.name)=\(String(decoding: bytes, as: UTF8.self))")
            case .malformed: found.append("\(directive.name)?")
            }
        }
        #expect(found == directives)
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("0060", 60), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648),
            ("2147483649", 2_147_483_648), ("99999999999999999999999999999999999999999", 2_147_483_648), ("", nil),
            ("-1", nil), ("+1", nil), ("1.5", nil), ("1e3", nil), ("0x10", nil), (" 1", nil), ("1 ", nil), ("٦", nil),
            ("1_000", nil), ("NaN", nil), ("inf", nil),
        ] as [(String, Double?)]
    )
    func `Seconds are digits only, and are limited to the largest value`(text: String, seconds: Double?) {
        #expect(HTTPDirective.seconds(text.utf8) == seconds)
    }

    @Test func `Every directive is parsed`() {
        let control = HTTPCacheControl([
            "Cache-Control": """
            no-store, no-cache, must-revalidate, must-understand, public, private, immutable, only-if-cached, max-age=1, \
            min-fresh=2, max-stale=3, stale-while-revalidate=4, stale-if-error=5, no-transform, s-maxage=6, unknown=7
            """
        ])
        let all: HTTPCacheControl.Flags = [
            .noStore, .noCache, .mustRevalidate, .mustUnderstand, .isPublic, .isPrivate, .immutable, .onlyIfCached,
        ]
        #expect(control.flags == all)
        #expect(control.maxAge == 1)
        #expect(control.minFresh == 2)
        #expect(control.maxStale == 3)
        #expect(control.staleWhileRevalidate == 4)
        #expect(control.staleIfError == 5)
        #expect(HTTPCacheControl(["Cache-Control": "", "Expires": "0"]) == HTTPCacheControl())
    }

    @Test func `Of a repeated directive the strictest value counts`() {
        let control = HTTPCacheControl([
            "Cache-Control": "max-age=5, min-fresh=5, max-stale=5, stale-while-revalidate=5, stale-if-error=5",
            "cache-control": "max-age=9, min-fresh=9, max-stale, stale-while-revalidate=x, stale-if-error=9, public",
            "CACHE-CONTROL": "public",
        ])
        #expect(control.maxAge == 5)
        #expect(control.minFresh == 9)
        #expect(control.maxStale == 5)
        #expect(control.staleWhileRevalidate == 0)
        #expect(control.staleIfError == 5)
        #expect(control.flags == .isPublic)
    }

    @Test func `Pragma in a request counts as no-cache only without Cache-Control`() {
        #expect(HTTPCacheRequest(headers: ["Pragma": "no-cache"]).control.says(.noCache))
        let request = HTTPCacheRequest(headers: ["Pragma": "no-cache", "Cache-Control": "max-age=5"])
        #expect(!request.control.says(.noCache))
        #expect(request.control.maxAge == 5)
        #expect(HTTPCacheRequest().control == HTTPCacheControl())
        #expect(!HTTPCacheRequest().handlesCookies)
    }

    @Test func `Long and hostile lists take time in proportion to their length`() {
        let pieces = ["\"", "\\\"", "\"\\", ",", "=", "=\"", " ", "a=\"\\\"", "\"\"", "a=\"b\\"]
        for piece in pieces {
            let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
            var reader = HTTPDirectiveReader(text)
            var count = 0
            let time = ContinuousClock().measure { while reader.next() != nil { count += 1 } }
            #expect(count <= text.utf8.count)
            // Quadratic time would be minutes.
            #expect(time < .seconds(20))
        }
    }

    @Test(arguments: 0..<8)
    func `Random bytes never trap a parser`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\"\\,= \t;:*/Wa0192-no-store max-age=GMT,Tue, 14 Nov 2023 22:13:20 \u{0}\u{7F}\r\n".utf8)
        let names = [
            "Cache-Control", "Vary", "Age", "Date", "Expires", "Last-Modified", "ETag", "Connection", "Pragma",
        ]
        for _ in 0..<300 {
            var headers = HTTPHeaders()
            for _ in 0..<random.below(6) {
                let bytes = (0..<random.below(60)).map { _ in
                    random.below(4) == 0 ? UInt8(random.below(256)) : alphabet[random.below(alphabet.count)]
                }
                headers.add(name: names[random.below(names.count)], value: String(decoding: bytes, as: UTF8.self))
            }
            let response = HTTPResponse(url: CacheRow.url, statusCode: 100 + random.below(600), headers: headers)
            let request = HTTPCacheRequest(headers: headers)
            let now = random.unit() * 4e9
            let record = HTTPCacheMachine.record(of: response, request: request, now: now)
            #expect(record.age(at: now) >= 0)
            let decision = HTTPCacheMachine.decide(record, isStored: true, request: request, policy: .http, now: now)
            if record.facts.control.says(.noCache) || record.facts.variesOnAll {
                #expect(!CacheRow.text(decision).hasPrefix("hit"))
            }
            #expect(HTTPCacheRecord(lines: record.encodedLines()) == record)
            _ = HTTPCacheMachine.updated(record, by: response, request: request, now: now)
            _ = HTTPCacheMachine.mayStore(response, request: request, policy: .http)
        }
    }
}
