import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageLoading

/// Images of one URL that vary by a request field, from a server that answers 304 to a date as well as to a tag.
@Suite(.timeLimit(.minutes(1))) struct HTTPVariantTests {
    private static let date = "Wed, 01 Jan 2020 00:00:00 GMT"

    private func server(hasTags: Bool) throws -> LoopbackServer {
        try LoopbackServer { request in
            guard let variant = request.header("Foo").flatMap(Int.init) else { return .response(400) }
            let tag = "\"\(variant)\""
            let isKnown =
                request.header("If-None-Match").map { $0 == tag } ?? (request.header("If-Modified-Since") == Self.date)
            let fields = [("Cache-Control", "max-age=60"), ("Vary", "Foo"), ("Last-Modified", Self.date)]
            let all = hasTags ? fields + [("ETag", tag)] : fields
            return isKnown
                ? .response(304, headers: all)
                : .response(headers: all, body: PNGBomb.make(width: variant, height: 1))
        }
    }

    @Test(arguments: [true, false])
    func `Each request gets its own variant, whichever validators the server has`(hasTags: Bool) async throws {
        let server = try server(hasTags: hasTags)
        let client = HTTPCacheClient(clock: ManualClock())
        for variant in [1, 2, 1, 1, 2] {
            let outcome = await client.load(server.url("/a.png"), headers: ["Foo": "\(variant)"])
            #expect(outcome.width == variant)
        }
        // One of them is delivered from the cache.
        #expect(server.requestCount() == 4)
        client.clock.advance(70)
        #expect(await client.load(server.url("/a.png"), headers: ["Foo": "2"]).width == 2)
        let last = try #require(server.requests.last)
        #expect(last.header("If-Modified-Since") == Self.date && (last.header("If-None-Match") != nil) == hasTags)
    }

    @Test(arguments: ["1", nil])
    func `A response stored for another request is revalidated only by its tag`(etag: String?) throws {
        var response = HTTPResponse(url: URL(fileURLWithPath: "/a"), statusCode: 200)
        response.headers = ["Vary": "Foo", "Last-Modified": Self.date]
        response.headers["ETag"] = etag
        let stored = HTTPCacheRequest(headers: ["Foo": "1"])
        let record = HTTPCacheMachine.record(of: response, request: stored, now: 0)
        let known = CacheValidators(record: record, receivedHash: nil)
        let same = StorageRule(policy: .http, request: stored).conditions(from: known)
        #expect(same?.etag == etag && same?.lastModified == Self.date)
        let other = HTTPCacheRequest(headers: ["Foo": "2"])
        let conditions = StorageRule(policy: .http, request: other).conditions(from: known)
        #expect(conditions?.etag == etag && conditions?.lastModified == nil)
        // Other policies keep one image per URL.
        #expect(StorageRule(policy: .revalidate, request: other).conditions(from: known) == known)
        #expect(StorageRule(policy: .http, request: other).conditions(from: nil) == nil)
    }
}
