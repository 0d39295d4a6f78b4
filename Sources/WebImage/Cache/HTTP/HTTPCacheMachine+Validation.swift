import FoundationEssentials

extension HTTPCacheMachine {
    /// The record after a 304 (RFC 9111, 3.2 and 4.3.4): its fields in place of those of the same name, and its times.
    ///
    /// - Parameters:
    ///   - record: of what is stored.
    ///   - notModified: the answer.
    ///   - request: what was asked, where the answer does not say.
    ///   - now: seconds since 1970: when it came, if the answer does not say.
    /// - Returns: nil when the answer is not about what is stored, which has to be fetched then.
    static func updated(
        _ record: HTTPCacheRecord,
        by notModified: HTTPResponse,
        request: HTTPCacheRequest,
        now: Double
    ) -> HTTPCacheRecord? {
        guard notModified.statusCode == 304, isAbout(record, notModified.headers) else { return nil }
        let exchange = notModified.exchange
        var headers = record.headers
        // Both are of the message, not of what it is about; without them the answer is made now.
        headers["date"] = nil
        headers["age"] = nil
        let news = notModified.headers.kept
        for field in news.fields where isUpdated(field.name) { headers[field.name] = nil }
        for field in news.fields where isUpdated(field.name) { headers.add(name: field.name, value: field.value) }
        var result = HTTPCacheRecord(
            statusCode: record.statusCode,
            // Many answers that add fields could make it grow without end.
            headers: headers.kept,
            requestTime: exchange?.requestTime ?? now,
            responseTime: exchange?.responseTime ?? now,
            redirectLifetime: exchange.map(redirectLifetime) ?? record.redirectLifetime
        )
        result.select(by: exchange?.requestHeaders ?? request.headers)
        return result
    }

    /// What a stored response says when it is delivered: its fields, and its age.
    ///
    /// - Parameters:
    ///   - record: of what is stored.
    ///   - url: where it came from.
    ///   - now: seconds since 1970.
    static func delivered(_ record: HTTPCacheRecord, url: URL, now: Double) -> HTTPResponse {
        var headers = record.headers
        headers["age"] = String(Int(min(record.age(at: now), HTTPDirective.longestTime)))
        return HTTPResponse(url: url, statusCode: record.statusCode, headers: headers)
    }

    /// Whether the validators of a 304 are those of what is stored. One without any is about what it was asked about.
    private static func isAbout(_ record: HTTPCacheRecord, _ headers: HTTPHeaders) -> Bool {
        let stored = record.headers.firstValue(of: "ETag").flatMap { HTTPEntityTag($0) }
        if let etag = headers.firstValue(of: "ETag").flatMap({ HTTPEntityTag($0) }) {
            // Servers that compress weaken the tag of a whole answer and not that of a 304, so the mark is not compared.
            if let stored { return stored.opaque == etag.opaque }
            if !etag.isWeak { return false }
        }
        guard let modified = headers.firstValue(of: "Last-Modified"),
            let storedModified = record.headers.firstValue(of: "Last-Modified")
        else { return true }
        return modified == storedModified
    }

    /// Whether a field of a 304 is put in place of the stored one: those that describe the stored bytes stay.
    private static func isUpdated(_ name: String) -> Bool {
        switch name {
        case "content-encoding", "content-type", "content-range", "content-length": false
        default: true
        }
    }
}
