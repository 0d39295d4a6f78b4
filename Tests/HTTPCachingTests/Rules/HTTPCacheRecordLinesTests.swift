import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageLoading
@testable import WebImageModel

@Suite struct HTTPCacheRecordLinesTests {
    private let record = HTTPCacheRecord(
        statusCode: 200,
        headers: ["etag": "\"a: b\"", "cache-control": "max-age=60", "x-foo": "", "x-bar": " ä "],
        requestTime: 1_700_000_000.125,
        responseTime: 1_700_000_000.1 + 0.2,
        selectingHeaders: ["accept": "image/webp, image/*", "foo": ""],
        redirectLifetime: 0.1
    )

    @Test func `A record is encoded as these lines`() {
        #expect(
            record.encodedLines() == [
                "x-http-status: 200", "x-http-request-time: 1700000000.125",
                "x-http-response-time: \(1_700_000_000.1 + 0.2)", "x-http-redirect-lifetime: 0.1",
                "x-http-selecting: accept: image/webp, image/*", "x-http-selecting: foo: ", "etag: \"a: b\"",
                "cache-control: max-age=60", "x-foo: ", "x-bar:  ä ",
            ]
        )
    }

    @Test func `A decoded record equals the encoded one`() {
        #expect(HTTPCacheRecord(lines: record.encodedLines()) == record)
        var plain = record
        plain.redirectLifetime = nil
        plain.selectingHeaders = [:]
        plain.headers = [:]
        #expect(HTTPCacheRecord(lines: plain.encodedLines()) == plain)
        #expect(plain.encodedLines().count == 3)
        #expect(plain != record)
        #expect(HTTPCacheRecord(lines: record.encodedLines())?.facts == record.facts)
    }

    @Test func `The validators are lines that other readers understand, too`() {
        let bytes = record.encodedLines().map { $0 + "\n" }.joined()
        #expect(ResponseLines(.init(bytes.utf8)).validators == CacheValidators(etag: "\"a: b\"", lastModified: nil))
    }

    @Test func `Unknown lines are skipped`() {
        let others = ["x-received-hash: 0123456789abcdef", "x-http-later: 1", "x-http-: "]
        #expect(HTTPCacheRecord(lines: others + record.encodedLines() + others) == record)
        #expect(
            HTTPCacheRecord(lines: ["etag: \"a\"", "last-modified: x", "x-received-hash: 0123456789abcdef"]) == nil
        )
        #expect(HTTPCacheRecord(lines: []) == nil)
    }

    @Test func `Field names in upper case are read in lower case`() throws {
        let lines = record.encodedLines().map { $0.hasPrefix("etag") ? "ETag" + $0.dropFirst(4) : $0 }
        let read = try #require(HTTPCacheRecord(lines: lines))
        #expect(read == record)
        #expect(read.encodedLines() == record.encodedLines())
    }

    @Test func `Lines without status or times are not a record`() {
        for missing in 0..<3 {
            var lines = record.encodedLines()
            lines.remove(at: missing)
            #expect(HTTPCacheRecord(lines: lines) == nil)
        }
    }

    @Test func `Lines with a repeated or damaged number are not a record`() {
        let bad = ["", "x", "nan", "inf", "-inf", "1e999", "1,5", "0x", "200 ", " 200", "1 2", "--1"]
        for index in 0..<4 {
            var twice = record.encodedLines()
            twice.append(twice[index])
            #expect(HTTPCacheRecord(lines: twice) == nil)
            for value in bad {
                var lines = record.encodedLines()
                let name = lines[index].prefix { $0 != ":" }
                lines[index] = "\(name): \(value)"
                #expect(HTTPCacheRecord(lines: lines) == nil, "\(lines[index])")
            }
        }
    }

    @Test(arguments: [
        "x-http-status: 99", "x-http-status: 1000", "x-http-status: 200.5", "x-http-status: -200",
        "x-http-redirect-lifetime: -1",
    ])
    func `Lines with a number out of bounds are not a record`(line: String) {
        let name = line.prefix { $0 != ":" }
        let lines = record.encodedLines().map { $0.hasPrefix(name) ? line : $0 }
        #expect(HTTPCacheRecord(lines: lines) == nil)
    }

    @Test(arguments: [
        "", "etag", "etag:", "etag:\"a\"", ": x", "e tag: x", "etag : x", "etag: a\nb", "etag: a\rb", "etag: a\u{0}b",
        "ätag: x", "x-http-selecting: x", "x-http-selecting: : x", "x-http-selecting: a b: x", "x-http-selecting: ",
    ])
    func `Lines with a malformed field are not a record`(line: String) {
        #expect(HTTPCacheRecord(lines: record.encodedLines() + [line]) == nil)
    }

    @Test func `More lines than a record can have are refused`() {
        let line = "x-foo: " + String(repeating: "x", count: 9000)
        #expect(HTTPCacheRecord(lines: record.encodedLines() + Array(repeating: line, count: 5)) != nil)
        #expect(HTTPCacheRecord(lines: record.encodedLines() + Array(repeating: line, count: 8)) == nil)
    }

    @Test func `The largest record has lines that can be read`() {
        var response = CacheRow.answer("Vary: Foo")
        response.headers.add(name: "X-Fill", value: String(repeating: "x", count: 16_000))
        let request = HTTPCacheRequest(headers: ["Foo": String(repeating: "y", count: 8000)])
        let large = HTTPCacheMachine.record(of: response, request: request, now: 5)
        #expect(large.headers["x-fill"] != nil)
        #expect(large.selectingHeaders["foo"] != nil)
        #expect(HTTPCacheRecord(lines: large.encodedLines()) == large)
    }

    @Test func `A field that cannot be a line is left out`() {
        var odd = record
        odd.headers = ["x-a": "1\n2", "x-http-status": "500", "bad name": "1", "X-Ok": "1"]
        odd.selectingHeaders = ["foo": "a\rb"]
        let lines = odd.encodedLines()
        #expect(lines.count == 5)
        #expect(lines.last == "x-ok: 1")
        #expect(HTTPCacheRecord(lines: lines)?.statusCode == 200)
    }

    @Test(arguments: 0..<4)
    func `Damaged lines are refused, or read as something that can be written`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var lines = record.encodedLines()
            for _ in 0...random.below(2) {
                let index = random.below(lines.count)
                var bytes = Array(lines[index].utf8)
                guard !bytes.isEmpty else { continue }
                switch random.below(3) {
                case 0: bytes[random.below(bytes.count)] = UInt8(random.below(128))
                case 1: bytes.remove(at: random.below(bytes.count))
                default: bytes.removeLast(random.below(bytes.count))
                }
                lines[index] = String(decoding: bytes, as: UTF8.self)
            }
            guard let read = HTTPCacheRecord(lines: lines) else { continue }
            #expect((100...999).contains(read.statusCode))
            #expect(read.requestTime.isFinite && read.responseTime.isFinite)
            let again = HTTPCacheRecord(lines: read.encodedLines())
            #expect(again?.responseTime == read.responseTime)
            #expect(again?.headers.fields.count == read.headers.fields.count)
        }
    }
}

extension HTTPCacheRecord {
    /// Returns the lines of a record, without line feeds.
    func encodedLines() -> [String] {
        var bytes: [UInt8] = []
        appendLines(to: &bytes)
        return bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }
}
