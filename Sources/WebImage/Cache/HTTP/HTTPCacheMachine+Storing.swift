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

    /// The record of a response that is stored.
    ///
    /// - Parameter now: seconds since 1970: when it came, if the response does not say.
    static func record(of response: HTTPResponse, request: HTTPCacheRequest, now: Double) -> HTTPCacheRecord {
        let exchange = response.exchange
        var record = HTTPCacheRecord(
            statusCode: response.statusCode,
            headers: response.headers.kept,
            requestTime: exchange?.requestTime ?? now,
            responseTime: exchange?.responseTime ?? now,
            redirectLifetime: exchange.flatMap(redirectLifetime)
        )
        record.select(by: exchange?.requestHeaders ?? request.headers)
        return record
    }

    /// Seconds for which a 404 or 410 is remembered: what it says, or ``shortNegativeLifetime``; nil for not at all.
    ///
    /// - Parameter now: seconds since 1970.
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

extension HTTPCacheRecord {
    /// Keeps what `Vary` names of the fields that were sent. What is too long to be kept cannot be compared later.
    mutating func select(by sent: HTTPHeaders) {
        selectingHeaders = [:]
        guard !facts.variesOnAll else { return }
        if let selecting = Self.selectingHeaders(facts.vary, of: sent) {
            selectingHeaders = selecting
        } else {
            headers["vary"] = "*"
        }
    }
}
