/// What tells one version of a picture from another, byte for byte.
enum PartialValidator: Sendable, Hashable, Codable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// A date of last modification that is old enough to be strong.
    case lastModified(String)

    /// The validator of a response; nil without a strong one.
    ///
    /// An entity tag that is weak, or none, rules the date out: `If-Range` must not have one then (RFC 9110, 13.1.5).
    init?(_ headers: HTTPHeaders, now: Double) {
        if let tag = headers["ETag"] {
            guard Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let modified = headers["Last-Modified"], modified.utf8.count <= 64,
            let changed = HTTPDate.parse(modified, now: now),
            let sent = headers["Date"].flatMap({ HTTPDate.parse($0, now: now) }), sent - changed >= 1
        else { return nil }
        self = .lastModified(modified)
    }

    /// What `If-Range` says.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether a response with a part is of the same version. It must repeat the tag that the whole had (RFC 9110, 15.3.7), and parts
    /// are put together only if it is the same (15.3.7.3); a date it may leave out.
    func fits(_ headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let tag): headers["ETag"] == tag
        case .lastModified(let date): headers["Last-Modified"].map { $0 == date } ?? true
        }
    }

    /// Whether it is a well-formed entity tag without "W/", of a length that there is room for.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard (2...512).contains(bytes.count), bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }

    private static let quote = UInt8(ascii: "\"")
}

/// What is kept of a body that may break off, and what is not. Pure.
enum PartialRules {
    /// Less than this many bytes are not kept: asking for the rest would save nothing.
    static let leastByteCount = 4096
    /// How many of the last bytes that are there are asked for once more: they tell whether the server means the same picture.
    static let overlap = 4096

    /// The head of a part of this answer's body, with no bytes yet; nil when none is to be kept.
    ///
    /// - Parameters:
    ///   - response: as the server sent it, or as it would have sent the whole.
    ///   - now: seconds since 1970.
    static func head(of response: HTTPResponse, to request: DownloadRequest, now: Double) -> PartialHead? {
        let headers = response.headers
        guard response.statusCode == 200, isPlain(headers), !forbidsStoring(headers),
            headers["Accept-Ranges"]?.lowercased() != "none",
            let validator = PartialValidator(headers, now: now), let key = PartialKey(request)
        else { return nil }
        return PartialHead(
            key: key,
            validator: validator,
            total: response.expectedByteCount,
            lastModified: headers["Last-Modified"].flatMap { $0.utf8.count <= 64 ? $0 : nil },
            contentType: headers["Content-Type"].flatMap { $0.utf8.count <= 256 ? $0 : nil }
        )
    }

    /// The first byte that is asked for when so many are there.
    static func start(after count: Int) -> Int { max(count - overlap, 0) }

    /// Whether the body comes as it is: no content coding, and chunks at most.
    static func isPlain(_ headers: HTTPHeaders) -> Bool {
        let isCoded = headers["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false
        return !isCoded && headers["Transfer-Encoding"].map { $0.lowercased() == "chunked" } ?? true
    }

    /// Whether `Cache-Control` says that nothing must be stored.
    static func forbidsStoring(_ headers: HTTPHeaders) -> Bool { HTTPCacheControl(headers).says(.noStore) }
}
