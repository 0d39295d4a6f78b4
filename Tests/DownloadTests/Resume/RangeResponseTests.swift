import FoundationEssentials
import HTTPTestSupport
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageHTTP

/// Responses to range requests. The part has 10 000 of 65 536 bytes, and everything from 5904 on is requested. Unless
/// stated otherwise, responses have the part's tag.
@Suite struct RangeResponseTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status = 206
        var headers: HTTPHeaders
        var expected: Meaning
    }

    enum Meaning: Sendable { case rest, whole, useless, unrelated }

    private static let tag = "\"one\""
    private static let fitting = "bytes 5904-65535/65536"

    static let rows: [Row] = [
        Row(testDescription: "the rest", headers: ["Content-Range": fitting], expected: .rest),
        Row(testDescription: "unit in capitals", headers: ["Content-Range": "BYTES 5904-65535/65536"], expected: .rest),
        Row(
            testDescription: "with its length",
            headers: ["Content-Range": fitting, "Content-Length": "59632"],
            expected: .rest
        ),
        Row(
            testDescription: "in chunks",
            headers: ["Content-Range": fitting, "Transfer-Encoding": "chunked"],
            expected: .rest
        ),
        Row(
            testDescription: "another length",
            headers: ["Content-Range": fitting, "Content-Length": "59631"],
            expected: .useless
        ),
        Row(
            testDescription: "another tag",
            headers: ["ETag": "\"two\"", "Content-Range": fitting],
            expected: .useless
        ),
        Row(
            testDescription: "the tag, but weak",
            headers: ["ETag": "W/\"one\"", "Content-Range": fitting],
            expected: .useless
        ),
        Row(testDescription: "no range", headers: ["ETag": tag], expected: .useless),
        Row(
            testDescription: "an earlier start",
            headers: ["Content-Range": "bytes 5903-65535/65536"],
            expected: .useless
        ),
        Row(
            testDescription: "a later start",
            headers: ["Content-Range": "bytes 10000-65535/65536"],
            expected: .useless
        ),
        Row(testDescription: "an early end", headers: ["Content-Range": "bytes 5904-60000/65536"], expected: .useless),
        Row(testDescription: "another total", headers: ["Content-Range": "bytes 5904-65536/65537"], expected: .useless),
        Row(testDescription: "an unknown total", headers: ["Content-Range": "bytes 5904-65535/*"], expected: .useless),
        Row(testDescription: "no range at all", headers: ["Content-Range": "bytes */65536"], expected: .useless),
        Row(testDescription: "another unit", headers: ["Content-Range": "lines 5904-65535/65536"], expected: .useless),
        Row(testDescription: "two ranges", headers: ["Content-Range": "\(fitting), \(fitting)"], expected: .useless),
        Row(
            testDescription: "several parts",
            headers: ["Content-Type": "multipart/byteranges; boundary=x"],
            expected: .useless
        ),
        Row(
            testDescription: "several parts with a range",
            headers: ["Content-Type": "Multipart/ByteRanges", "Content-Range": fitting],
            expected: .useless
        ),
        Row(
            testDescription: "a content coding",
            headers: ["Content-Range": fitting, "Content-Encoding": "gzip"],
            expected: .useless
        ),
        Row(testDescription: "416", status: 416, headers: ["Content-Range": "bytes */5000"], expected: .useless),
        Row(testDescription: "200", status: 200, headers: ["ETag": tag], expected: .whole),
        Row(testDescription: "203", status: 203, headers: [:], expected: .whole),
        Row(testDescription: "204", status: 204, headers: [:], expected: .whole),
        Row(testDescription: "404", status: 404, headers: [:], expected: .whole),
        Row(testDescription: "410", status: 410, headers: [:], expected: .whole),
        Row(testDescription: "304", status: 304, headers: ["ETag": tag], expected: .unrelated),
        Row(testDescription: "302", status: 302, headers: [:], expected: .unrelated),
        Row(testDescription: "401", status: 401, headers: [:], expected: .unrelated),
        Row(testDescription: "429", status: 429, headers: [:], expected: .unrelated),
        Row(testDescription: "500", status: 500, headers: [:], expected: .unrelated),
        Row(testDescription: "503", status: 503, headers: [:], expected: .unrelated),
    ]

    private func part(total: Int? = 65_536) -> PartialHead { PartialDownload.sample([], total: total).head }

    private func answer(_ status: Int, _ headers: HTTPHeaders, _ part: PartialHead) -> RangeResponse {
        answer(untagged: status, (["ETag": Self.tag] as HTTPHeaders).overlaid(with: headers), part)
    }

    private func answer(untagged status: Int, _ headers: HTTPHeaders, _ part: PartialHead) -> RangeResponse {
        RangeResponse(HTTPResponse(url: testURL("/"), statusCode: status, headers: headers), part: part, count: 10_000)
    }

    private func rest(_ headers: HTTPHeaders, _ part: PartialHead) -> HTTPResponse? {
        guard case .rest(let whole) = answer(206, headers, part) else { return nil }
        return whole
    }

    @Test(arguments: rows) func `A partial response is accepted only if everything matches`(row: Row) {
        let meaning: Meaning =
            switch answer(row.status, row.headers, part()) {
            case .rest: .rest
            case .whole: .whole
            case .useless: .useless
            case .unrelated: .unrelated
            }
        #expect(meaning == row.expected)
    }

    @Test func `An unknown total may be any that exceeds the part`() {
        let part = part(total: nil)
        #expect(rest(["Content-Range": "bytes 5904-9999/10000"], part) != nil, "the part may be all there is")
        #expect(answer(206, ["Content-Range": "bytes 5904-9998/9999"], part) == .useless)
    }

    @Test func `A partial response without the tag may be of another version`() {
        #expect(answer(untagged: 206, ["Content-Range": Self.fitting], part()) == .useless)
        let dated: HTTPHeaders = ["Content-Range": Self.fitting, "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(answer(untagged: 206, dated, part()) == .useless)
    }

    @Test func `The date must be the same if the server sends one`() {
        var part = part()
        part.validator = .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")
        let other: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT", "Content-Range": Self.fitting]
        #expect(answer(206, other, part) == .useless)
        let same: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Content-Range": Self.fitting]
        #expect(rest(same, part) != nil)
        guard case .rest = answer(untagged: 206, ["Content-Range": Self.fitting], part) else {
            Issue.record("a date may be left out")
            return
        }
    }

    @Test func `The partial response is converted to the response for the whole`() throws {
        let headers: HTTPHeaders = [
            "Content-Range": Self.fitting, "Content-Length": "59632", "Cache-Control": "max-age=60",
        ]
        let whole = try #require(rest(headers, part()))
        #expect(whole.statusCode == 200 && whole.headers["Content-Range"] == nil)
        #expect(whole.contentLength == 65_536 && whole.expectedByteCount == 65_536)
        #expect(whole.mimeType == "image/jpeg" && whole.headers["ETag"] == Self.tag)
        #expect(whole.headers["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(whole.headers["Cache-Control"] == "max-age=60")
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 1", "bytes 1-2", "bytes 1-2/", "bytes -2/3", "bytes 2-1/3", "bytes 1-3/3",
        "bytes 1-2/3/4", "bytes 1-2-3/4", "bytes +1-2/3", "bytes 1-2/9999999999999999999", "bytes a-b/c", "1-2/3",
    ])
    func `An invalid byte range is refused`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `Ranges are parsed`() throws {
        let range = try #require(ContentRange("bytes 0-0/1"))
        #expect(range.first == 0 && range.last == 0 && range.total == 1)
    }

    @Test func `The last 4 KiB are requested again`() {
        #expect(PartialRules.start(after: 10_000) == 5904)
        #expect(PartialRules.start(after: 4096) == 0 && PartialRules.start(after: 100) == 0)
        let part = PartialDownload(head: part(), bytes: Data(noise(10_000)))
        var request = HTTPTransferRequest(url: testURL("/"), headers: ["Accept": "image/*"])
        part.apply(to: &request)
        #expect(request.headers["Range"] == "bytes=5904-" && request.headers["If-Range"] == Self.tag)
        #expect(request.headers["Accept"] == "image/*")
    }
}
