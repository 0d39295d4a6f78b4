import FoundationEssentials

extension HTTPCacheMachine {
    /// Seconds for which a 404 or 410 is remembered that does not say for how long.
    static let shortNegativeLifetime = 60.0

    /// Whether a final response to a GET may be stored.
    ///
    /// Under ``CachePolicy/http`` RFC 9111, 3 decides, and nothing is stronger than `no-store`. Under other policies everything
    /// that has a body of its own may be.
    static func mayStore(_ response: HTTPResponse, request: HTTPCacheRequest, policy: CachePolicy) -> Bool {
        guard policy == .http else { return response.statusCode != 304 }
        let status = response.statusCode
        let control = HTTPCacheControl(response.headers)
        guard !control.says(.noStore), !request.control.says(.noStore), (200...599).contains(status), status != 206,
            status != 304, !control.says(.mustUnderstand) || isUnderstood(status)
        else { return false }
        let hasValidator = response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil
        // Nothing could make it serve again.
        if response.headers.listedNames(of: "Vary").contains("*"), !hasValidator { return false }
        return isHeuristicallyCacheable(status) || hasValidator || control.maxAge != nil || control.says(.isPublic)
            || control.says(.isPrivate) || response.headers["Expires"] != nil
    }

    /// The record of a response that is stored; it came `now`, if it does not say.
    static func record(of response: HTTPResponse, request: HTTPCacheRequest, now: Double) -> HTTPCacheRecord {
        record(response.statusCode, response.headers, response.exchange, request, now, redirectLifetime: nil)
    }

    /// - Parameter redirectLifetime: where nothing is known of how the answer came.
    private static func record(
        _ statusCode: Int,
        _ headers: HTTPHeaders,
        _ exchange: HTTPExchange?,
        _ request: HTTPCacheRequest,
        _ now: Double,
        redirectLifetime: Double?
    ) -> HTTPCacheRecord {
        var record = HTTPCacheRecord(
            statusCode: statusCode,
            headers: headers.kept,
            requestTime: exchange?.requestTime ?? now,
            responseTime: exchange?.responseTime ?? now,
            redirectLifetime: exchange.map(Self.redirectLifetime) ?? redirectLifetime
        )
        record.select(by: exchange?.requestHeaders ?? request.headers)
        return record
    }

    /// Seconds for which a 404 or 410 is remembered: what it says, or ``shortNegativeLifetime``; nil for not at all.
    static func negativeLifetime(
        of response: HTTPResponse,
        request: HTTPCacheRequest,
        policy: CachePolicy,
        now: Double
    ) -> Double? {
        guard policy == .http, response.statusCode == 404 || response.statusCode == 410,
            mayStore(response, request: request, policy: policy)
        else { return nil }
        let record = record(of: response, request: request, now: now)
        let facts = record.facts
        // It is remembered for the URL, whoever asks.
        let isForAll = !facts.variesOnAll && !facts.vary.contains("authorization") && !facts.vary.contains("cookie")
        guard isForAll, !facts.control.says(.noCache), !request.control.says(.noCache) else { return nil }
        guard let lifetime = record.explicitLifetime else { return shortNegativeLifetime }
        let remaining = lifetime.seconds - record.age(at: now)
        return remaining > 0 ? remaining : nil
    }

    /// Seconds for which the redirects before a response lead to it; nil without a bound.
    static func redirectLifetime(_ exchange: HTTPExchange) -> Double? {
        exchange.redirects.compactMap { lifetime(of: $0, exchange) }.min()
    }

    private static func lifetime(of hop: HTTPExchange.Hop, _ exchange: HTTPExchange) -> Double? {
        let record = HTTPCacheRecord(
            statusCode: hop.statusCode,
            headers: hop.headers,
            requestTime: exchange.requestTime,
            responseTime: exchange.responseTime
        )
        let control = record.facts.control
        if control.says(.noStore) || control.says(.noCache) { return 0 }
        guard let lifetime = record.explicitLifetime else {
            return isHeuristicallyCacheable(hop.statusCode) ? nil : 0
        }
        return HTTPCacheRecord.positive(lifetime.seconds - record.initialAge)
    }

    /// The record after a 304 (RFC 9111, 3.2 and 4.3.4): its fields in place of those of the same name, and its times.
    /// Request and time are used where the answer does not say. Nil when it is not about what is stored, which has to be fetched then.
    static func updated(
        _ old: HTTPCacheRecord,
        by notModified: HTTPResponse,
        request: HTTPCacheRequest,
        now: Double
    ) -> HTTPCacheRecord? {
        guard notModified.statusCode == 304, isAbout(old, notModified.headers) else { return nil }
        var headers = old.headers
        // Both are of the message, not of what it is about; without them the answer is made now.
        headers["date"] = nil
        headers["age"] = nil
        let news = notModified.headers.kept
        for field in news.fields where isUpdated(field.name) { headers[field.name] = nil }
        for field in news.fields where isUpdated(field.name) { headers.add(name: field.name, value: field.value) }
        // Many answers that add fields could make it grow without end: only what is kept of them counts.
        let exchange = notModified.exchange
        return record(old.statusCode, headers, exchange, request, now, redirectLifetime: old.redirectLifetime)
    }

    /// What a stored response says when it is delivered: its fields, and its age.
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

    /// Whether a status means something that stays for a while (RFC 9110, 15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether what a cache has to do with a status is known here.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 300...303, 307, 308, 400, 401, 403...405, 410, 414, 500...504: true
        default: false
        }
    }
}
