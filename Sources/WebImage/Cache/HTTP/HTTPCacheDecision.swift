/// What an HTTP cache does with a request.
enum HTTPCacheDecision: Sendable, Hashable {
    /// What is stored serves; the server is not asked.
    case hit(HTTPCacheAnswer)
    /// What is stored is stale and serves all the same; the server is asked behind it.
    case serveStale(HTTPCacheAnswer)
    /// The server is asked first, whether what is stored still serves.
    case revalidate(HTTPCacheAnswer, ifFailing: HTTPStaleFallback)
    /// The server is asked as if nothing was stored: there is nothing, or it is not for this request.
    case fetch(HTTPCacheRule)
    /// The request wants an answer from the cache alone, and there is none: a 504.
    case unsatisfiable(HTTPCacheRule)
}

/// What is stored, seen at a moment.
struct HTTPCacheAnswer: Sendable, Hashable {
    /// Seconds since the origin made it or last said that it serves (`Age`).
    var age: Double
    /// Whether its lifetime is over.
    var isStale: Bool
    /// What decided.
    var rule: HTTPCacheRule
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

/// What decided, for people who want to know why a picture was or was not loaded anew.
enum HTTPCacheRule: String, Sendable, Hashable, CaseIterable {
    // The policy alone.
    case immutablePolicy, revalidatePolicy, withinTimeToLive, pastTimeToLive
    // Nothing there to be served.
    case nothingStored, noRecord, varies, variesOnAll, onlyIfCached
    // Fresh.
    case maxAge, expires, heuristic, immutableResponse, requestMaxStale
    // Not fresh, or to be asked about all the same.
    case noCache, requestNoCache, requestMaxAge, requestMinFresh, mustRevalidate, expired, redirected
    // Stale and served.
    case staleWhileRevalidate
}
