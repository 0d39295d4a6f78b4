/// What an HTTP cache does with a request.
enum HTTPCacheDecision: Sendable, Hashable {
    /// What is stored serves; the server is not asked.
    case hit(HTTPFreshness)
    /// What is stored is stale and serves all the same; the server is asked behind it.
    case serveStale(HTTPFreshness)
    /// The server is asked first, whether what is stored still serves.
    case revalidate(HTTPFreshness, ifFailing: HTTPStaleFallback)
    /// The server is asked as if nothing was stored: there is nothing, or it is not for this request.
    case fetch(HTTPCacheRule)
    /// The request wants an answer from the cache alone, and there is none: a 504.
    case unsatisfiable(HTTPCacheRule)
}

/// When what is stored serves although it could not be revalidated.
struct HTTPStaleFallback: Sendable, Hashable {
    /// When no server could be reached.
    var whenUnreachable: Bool
    /// When the server answered with 500, 502, 503 or 504.
    var whenServerFails: Bool

    static let never = HTTPStaleFallback(whenUnreachable: false, whenServerFails: false)
    static let always = HTTPStaleFallback(whenUnreachable: true, whenServerFails: true)
}

/// What decided, as a part of an English sentence for people who ask why a picture was or was not loaded anew.
enum HTTPCacheRule: String, Sendable, Hashable, CaseIterable {
    // The policy alone.
    case immutablePolicy = "the policy takes what is cached as it is"
    case revalidatePolicy = "the policy asks the server each time"
    case withinTimeToLive = "its time to live is not over"
    case pastTimeToLive = "its time to live is over"
    // Nothing there to be served.
    case nothingStored = "nothing is stored"
    case noRecord = "nothing is known of the answer it came with"
    case varies = "it was made for a request with other header fields"
    case variesOnAll = "Vary says that it may be for one request only"
    case onlyIfCached = "the request allows only what is cached, and nothing cached may serve"
    // Fresh.
    case maxAge = "max-age says that it is fresh"
    case expires = "Expires says that it is fresh"
    case heuristic = "it has long not changed, so it counts as fresh"
    case immutableResponse = "the server says that it never changes while it is fresh"
    case requestMaxStale = "it is stale, and max-stale of the request allows that"
    // Not fresh, or to be asked about all the same.
    case noCache = "the server wants to be asked each time"
    case requestNoCache = "the request wants the server to be asked"
    case requestMaxAge = "it is older than max-age of the request allows"
    case requestMinFresh = "it will not be fresh for as long as min-fresh of the request wants"
    case mustRevalidate = "it is stale, and must-revalidate forbids to serve it unasked"
    case expired = "it is stale"
    case redirected = "the redirect that led to it has to be followed anew"
    // Stale and served.
    case staleWhileRevalidate = "it is stale, and stale-while-revalidate lets it serve while the server is asked"

    var explanation: String { rawValue }
}

extension CacheVerdict {
    /// What is told of a decision; nil when nothing is cached.
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
