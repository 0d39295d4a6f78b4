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

    /// What RFC 9111, 4 says of a stored response to a request that may ask the server.
    static func decide(_ record: HTTPCacheRecord, for request: HTTPCacheRequest, now: Double) -> HTTPCacheDecision {
        let standing = record.standing(at: now)
        if record.facts.variesOnAll {
            // A 304 says that it is the one; nothing else can.
            return record.facts.hasValidator
                ? .revalidate(answer(standing, .variesOnAll), ifFailing: .never) : .fetch(.variesOnAll)
        }
        guard record.isSelected(by: request) else { return .fetch(.varies) }
        let control = record.facts.control
        // What must not be stored may be here all the same, under another policy.
        if control.says(.noCache) || control.says(.noStore) {
            return .revalidate(answer(standing, .noCache), ifFailing: .never)
        }
        if request.control.says(.noCache) {
            return .revalidate(answer(standing, .requestNoCache), ifFailing: .never)
        }
        if let rule = objection(of: request.control, to: standing) {
            return .revalidate(answer(standing, rule), ifFailing: fallback(control, standing))
        }
        if standing.isFresh { return .hit(answer(standing, standing.rule)) }
        return decide(stale: standing, control: control, request: request.control)
    }

    private static func decide(
        stale standing: HTTPCacheStanding,
        control: HTTPCacheControl,
        request: HTTPCacheControl
    ) -> HTTPCacheDecision {
        if control.says(.mustRevalidate) {
            return .revalidate(answer(standing, .mustRevalidate), ifFailing: fallback(control, standing))
        }
        if let most = request.maxStale, standing.staleness <= most { return .hit(answer(standing, .requestMaxStale)) }
        if isWithin(control.staleWhileRevalidate, standing) {
            return .serveStale(answer(standing, .staleWhileRevalidate))
        }
        return .revalidate(answer(standing, standing.rule), ifFailing: fallback(control, standing))
    }

    /// Why the request wants something newer than what is stored; nil when it does not.
    private static func objection(of control: HTTPCacheControl, to standing: HTTPCacheStanding) -> HTTPCacheRule? {
        // Who reloads a page asks with 0, and that is what `immutable` is for. With 0 the server is asked however young it is.
        if let most = control.maxAge, standing.age > most || most == 0 {
            guard most == 0, standing.rule == .immutableResponse else { return .requestMaxAge }
        }
        if let least = control.minFresh, !(standing.remaining >= least) { return .requestMinFresh }
        return nil
    }

    /// What serves when the server cannot tell. What is fresh needs nobody's leave; what is stale serves without a connection
    /// unless that is forbidden (RFC 9111, 4.2.4), and in place of an error where the origin allows it (RFC 5861, 4).
    private static func fallback(_ control: HTTPCacheControl, _ standing: HTTPCacheStanding) -> HTTPStaleFallback {
        guard !standing.isFresh else { return .always }
        guard !control.says(.mustRevalidate) else { return .never }
        return HTTPStaleFallback(whenUnreachable: true, whenServerFails: isWithin(control.staleIfError, standing))
    }

    static func isWithin(_ window: Double?, _ standing: HTTPCacheStanding) -> Bool {
        window.map { standing.staleness < $0 } ?? false
    }

    private static func answer(_ standing: HTTPCacheStanding, _ rule: HTTPCacheRule) -> HTTPCacheAnswer {
        HTTPCacheAnswer(age: standing.age, isStale: !standing.isFresh, rule: rule)
    }
}
