/// How far a list of prefetches is.
public struct PrefetchProgress: Sendable, Hashable {
    /// URLs that are through, whether there is a picture now or not.
    public var finishedCount: Int
    /// URLs among them that brought none.
    public var skippedCount: Int
    /// URLs of the list.
    public var totalCount: Int
    /// Whether the list was cancelled before its end.
    public var isCancelled: Bool

    /// A reading.
    public init(finishedCount: Int = 0, skippedCount: Int = 0, totalCount: Int, isCancelled: Bool = false) {
        self.finishedCount = finishedCount
        self.skippedCount = skippedCount
        self.totalCount = totalCount
        self.isCancelled = isCancelled
    }

    /// Whether every URL is through.
    public var isComplete: Bool { finishedCount == totalCount }
}
