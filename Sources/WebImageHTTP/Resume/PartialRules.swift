/// A validator that identifies a version of an image byte for byte.
enum PartialValidator: Sendable, Hashable, Codable {
    /// A strong entity tag, with its quotes.
    case entityTag(String)
    /// A last modification date that is old enough to be strong.
    case lastModified(String)

    /// Creates the validator of a response; nil without a strong one.
    ///
    /// A weak or invalid entity tag also rules out the date: `If-Range` must not contain one then (RFC 9110, 13.1.5).
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

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Returns whether a partial response has the same version. It must repeat the entity tag of the whole (RFC 9110, 15.3.7), and
    /// parts are combined only if it is the same (15.3.7.3); a date may be missing.
    func fits(_ headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let tag): headers["ETag"] == tag
        case .lastModified(let date): headers["Last-Modified"].map { $0 == date } ?? true
        }
    }

    /// Returns whether the text is a well-formed entity tag without "W/", of an acceptable length.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard (2...512).contains(bytes.count), bytes.first == quote, bytes.last == quote else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }

    private static let quote = UInt8(ascii: "\"")
}

/// The rules for keeping interrupted bodies. Pure.
enum PartialRules {
    /// The minimum number of bytes to keep: with fewer, resuming would save nothing.
    static let leastByteCount = 4096
    /// The number of bytes at the end of the part that are requested again, to check that the server has the same image.
    static let overlap = 4096

    /// Returns the head of a part of this response's body, without bytes; nil if none must be kept.
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

    /// Returns the offset of the first byte to request after `count` received bytes.
    static func start(after count: Int) -> Int { max(count - overlap, 0) }

    /// Returns whether the body has no content coding and no transfer coding except chunked.
    static func isPlain(_ headers: HTTPHeaders) -> Bool {
        let isCoded = headers["Content-Encoding"].map { $0.lowercased() != "identity" } ?? false
        return !isCoded && headers["Transfer-Encoding"].map { $0.lowercased() == "chunked" } ?? true
    }

    /// Returns whether `Cache-Control` forbids storing.
    static func forbidsStoring(_ headers: HTTPHeaders) -> Bool { HTTPCacheControl(headers).says(.noStore) }
}
