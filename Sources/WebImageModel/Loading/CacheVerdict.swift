/// What a load's ``CachePolicy`` said of what is cached, and why.
public struct CacheVerdict: Sendable, Hashable {
    /// What it said.
    public enum Outcome: Sendable, Hashable {
        /// What is cached serves; the server is not asked.
        case serves
        /// What is cached is stale and serves; the server is asked behind it.
        case servesStale
        /// The server is asked first whether what is cached still serves.
        case asksFirst
        /// What is cached is not for this request; the server is asked for another picture.
        case loads
        /// The request allows only what is cached, and that does not serve.
        case refuses
    }

    /// What it said.
    public let outcome: Outcome
    /// Seconds since the server made what is cached or last said that it serves; nil where nothing is cached.
    public let age: Double?
    /// Why, as a part of an English sentence, for example "max-age says that it is fresh".
    public let explanation: String

    /// A verdict of these parts.
    package init(outcome: Outcome, age: Double?, explanation: String) {
        (self.outcome, self.age, self.explanation) = (outcome, age, explanation)
    }
}
