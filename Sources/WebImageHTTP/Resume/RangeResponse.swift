/// The meaning of the response to a range request. Pure.
enum RangeResponse: Sendable, Hashable {
    /// The rest follows; the response is the one that the whole body would have had.
    case rest(HTTPResponse)
    /// The whole body or a replacement follows: the kept part is obsolete.
    case whole
    /// Neither the kept part nor this response is of use: request the whole.
    case useless
    /// The response does not concern the kept part, which may be of use later.
    case unrelated

    /// Interprets a response.
    ///
    /// - Parameters:
    ///   - response: the response to the range request.
    ///   - count: the number of bytes of the part.
    init(_ response: HTTPResponse, part: PartialHead, count: Int) {
        switch response.statusCode {
        case 206:
            self = Self.whole(from: response, part: part, count: count).map { .rest($0) } ?? .useless
        case 416: self = .useless
        case 200..<300, 404, 410: self = .whole
        default: self = .unrelated
        }
    }

    /// Returns the response that the whole body would have had; nil if the rest does not fit the part.
    private static func whole(from response: HTTPResponse, part: PartialHead, count: Int) -> HTTPResponse? {
        guard part.validator.fits(response.headers), PartialRules.isPlain(response.headers),
            !(response.mimeType?.hasPrefix("multipart/") ?? false),
            let range = response.headers["Content-Range"].flatMap({ ContentRange($0) }),
            range.first == Int64(PartialRules.start(after: count)), range.last == range.total - 1,
            range.total >= Int64(count),
            part.total == nil || part.total == range.total
        else { return nil }
        if response.headers["Transfer-Encoding"] == nil, let length = response.contentLength,
            length != range.total - range.first
        {
            return nil
        }
        var whole = response
        whole.statusCode = 200
        for name in ["Content-Range", "Transfer-Encoding"] { whole.headers[name] = nil }
        whole.headers["Content-Length"] = "\(range.total)"
        // The server need not repeat these fields of the first response (RFC 9110, 15.3.7).
        if whole.headers["Content-Type"] == nil { whole.headers["Content-Type"] = part.contentType }
        if whole.headers["Last-Modified"] == nil { whole.headers["Last-Modified"] = part.lastModified }
        return whole
    }
}

/// A `Content-Range` in bytes with a known total.
struct ContentRange: Sendable, Hashable {
    let first: Int64
    let last: Int64
    let total: Int64

    /// Nil if the text is malformed, has another unit, or has no total.
    init?(_ text: String) {
        let pattern = /bytes ([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18})/.ignoresCase()
        guard let match = text.wholeMatch(of: pattern), let first = Int64(match.1), let last = Int64(match.2),
            let total = Int64(match.3), first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }
}
