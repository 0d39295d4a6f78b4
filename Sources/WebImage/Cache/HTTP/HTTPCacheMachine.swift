/// What an HTTP cache does, as a function of what is stored, the request, the policy and the time. It has no state and no clock.
enum HTTPCacheMachine {
    /// What to do with a request.
    ///
    /// - Parameters:
    ///   - record: what is known of what is stored; nil when nothing is stored, or nothing is known of it.
    ///   - isStored: whether something is stored of which nothing is known.
    ///   - request: what is asked for. Its directives count under ``CachePolicy/http`` only.
    ///   - policy: who decides.
    ///   - now: seconds since 1970.
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
            return .hit(HTTPCacheAnswer(age: record?.age(at: now) ?? 0, isStale: false, rule: .immutablePolicy))
        case .revalidate:
            let answer = HTTPCacheAnswer(age: record?.age(at: now) ?? 0, isStale: true, rule: .revalidatePolicy)
            return .revalidate(answer, ifFailing: .always)
        case .ttl(let seconds): return decide(record, timeToLive: seconds, now: now)
        case .http: return decide(record, request: request, now: now)
        }
    }

    private static func decide(_ record: HTTPCacheRecord?, timeToLive: Double, now: Double) -> HTTPCacheDecision {
        let age = record?.age(at: now) ?? 0
        if timeToLive.isNaN { return .hit(HTTPCacheAnswer(age: age, isStale: false, rule: .immutablePolicy)) }
        if timeToLive == .infinity { return .hit(HTTPCacheAnswer(age: age, isStale: false, rule: .withinTimeToLive)) }
        guard let record else {
            return .revalidate(HTTPCacheAnswer(age: 0, isStale: true, rule: .noRecord), ifFailing: .always)
        }
        let passed = HTTPCacheRecord.positive(now - record.responseTime)
        if passed < timeToLive, !(record.responseTime - now > HTTPCacheRecord.longestLead) {
            return .hit(HTTPCacheAnswer(age: age, isStale: false, rule: .withinTimeToLive))
        }
        return .revalidate(HTTPCacheAnswer(age: age, isStale: true, rule: .pastTimeToLive), ifFailing: .always)
    }

    private static func decide(_ record: HTTPCacheRecord?, request: HTTPCacheRequest, now: Double) -> HTTPCacheDecision
    {
        let decision: HTTPCacheDecision
        if let record {
            decision = decide(record, for: request, now: now)
        } else {
            let unknown = HTTPCacheAnswer(age: 0, isStale: true, rule: .noRecord)
            decision = .revalidate(unknown, ifFailing: HTTPStaleFallback(whenUnreachable: true, whenServerFails: false))
        }
        guard request.control.says(.onlyIfCached) else { return decision }
        switch decision {
        case .hit, .unsatisfiable: return decision
        case .serveStale(let answer): return .hit(answer)
        case .revalidate, .fetch: return .unsatisfiable(.onlyIfCached)
        }
    }
}
