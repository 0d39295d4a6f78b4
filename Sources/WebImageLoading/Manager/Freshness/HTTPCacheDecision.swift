/// The decision of an HTTP cache about a request.
enum HTTPCacheDecision: Sendable, Hashable {
    /// The stored response is used; the server is not asked.
    case hit(HTTPFreshness)
    /// The stored response is stale but used; it is revalidated in the background.
    case serveStale(HTTPFreshness)
    /// The stored response is revalidated before it is used.
    case revalidate(HTTPFreshness, ifFailing: HTTPStaleFallback)
    /// The server is asked as if nothing were stored: nothing is, or it does not match this request.
    case fetch(HTTPCacheRule)
    /// The request accepts only a cached response, and there is none: a 504.
    case unsatisfiable(HTTPCacheRule)
}

/// The failures of a revalidation in which the stored response is used.
struct HTTPStaleFallback: Sendable, Hashable {
    /// True if it is used when no server can be reached.
    var whenUnreachable: Bool
    /// True if it is used when the server answers with 500, 502, 503 or 504.
    var whenServerFails: Bool

    static let never = HTTPStaleFallback(whenUnreachable: false, whenServerFails: false)
    static let always = HTTPStaleFallback(whenUnreachable: true, whenServerFails: true)
}

/// The rule behind a decision. Its text is part of an English sentence that explains why an image was or was not loaded again.
enum HTTPCacheRule: String, Sendable, Hashable, CaseIterable {
    // Decided by the policy.
    case immutablePolicy = "the policy never revalidates"
    case revalidatePolicy = "the policy revalidates every time"
    case withinTimeToLive = "its time to live has not expired"
    case pastTimeToLive = "its time to live has expired"
    // No usable response.
    case nothingStored = "nothing is cached"
    case noRecord = "no response metadata is stored with it"
    case varies = "it was stored for a request with other header fields"
    case variesOnAll = "Vary limits it to one request"
    case onlyIfCached = "the request allows only cached responses, and none is usable"
    // Fresh.
    case maxAge = "max-age says that it is fresh"
    case expires = "Expires says that it is fresh"
    case heuristic = "it has not changed for a long time, so it counts as fresh"
    case immutableResponse = "the response is immutable while it is fresh"
    case requestMaxStale = "it is stale, but the request's max-stale allows that"
    // Not fresh, or to be revalidated in any case.
    case noCache = "the server requires revalidation every time"
    case requestNoCache = "the request requires revalidation"
    case requestMaxAge = "it is older than the request's max-age allows"
    case requestMinFresh = "it does not stay fresh as long as the request's min-fresh requires"
    case mustRevalidate = "it is stale, and must-revalidate requires revalidation"
    case expired = "it is stale"
    case redirected = "the redirect that led to it has expired"
    // Stale and used.
    case staleWhileRevalidate = "it is stale, and stale-while-revalidate allows that meanwhile"

    var explanation: String { rawValue }
}

extension CacheVerdict {
    /// Creates the verdict for observers; nil if nothing is cached.
    init?(_ decision: HTTPCacheDecision) {
        let (outcome, rule, age): (Outcome, HTTPCacheRule, Double?)
        switch decision {
        case .hit(let answer): (outcome, rule, age) = (.serves, answer.rule, answer.age)
        case .serveStale(let answer): (outcome, rule, age) = (.servesStale, answer.rule, answer.age)
        case .revalidate(let answer, _): (outcome, rule, age) = (.asksFirst, answer.rule, answer.age)
        case .fetch(.nothingStored): return nil
        case .fetch(let other): (outcome, rule, age) = (.loads, other, nil)
        case .unsatisfiable(let other): (outcome, rule, age) = (.refuses, other, nil)
        }
        self.init(outcome: outcome, age: rule == .noRecord ? nil : age, explanation: rule.explanation)
    }
}
