/// How a record stands at a moment: how old it is, and how long it serves yet (RFC 9111, 4.2).
struct HTTPCacheStanding: Sendable, Hashable {
    /// Seconds since the origin made it or last said that it serves; never negative.
    var age: Double
    /// The age at which it is over, in seconds; nil when nothing tells.
    var lifetime: Double?
    /// Seconds that remain of the lifetime; negative by what it is past.
    var remaining: Double
    /// What makes it fresh, or stale.
    var rule: HTTPCacheRule

    /// Whether its lifetime is not over.
    var isFresh: Bool { remaining > 0 }
    /// Seconds since its lifetime was over; 0 while it is not.
    var staleness: Double { HTTPCacheRecord.positive(-remaining) }
}

/// How long something in the cache serves by what its server said, at a moment.
public struct HTTPFreshness: Sendable, Hashable {
    /// The age in seconds at which it is stale; nil when nothing tells, and then it is stale at once.
    public var lifetime: Double?
    /// Seconds since the server made it or last said that it serves; never negative.
    public var age: Double
    /// Whether it serves without asking the server.
    public var isFresh: Bool
    /// Why it does or does not.
    var rule: HTTPCacheRule

    var isStale: Bool { !isFresh }

    /// Why it does or does not, as a part of an English sentence, for example "max-age says that it is fresh".
    public var explanation: String { rule.explanation }
}

extension HTTPCacheRecord {
    /// How long something is fresh, and why.
    struct Lifetime: Sendable, Hashable {
        /// From the origin's answer on.
        var seconds: Double
        var rule: HTTPCacheRule
    }

    /// A record that is further in the future than this many seconds is of a clock that was wrong: nobody knows how old it is.
    static let longestLead = 86_400.0
    /// The most seconds that something is fresh of which nothing is said.
    static let longestHeuristicLifetime = 7 * 86_400.0

    /// How it stands at `now`, in seconds since 1970.
    func standing(at now: Double) -> HTTPCacheStanding {
        let age = age(at: now)
        guard !(responseTime - now > Self.longestLead) else {
            return HTTPCacheStanding(age: age, lifetime: lifetime?.seconds, remaining: -.infinity, rule: .expired)
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
        return HTTPCacheStanding(
            age: age,
            lifetime: lifetime == nil ? nil : end,
            remaining: remaining,
            rule: rule
        )
    }

    /// Seconds since the origin made it or last said that it serves (RFC 9111, 4.2.3). A clock that was set back makes nothing
    /// younger than it was when it came.
    func age(at now: Double) -> Double { initialAge + Self.positive(now - responseTime) }

    /// The age it had when it came.
    var initialAge: Double {
        let delay = Self.positive(responseTime - requestTime)
        return max(Self.positive(responseTime - (facts.date ?? responseTime)), facts.age + delay)
    }

    /// What the response says of its lifetime, or what follows from its last change; nil when nothing tells.
    var lifetime: Lifetime? { explicitLifetime ?? heuristicLifetime }

    /// What the response says of its lifetime.
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

    /// A number that is positive; 0 instead of any other, and of what is no number.
    static func positive(_ value: Double) -> Double { value > 0 ? value : 0 }

    /// How it stands at a moment under ``CachePolicy/http``, for a request that says nothing about caching. Costs less than a
    /// microsecond.
    ///
    /// - Parameter now: seconds since 1970.
    public func freshness(now: Double) -> HTTPFreshness {
        let standing = standing(at: now)
        let (rule, isFresh) =
            switch HTTPCacheMachine.decide(self, for: nil, now: now) {
            case .hit(let answer): (answer.rule, true)
            case .serveStale(let answer), .revalidate(let answer, _): (answer.rule, false)
            case .fetch(let rule), .unsatisfiable(let rule): (rule, false)
            }
        return HTTPFreshness(lifetime: standing.lifetime, age: standing.age, isFresh: isFresh, rule: rule)
    }
}
