import FoundationEssentials

extension HTTPCacheMachine {
    /// The seconds for which a 404 or 410 without an explicit lifetime is remembered.
    static let shortNegativeLifetime = 60.0

    /// Returns whether a final response to a GET may be stored.
    ///
    /// Under ``CachePolicy/http``, RFC 9111, 3 decides, and `no-store` overrides everything. Under other policies, every response
    /// with a body may be stored.
    static func mayStore(_ response: HTTPResponse, request: HTTPCacheRequest, policy: CachePolicy) -> Bool {
        guard policy == .http else { return response.statusCode != 304 }
        let status = response.statusCode
        let control = HTTPCacheControl(response.headers)
        guard !control.says(.noStore), !request.control.says(.noStore), (200...599).contains(status), status != 206,
            status != 304, !control.says(.mustUnderstand) || isUnderstood(status)
        else { return false }
        let hasValidator = response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil
        // No revalidation could make it usable again.
        if response.headers.listedNames(of: "Vary").contains("*"), !hasValidator { return false }
        return isHeuristicallyCacheable(status) || hasValidator || control.maxAge != nil || control.says(.isPublic)
            || control.says(.isPrivate) || response.headers["Expires"] != nil
    }

    /// Returns the record of a response that is stored. `now` is its time of arrival unless the response has one.
    static func record(of response: HTTPResponse, request: HTTPCacheRequest, now: Double) -> HTTPCacheRecord {
        record(response.statusCode, response.headers, response.exchange, request, now, redirectLifetime: nil)
    }

    /// - Parameter redirectLifetime: Used if the response has no exchange.
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

    /// Returns the seconds for which a 404 or 410 is remembered: its explicit lifetime, or ``shortNegativeLifetime``; nil if not
    /// at all.
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
        // It is remembered for every requester of the URL.
        let isForAll = !facts.variesOnAll && !facts.vary.contains("authorization") && !facts.vary.contains("cookie")
        guard isForAll, !facts.control.says(.noCache), !request.control.says(.noCache) else { return nil }
        guard let lifetime = record.explicitLifetime else { return shortNegativeLifetime }
        let remaining = lifetime.seconds - record.age(at: now)
        return remaining > 0 ? remaining : nil
    }

    /// Returns the seconds for which the redirects before a response stay valid; nil if unlimited.
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

    /// Returns the record after a 304 (RFC 9111, 3.2 and 4.3.4): its fields replace those of the same name, and its times replace the
    /// old ones. The request and `now` are used if the response has no exchange. Nil if the 304 does not match the stored response,
    /// which must then be fetched.
    static func updated(
        _ old: HTTPCacheRecord,
        by notModified: HTTPResponse,
        request: HTTPCacheRequest,
        now: Double
    ) -> HTTPCacheRecord? {
        guard notModified.statusCode == 304, isAbout(old, notModified.headers) else { return nil }
        var headers = old.headers
        // Both describe the message, not the stored response; without them, the response counts as generated now.
        headers["date"] = nil
        headers["age"] = nil
        let news = notModified.headers.kept
        for field in news.fields where isUpdated(field.name) { headers[field.name] = nil }
        for field in news.fields where isUpdated(field.name) { headers.add(name: field.name, value: field.value) }
        // Only the fields that are kept count, so that repeated 304s with new fields cannot make the record grow forever.
        let exchange = notModified.exchange
        return record(old.statusCode, headers, exchange, request, now, redirectLifetime: old.redirectLifetime)
    }

    /// Returns the stored response as it is delivered: its header fields, and its age.
    static func delivered(_ record: HTTPCacheRecord, url: URL, now: Double) -> HTTPResponse {
        var headers = record.headers
        headers["age"] = String(Int(min(record.age(at: now), HTTPDirective.longestTime)))
        return HTTPResponse(url: url, statusCode: record.statusCode, headers: headers)
    }

    /// Returns whether the validators of a 304 match the stored response. A 304 without validators matches.
    private static func isAbout(_ record: HTTPCacheRecord, _ headers: HTTPHeaders) -> Bool {
        let stored = record.headers.firstValue(of: "ETag").flatMap { HTTPEntityTag($0) }
        if let etag = headers.firstValue(of: "ETag").flatMap({ HTTPEntityTag($0) }) {
            // The weak flag is not compared: servers that compress weaken the tag of a full response but not that of a 304.
            if let stored { return stored.opaque == etag.opaque }
            if !etag.isWeak { return false }
        }
        guard let modified = headers.firstValue(of: "Last-Modified"),
            let storedModified = record.headers.firstValue(of: "Last-Modified")
        else { return true }
        return modified == storedModified
    }

    /// Returns whether a field of a 304 replaces the stored one. Fields that describe the stored bytes stay.
    private static func isUpdated(_ name: String) -> Bool {
        switch name {
        case "content-encoding", "content-type", "content-range", "content-length": false
        default: true
        }
    }

    /// Returns whether a status is heuristically cacheable (RFC 9110, 15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Returns whether the caching rules of a status are known here.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 300...303, 307, 308, 400, 401, 403...405, 410, 414, 500...504: true
        default: false
        }
    }
}
