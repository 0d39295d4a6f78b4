/// What the answer to a request for the rest of a body means. Pure.
enum PartialAnswer: Sendable, Hashable {
    /// The rest comes: as if it were the answer with the whole body.
    case rest(HTTPResponse)
    /// The whole comes, or something else in its place: what was kept is of no use any more.
    case whole
    /// What was kept is of no use, nor is this answer: ask for the whole.
    case useless
    /// It says nothing of what was kept; the part may serve later.
    case unrelated

    /// - Parameters:
    ///   - response: the answer to the request for the rest, if the version is that of `part`.
    ///   - count: how many bytes are there.
    init(_ response: HTTPResponse, part: PartialHead, count: Int) {
        switch response.statusCode {
        case 206:
            self = Self.whole(from: response, part: part, count: count).map { .rest($0) } ?? .useless
        case 416: self = .useless
        case 200..<300, 404, 410: self = .whole
        default: self = .unrelated
        }
    }

    /// The answer that would have come with the whole; nil when the rest does not fit the part.
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
        // What the server has told before it need not repeat (RFC 9110, 15.3.7).
        if whole.headers["Content-Type"] == nil { whole.headers["Content-Type"] = part.contentType }
        if whole.headers["Last-Modified"] == nil { whole.headers["Last-Modified"] = part.lastModified }
        return whole
    }
}

/// A `Content-Range` of bytes that says how long the whole is.
struct ContentRange: Sendable, Hashable {
    let first: Int64
    let last: Int64
    let total: Int64

    /// Nil when it is malformed, of another unit, or does not know the total.
    init?(_ text: String) {
        let pattern = /bytes ([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18})/.ignoresCase()
        guard let match = text.wholeMatch(of: pattern), let first = Int64(match.1), let last = Int64(match.2),
            let total = Int64(match.3), first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }
}
