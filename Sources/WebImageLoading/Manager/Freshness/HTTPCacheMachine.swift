/// The logic of an HTTP cache, as pure functions of the stored record, the request, the policy and the time (`now`, in seconds since
/// 1970). It has no state and no clock.
enum HTTPCacheMachine {
    /// Returns the decision about a request, whose directives count only under ``CachePolicy/http``. Without a record, nothing is
    /// stored, or with `isStored`, nothing is known about the stored response.
    static func decide(
        _ record: HTTPCacheRecord?,
        isStored: Bool,
        request: HTTPCacheRequest,
        policy: CachePolicy,
        now: Double
    ) -> HTTPCacheDecision {
        guard record != nil || isStored else {
            return request.control.says(.onlyIfCached) && policy == .http
                ? .unsatisfiable(.onlyIfCached) : .fetch(.nothingStored)
        }
        switch policy {
        case .immutable:
            return .hit(HTTPFreshness(age: record?.age(at: now) ?? 0, isFresh: true, rule: .immutablePolicy))
        case .revalidate:
            let answer = HTTPFreshness(age: record?.age(at: now) ?? 0, isFresh: false, rule: .revalidatePolicy)
            return .revalidate(answer, ifFailing: .always)
        case .ttl(let seconds): return decide(record, timeToLive: seconds, now: now)
        case .http: return decide(record, request: request, now: now)
        }
    }

    private static func decide(_ record: HTTPCacheRecord?, timeToLive: Double, now: Double) -> HTTPCacheDecision {
        var answer = HTTPFreshness(age: record?.age(at: now) ?? 0, isFresh: true, rule: .withinTimeToLive)
        if timeToLive.isNaN { answer.rule = .immutablePolicy }
        if timeToLive.isNaN || timeToLive == .infinity { return .hit(answer) }
        if let record, HTTPCacheRecord.positive(now - record.responseTime) < timeToLive,
            !(record.responseTime - now > HTTPCacheRecord.longestLead)
        {
            return .hit(answer)
        }
        answer.isFresh = false
        answer.rule = record == nil ? .noRecord : .pastTimeToLive
        return .revalidate(answer, ifFailing: .always)
    }

    private static func decide(_ record: HTTPCacheRecord?, request: HTTPCacheRequest, now: Double) -> HTTPCacheDecision
    {
        let decision: HTTPCacheDecision
        if let record {
            decision = decide(record, for: request, now: now)
        } else {
            let unknown = HTTPFreshness(age: 0, isFresh: false, rule: .noRecord)
            decision = .revalidate(unknown, ifFailing: HTTPStaleFallback(whenUnreachable: true, whenServerFails: false))
        }
        guard request.control.says(.onlyIfCached) else { return decision }
        switch decision {
        case .hit, .unsatisfiable: return decision
        case .serveStale(let answer): return .hit(answer)
        case .revalidate, .fetch: return .unsatisfiable(.onlyIfCached)
        }
    }

    /// Returns the decision of RFC 9111, 4 about a stored response to a request that may ask the server. A nil request matches the
    /// response and has no cache directives.
    static func decide(_ record: HTTPCacheRecord, for request: HTTPCacheRequest?, now: Double) -> HTTPCacheDecision {
        let status = record.cacheStatus(at: now)
        if record.facts.variesOnAll {
            // Only a 304 can confirm that the response matches.
            return record.facts.validators != nil
                ? .revalidate(answer(status, .variesOnAll), ifFailing: .never) : .fetch(.variesOnAll)
        }
        if let request, !record.isSelected(by: request) { return .fetch(.varies) }
        let (control, wish) = (record.facts.control, request?.control ?? HTTPCacheControl())
        // A no-store response may have been stored under another policy.
        if control.says(.noCache) || control.says(.noStore) {
            return .revalidate(answer(status, .noCache), ifFailing: .never)
        }
        if wish.says(.noCache) {
            return .revalidate(answer(status, .requestNoCache), ifFailing: .never)
        }
        if let rule = objection(of: wish, to: status) {
            return .revalidate(answer(status, rule), ifFailing: fallback(control, status))
        }
        if status.isFresh { return .hit(answer(status, status.rule)) }
        return decide(stale: status, control: control, request: wish)
    }

    private static func decide(
        stale status: HTTPCacheStatus,
        control: HTTPCacheControl,
        request: HTTPCacheControl
    ) -> HTTPCacheDecision {
        if control.says(.mustRevalidate) {
            return .revalidate(answer(status, .mustRevalidate), ifFailing: fallback(control, status))
        }
        if let most = request.maxStale, status.staleness <= most { return .hit(answer(status, .requestMaxStale)) }
        if isWithin(control.staleWhileRevalidate, status) {
            return .serveStale(answer(status, .staleWhileRevalidate))
        }
        return .revalidate(answer(status, status.rule), ifFailing: fallback(control, status))
    }

    /// Returns the reason why the request needs a newer response; nil if it does not.
    private static func objection(of control: HTTPCacheControl, to status: HTTPCacheStatus) -> HTTPCacheRule? {
        // Reloading a page sends max-age=0, for which `immutable` was invented. Otherwise 0 asks the server, however young the
        // response is.
        if let most = control.maxAge, status.age > most || most == 0 {
            guard most == 0, status.rule == .immutableResponse else { return .requestMaxAge }
        }
        if let least = control.minFresh, !(status.remaining >= least) { return .requestMinFresh }
        return nil
    }

    /// Returns the failures in which the stored response is used. A fresh response is always usable. A stale one is usable
    /// without a connection unless forbidden (RFC 9111, 4.2.4), and in place of a server error if the origin allows it (RFC 5861,
    /// 4).
    private static func fallback(_ control: HTTPCacheControl, _ status: HTTPCacheStatus) -> HTTPStaleFallback {
        guard !status.isFresh else { return .always }
        guard !control.says(.mustRevalidate) else { return .never }
        return HTTPStaleFallback(whenUnreachable: true, whenServerFails: isWithin(control.staleIfError, status))
    }

    private static func isWithin(_ window: Double?, _ status: HTTPCacheStatus) -> Bool {
        window.map { status.staleness < $0 } ?? false
    }

    private static func answer(_ status: HTTPCacheStatus, _ rule: HTTPCacheRule) -> HTTPFreshness {
        HTTPFreshness(lifetime: status.lifetime, age: status.age, isFresh: status.isFresh, rule: rule)
    }
}
