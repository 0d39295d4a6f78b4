/// The cache status of a record at a point in time: its age and remaining lifetime (RFC 9111, 4.2).
struct HTTPCacheStatus: Sendable, Hashable {
    /// The seconds since the origin generated or last validated it; never negative.
    var age: Double
    /// The age in seconds at which it becomes stale; nil if unknown.
    var lifetime: Double?
    /// The remaining seconds of its lifetime; negative after the end.
    var remaining: Double
    /// The rule that makes it fresh or stale.
    var rule: HTTPCacheRule

    /// True until its lifetime ends.
    var isFresh: Bool { remaining > 0 }
    /// The seconds since its lifetime ended; 0 before.
    var staleness: Double { HTTPCacheRecord.positive(-remaining) }
}

/// The freshness of a cached response at a point in time, by what its server said.
package struct HTTPFreshness: Sendable, Hashable {
    /// The age in seconds at which it becomes stale; nil if unknown, and then it is stale at once.
    package var lifetime: Double?
    /// The seconds since the server generated or last validated it; never negative.
    package var age: Double
    /// A Boolean value that indicates whether it is used without asking the server.
    package var isFresh: Bool
    /// The rule behind ``isFresh``.
    var rule: HTTPCacheRule

    var isStale: Bool { !isFresh }

    /// The reason for ``isFresh``, as part of an English sentence, for example "max-age says that it is fresh".
    package var explanation: String { rule.explanation }
}

extension HTTPCacheRecord {
    /// The freshness lifetime, and its source.
    struct Lifetime: Sendable, Hashable {
        /// From the time of the origin's response.
        var seconds: Double
        var rule: HTTPCacheRule
    }

    /// A record further in the future than this many seconds was written with a wrong clock, so its age is unknown.
    static let longestLead = 86_400.0
    /// The maximum heuristic lifetime in seconds, for responses without an explicit one.
    static let longestHeuristicLifetime = 7 * 86_400.0

    /// Returns the cache status at `now`, in seconds since 1970.
    func cacheStatus(at now: Double) -> HTTPCacheStatus {
        let age = age(at: now)
        guard !(responseTime - now > Self.longestLead) else {
            return HTTPCacheStatus(age: age, lifetime: lifetime?.seconds, remaining: -.infinity, rule: .expired)
        }
        let lifetime = lifetime
        var end = lifetime?.seconds ?? 0
        let isBound = redirectLifetime.map { initialAge + $0 < end } ?? false
        if let redirectLifetime, isBound { end = initialAge + redirectLifetime }
        let remaining = end - age
        let isImmutable = facts.control.says(.immutable) && lifetime?.rule != .heuristic
        let rule: HTTPCacheRule =
            if remaining > 0 {
                isImmutable ? .immutableResponse : lifetime?.rule ?? .expired
            } else {
                isBound && age < lifetime?.seconds ?? 0 ? .redirected : .expired
            }
        return HTTPCacheStatus(
            age: age,
            lifetime: lifetime == nil ? nil : end,
            remaining: remaining,
            rule: rule
        )
    }

    /// Returns the seconds since the origin generated or last validated it (RFC 9111, 4.2.3). A clock that was set back never
    /// makes it younger than on arrival.
    func age(at now: Double) -> Double { initialAge + Self.positive(now - responseTime) }

    /// The age on arrival.
    var initialAge: Double {
        let delay = Self.positive(responseTime - requestTime)
        return max(Self.positive(responseTime - (facts.date ?? responseTime)), facts.age + delay)
    }

    /// The explicit lifetime, or the heuristic one; nil if there is neither.
    var lifetime: Lifetime? { explicitLifetime ?? heuristicLifetime }

    /// The explicit lifetime.
    var explicitLifetime: Lifetime? {
        if let maxAge = facts.control.maxAge { return Lifetime(seconds: maxAge, rule: .maxAge) }
        guard let expires = facts.expires else { return nil }
        return Lifetime(seconds: Self.positive(expires - (facts.date ?? responseTime)), rule: .expires)
    }

    private var heuristicLifetime: Lifetime? {
        guard HTTPCacheMachine.isHeuristicallyCacheable(statusCode) || facts.control.says(.isPublic),
            let lastModified = facts.lastModified
        else { return nil }
        let unchanged = Self.positive((facts.date ?? responseTime) - lastModified)
        return Lifetime(seconds: min(unchanged / 10, Self.longestHeuristicLifetime), rule: .heuristic)
    }

    /// Returns a positive number unchanged; 0 for any other, including NaN.
    static func positive(_ value: Double) -> Double { value > 0 ? value : 0 }

    /// Returns the freshness at a point in time under ``CachePolicy/http``, for a request without cache directives. Costs less
    /// than a microsecond.
    ///
    /// - Parameter now: The seconds since 1970.
    package func freshness(now: Double) -> HTTPFreshness {
        let standing = cacheStatus(at: now)
        let (rule, isFresh) =
            switch HTTPCacheMachine.decide(self, for: nil, now: now) {
            case .hit(let answer): (answer.rule, true)
            case .serveStale(let answer), .revalidate(let answer, _): (answer.rule, false)
            case .fetch(let rule), .unsatisfiable(let rule): (rule, false)
            }
        return HTTPFreshness(lifetime: standing.lifetime, age: standing.age, isFresh: isFresh, rule: rule)
    }
}
