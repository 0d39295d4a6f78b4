/// The decision of a load's ``CachePolicy`` about a cached image, and its reason.
public struct CacheVerdict: Sendable, Hashable {
    /// The possible decisions.
    package enum Outcome: Sendable, Hashable {
        /// The cached image is used; the server is not asked.
        case serves
        /// The cached image is stale and is used; it is revalidated in the background.
        case servesStale
        /// The cached image is revalidated before it is used.
        case asksFirst
        /// The cached image does not match this request; the server is asked for another one.
        case loads
        /// The request allows only a cached image, and the one in the cache cannot be used.
        case refuses
    }

    /// The decision.
    package let outcome: Outcome
    /// The time in seconds since the server sent the cached image or last confirmed it; nil if nothing is cached.
    package let age: Double?
    /// The reason, as a part of an English sentence, for example "max-age says that it is fresh".
    public let explanation: String

    /// Creates a verdict.
    package init(outcome: Outcome, age: Double?, explanation: String) {
        (self.outcome, self.age, self.explanation) = (outcome, age, explanation)
    }
}
