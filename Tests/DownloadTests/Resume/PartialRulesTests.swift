import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageHTTP

/// The rules for keeping bodies, and for using them.
@Suite struct PartialRulesTests {
    private static let now = 784_111_777.0 + 86_400
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var headers: HTTPHeaders
        var status = 200
        /// Nil when nothing is kept.
        var validator: String?
    }

    static let rows: [Row] = [
        Row(testDescription: "a strong tag", headers: ["ETag": "\"a\""], validator: "\"a\""),
        Row(testDescription: "an empty tag", headers: ["ETag": "\"\""], validator: "\"\""),
        Row(testDescription: "a weak tag", headers: ["ETag": "W/\"a\""]),
        Row(testDescription: "a tag without quotes", headers: ["ETag": "a"]),
        Row(testDescription: "half a tag", headers: ["ETag": "\""]),
        Row(testDescription: "a tag with a quote in it", headers: ["ETag": "\"a\"b\""]),
        Row(testDescription: "a tag with a blank in it", headers: ["ETag": "\"a b\""]),
        Row(testDescription: "a tag that is too long", headers: ["ETag": "\"\(String(repeating: "a", count: 600))\""]),
        Row(testDescription: "no validator", headers: [:]),
        Row(
            testDescription: "an old date",
            headers: ["Last-Modified": modified, "Date": "Sun, 06 Nov 1994 08:49:38 GMT"],
            validator: modified
        ),
        Row(
            testDescription: "the date of this second",
            headers: ["Last-Modified": modified, "Date": modified]
        ),
        Row(
            testDescription: "a date after the server's own",
            headers: ["Last-Modified": modified, "Date": "Sun, 06 Nov 1994 08:49:30 GMT"]
        ),
        Row(testDescription: "only a date", headers: ["Last-Modified": modified]),
        Row(testDescription: "no date", headers: ["Last-Modified": "yesterday", "Date": modified]),
        Row(
            testDescription: "an old date beside a weak tag",
            headers: ["ETag": "W/\"a\"", "Last-Modified": modified, "Date": "Sun, 06 Nov 1994 09:49:38 GMT"]
        ),
        Row(
            testDescription: "an old date beside a strong tag",
            headers: ["ETag": "\"a\"", "Last-Modified": modified, "Date": "Sun, 06 Nov 1994 09:49:38 GMT"],
            validator: "\"a\""
        ),
        Row(testDescription: "a content coding", headers: ["ETag": "\"a\"", "Content-Encoding": "gzip"]),
        Row(
            testDescription: "the coding that is none",
            headers: ["ETag": "\"a\"", "Content-Encoding": "Identity"],
            validator: "\"a\""
        ),
        Row(testDescription: "chunks", headers: ["ETag": "\"a\"", "Transfer-Encoding": "Chunked"], validator: "\"a\""),
        Row(testDescription: "coded chunks", headers: ["ETag": "\"a\"", "Transfer-Encoding": "gzip, chunked"]),
        Row(testDescription: "no ranges", headers: ["ETag": "\"a\"", "Accept-Ranges": "none"]),
        Row(testDescription: "ranges", headers: ["ETag": "\"a\"", "Accept-Ranges": "bytes"], validator: "\"a\""),
        Row(testDescription: "no-store", headers: ["ETag": "\"a\"", "Cache-Control": "private, No-Store"]),
        Row(
            testDescription: "a directive that only looks like it",
            headers: ["ETag": "\"a\"", "Cache-Control": "no-storehouse, max-age=1"],
            validator: "\"a\""
        ),
        Row(testDescription: "another status", headers: ["ETag": "\"a\""], status: 203),
        Row(testDescription: "a part", headers: ["ETag": "\"a\""], status: 206),
        Row(testDescription: "an error", headers: ["ETag": "\"a\""], status: 500),
    ]

    @Test(arguments: rows) func `A kept part has a strong validator and no content coding`(row: Row) {
        let response = HTTPResponse(url: testURL("/a.jpg"), statusCode: row.status, headers: row.headers)
        let head = PartialRules.head(of: response, to: .plain, now: Self.now)
        #expect(head?.validator.text == row.validator)
        #expect(head == nil || head?.key == PartialKey(.plain))
    }

    @Test func `The length counts only if it is one of the body`() {
        func total(_ headers: HTTPHeaders) -> Int64? {
            let response = HTTPResponse(
                url: testURL("/"),
                statusCode: 200,
                headers: headers.overlaid(with: ["ETag": "\"a\""])
            )
            return PartialRules.head(of: response, to: .plain, now: Self.now)?.total
        }
        #expect(total(["Content-Length": "70000"]) == 70_000)
        #expect(total(["Content-Length": "70000", "Transfer-Encoding": "chunked"]) == nil)
        #expect(total([:]) == nil)
    }

    @Test(arguments: ["Range", "If-Range", "If-Match", "If-Unmodified-Since"])
    func `Nothing is kept of requests with their own ranges or conditions`(name: String) {
        #expect(PartialKey(.plain("/a", headers: [name: "\"a\""])) == nil)
    }

    @Test func `Nothing is kept of requests other than GET, or those that forbid storing`() {
        var post = DownloadRequest.plain
        post.method = "POST"
        var body = DownloadRequest.plain
        body.body = Data([1])
        let forbidding = DownloadRequest.plain("/a", headers: ["Cache-Control": "no-store"])
        for request in [post, body, forbidding] { #expect(PartialKey(request) == nil) }
        #expect(PartialKey(.plain("/" + String(repeating: "a", count: 5000))) != nil, "however long the URL")
    }

    @Test func `A part is used only for the same URL, fields, credential and options`() {
        var others = [
            DownloadRequest.plain("/b.jpg", headers: ["Accept": "image/*"]),
            .plain("/a.jpg", headers: ["Accept": "image/png"]),
            .plain("/a.jpg"),
            .plain("/a.jpg", headers: ["Accept": "image/*", "Authorization": "Bearer one"]),
            .plain("/a.jpg", headers: ["Accept": "image/*", "Authorization": "Bearer two"]),
            .plain("/a.jpg", headers: ["Accept": "image/*", "Cookie": "a=1"]),
        ]
        for (user, password) in [("a", "b"), ("ab", ""), ("a\nb", "")] {
            var request = DownloadRequest.plain
            request.credential = WebImageCredential(user: user, password: password)
            others.append(request)
        }
        var cookies = DownloadRequest.plain
        cookies.handlesCookies = true
        var trusting = DownloadRequest.plain
        trusting.verifiesCertificates = false
        let keys = (others + [cookies, trusting, .plain]).compactMap { PartialKey($0) }
        #expect(keys.count == 12 && Set(keys).count == 12 && Set(keys.map(\.text)).count == 12)
    }

    @Test func `Conditions, and the order and case of names, do not change the part's key`() {
        let some: HTTPHeaders = ["X-A": "1", "Accept": "image/*"]
        let same: HTTPHeaders = [
            "accept": "image/*", "If-None-Match": "\"x\"", "x-a": "1", "Cache-Control": "no-cache",
            "Pragma": "no-cache",
            "If-Modified-Since": Self.modified,
        ]
        #expect(PartialKey(.plain("/a", headers: some)) == PartialKey(.plain("/a", headers: same)))
    }

    @Test func `Secrets are not in the key`() throws {
        let key = try #require(PartialKey(.plain("/a", headers: ["Authorization": "Bearer secret"])))
        #expect(key.digest.utf8.count == 32)
        #expect(!key.digest.contains("secret"))
        #expect(key.urlHash == PartialKey.hash(of: testURL("/a").absoluteString))
        #expect(PartialKey.urlHash(inFileName: CacheFileName(key: key.text).string) == key.urlHash)
        for name in ["", "CACHEDIR.TAG", key.digest] { #expect(PartialKey.urlHash(inFileName: name) == nil) }
    }

    @Test func `The length of a response's description of a part is limited`() throws {
        let request = DownloadRequest.plain("/" + String(repeating: "a", count: 100_000))
        let headers: HTTPHeaders = [
            "ETag": "\"\(String(repeating: "e", count: 510))\"",
            "Last-Modified": String(repeating: "m", count: 65),
            "Content-Type": String(repeating: "t", count: 257),
        ]
        let response = HTTPResponse(url: request.url, statusCode: 200, headers: headers)
        let head = try #require(PartialRules.head(of: response, to: request, now: 0))
        #expect(head.contentType == nil && head.lastModified == nil)
    }
}
