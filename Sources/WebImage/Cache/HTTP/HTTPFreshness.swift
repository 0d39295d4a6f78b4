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

    /// Why it does or does not, as a part of an English sentence, for example "max-age says that it is fresh".
    public var explanation: String { rule.explanation }
}

extension HTTPCacheRecord {
    /// How it stands at a moment under ``CachePolicy/http``, for a request that says nothing about caching. Costs less than a
    /// microsecond.
    ///
    /// - Parameter now: seconds since 1970.
    public func freshness(now: Double) -> HTTPFreshness {
        let standing = standing(at: now)
        let control = facts.control
        var rule = standing.rule
        var isFresh = standing.isFresh
        if facts.variesOnAll {
            (rule, isFresh) = (.variesOnAll, false)
        } else if control.says(.noCache) || control.says(.noStore) {
            (rule, isFresh) = (.noCache, false)
        } else if !isFresh, control.says(.mustRevalidate) {
            rule = .mustRevalidate
        } else if !isFresh, HTTPCacheMachine.isWithin(control.staleWhileRevalidate, standing) {
            rule = .staleWhileRevalidate
        }
        return HTTPFreshness(lifetime: standing.lifetime, age: standing.age, isFresh: isFresh, rule: rule)
    }
}
