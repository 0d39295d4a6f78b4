import FoundationEssentials
import WebImage

@testable import WebImageHTTP
@testable import WebImageLoading
@testable import WebImageModel

/// Responses of servers.
extension FuzzTarget {
    static let http: [FuzzTarget] = [
        FuzzTarget(
            name: "response-head",
            summary: "lines of response heads within their bounds",
            dictionary: "http",
            seeds: { headSeeds.map { Data($0.utf8) } },
            check: checkHead
        ),
        FuzzTarget(
            name: "cache-control",
            summary: "Cache-Control, lists of names, entity tags, Retry-After",
            longestInput: 1024,
            dictionary: "http",
            seeds: {
                [
                    "max-age=60, no-cache=\"set-cookie\"", "W/\"abc\", \"x\\\"y\"",
                    "stale-if-error=99999999999, public", "120", String(repeating: "9", count: 400),
                ].map { Data($0.utf8) }
            },
            check: checkFields
        ),
        FuzzTarget(
            name: "http-date",
            summary: "dates in their three forms",
            longestInput: 64,
            dictionary: "http",
            seeds: {
                [
                    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                    "Sat, 31 Dec 9999 23:59:60 GMT", "Tue, 29 Feb 2000 00:00:00 GMT",
                ].map { Data($0.utf8) }
            },
            check: checkDate
        ),
        FuzzTarget(
            name: "freshness",
            summary: "records of responses, a cache's decisions, and 304s",
            dictionary: "http",
            seeds: { headSeeds.map { Data($0.utf8) } },
            check: { (data) throws(FuzzFinding) in try FreshnessCheck.run(data) }
        ),
        FuzzTarget(
            name: "partial-answer",
            summary: "Content-Range, and answers to requests for the rest",
            longestInput: 1024,
            dictionary: "http",
            seeds: {
                [
                    "206 bytes 4096-69999/70000\nETag: \"abc\"\nContent-Length: 65904\n", "416 bytes */70000\n",
                    "200 bytes 0-0/1\nTransfer-Encoding: chunked\n",
                ].map { Data($0.utf8) }
            },
            check: checkAnswer
        ),
    ]

    private static let headSeeds = [
        """
        HTTP/1.1 200 OK
        Date: Sun, 06 Nov 1994 08:49:37 GMT
        Cache-Control: max-age=60, stale-while-revalidate=30, must-revalidate
        Age: 7
        Vary: Accept, Accept-Encoding
        ETag: "abc"
        Content-Type: image/png
        Content-Length: 100

        HTTP/1.1 304 Not Modified
        ETag: "abc"
        Cache-Control: max-age=600


        """,
        """
        HTTP/1.1 301 Moved Permanently
        Location: /elsewhere
        Expires: Sunday, 06-Nov-94 08:49:37 GMT

        HTTP/2 200
        Last-Modified: Sun Nov  6 08:49:37 1994
        Expires: 0
        Pragma: no-cache
        X-Folded: one
          two
        Set-Cookie: a=b


        """,
    ]

    /// The fields of lines `name: value`, as a transport delivers them.
    static func fields(_ data: Data) -> HTTPHeaders {
        var parser = ResponseHeadParser(maximumByteCount: 1 << 20, maximumFieldCount: 1000)
        let start = Data("HTTP/1.1 200\n".utf8)
        for line in [start] + data.split(separator: 0x0A).map({ Data($0) }) {
            _ = try? line.withBytes { (bytes) throws(WebImageError) in try parser.consume(bytes) }
        }
        return parser.headers
    }

    private static func checkHead(_ data: Data) throws(FuzzFinding) {
        let (mostBytes, mostFields) = (1024, 12)
        var parser = ResponseHeadParser(maximumByteCount: mostBytes, maximumFieldCount: mostFields)
        var consumed = 0
        // A line end is part of its line.
        for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let line = Data(line + [0x0A])
            consumed += line.count
            do throws(WebImageError) {
                _ = try line.withBytes { (bytes) throws(WebImageError) in try parser.consume(bytes) }
            } catch {
                try must(error.code == .limitExceeded, "a head fails by something else than its size")
                let isByCount = error.limit?.name == "maximumResponseHeaderCount"
                try must(isByCount || consumed > mostBytes, "a head within its bounds is refused")
                return
            }
            try must(parser.byteCount <= mostBytes && consumed <= mostBytes, "a head is bigger than it may be")
            let fields = parser.headers.fields
            try must(fields.count <= mostFields, "a head has more fields than it may")
            try must((0...999).contains(parser.statusCode), "the status is \(parser.statusCode)")
            let texts = fields.flatMap { [$0.name, $0.value] }
            try must(texts.allSatisfy { !$0.utf8.contains(0x0A) }, "a field has a line feed")
            // Invalid UTF-8 becomes three bytes.
            try must(
                texts.reduce(0) { $0 + $1.utf8.count } <= 3 * consumed,
                "fields are longer than the received bytes"
            )
        }
    }

    private static func checkFields(_ data: Data) throws(FuzzFinding) {
        let text = data.text
        var headers = HTTPHeaders()
        for value in text.split(separator: "\n", omittingEmptySubsequences: false) {
            headers.add(name: "Cache-Control", value: String(value))
        }
        let control = HTTPCacheControl(headers)
        let times = [control.maxAge, control.minFresh, control.staleWhileRevalidate, control.staleIfError]
        let range = 0...HTTPDirective.longestTime
        try must(times.allSatisfy { $0.map { range.contains($0) } ?? true }, "a time is out of range: \(times)")
        try must(control.maxStale.map { range.contains($0) || $0 == .infinity } ?? true, "max-stale is out of range")
        // More directives never allow a cache more.
        headers.add(name: "cache-control", value: "max-age=5")
        try must((HTTPCacheControl(headers).maxAge ?? .infinity) <= 5, "a second max-age lets a cache do more")
        try must(control.flags.isSubset(of: HTTPCacheControl(headers).flags), "a directive is lost when one follows")
        var reader = HTTPDirectiveReader(text)
        var count = 0
        while let directive = reader.next() {
            count += 1
            try must(count <= data.count * 3 + 1, "there are more directives than bytes")
            try must(!directive.name.contains(","), "a name has a comma")
        }
        let tag = HTTPEntityTag(text)
        try must(tag.map { !$0.opaque.isEmpty } ?? true, "a tag is empty")
        var lists: HTTPHeaders = ["Vary": text, "Connection": text, "Retry-After": text]
        try must(lists.listedNames(of: "vary").allSatisfy { !$0.isEmpty && !$0.contains(",") }, "a member is a list")
        lists.add(name: "Cache-Control", value: text)
        let kept = lists.kept
        let keptBytes = kept.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        try must(keptBytes <= HTTPHeaders.keptByteCount, "more is kept than may be")
        try must(kept.fields.allSatisfy { HTTPHeaders.isLine($0.value) }, "a kept field is not a line")
        try checkWait(lists)
    }

    private static func checkWait(_ headers: HTTPHeaders) throws(FuzzFinding) {
        guard let url = URL(string: "https://example.com/") else { return }
        let response = HTTPResponse(url: url, statusCode: 503, headers: headers)
        guard let wait = response.retryAfter(wallTime: 1.7e9) else { return }
        try must(wait.isFinite && wait >= 0, "a server asks to wait \(wait) s")
    }

    private static func checkDate(_ data: Data) throws(FuzzFinding) {
        let text = data.text
        for now in [0, 784_111_777, 1.7e9, 4.1e9, 1e300, -1e300, .infinity, .nan] {
            guard let time = HTTPDate.parse(text, now: now) else { continue }
            // From the year 0 to 9999, and beyond only in the form without a century.
            try must(time >= -62_167_219_200 && time <= 253_402_300_800, "a date is \(time) s")
            try must(HTTPDate.parse(" \(text)\t", now: now) == time, "a date changes with blanks around it")
            guard abs(now) < 4e9, text.utf8.contains(UInt8(ascii: "-")) else { continue }
            try must(time - now <= 50.1 * 366 * 86_400, "a year of two digits is more than 50 years away")
        }
    }

    private static func checkAnswer(_ data: Data) throws(FuzzFinding) {
        let (first, rest) = data.halves
        let text = first.text
        let status = Int(text.prefix(3)) ?? 206
        let value = String(text.dropFirst(4))
        let range = ContentRange(value)
        if let range {
            try must(range.first >= 0 && range.first <= range.last && range.last < range.total, "a range is none")
        }
        var headers = fields(rest)
        headers.add(name: "Content-Range", value: value)
        let key = PartialKey(urlHash: 0, digest: "0")
        guard let url = URL(string: "https://example.com/a") else { return }
        let part = PartialHead(key: key, validator: .entityTag("\"abc\""), total: status % 2 == 0 ? 70_000 : nil)
        let response = HTTPResponse(url: url, statusCode: status, headers: headers)
        guard case .rest(let whole) = RangeResponse(response, part: part, count: 8192) else { return }
        try must(status == 206 && range?.first == 4096, "the rest begins somewhere else")
        try must(whole.statusCode == 200 && whole.headers["Content-Range"] == nil, "the whole looks like a part")
        try must(whole.contentLength.map { $0 >= 8192 && $0 == range?.total } ?? false, "the whole has another length")
        try must(part.total.map { $0 == range?.total } ?? true, "the whole has changed its length")
    }
}
