import FoundationEssentials

/// What a transfer knows of whether, and where, the body that it receives is kept. Nothing is found out before the body has been
/// under way for a while or breaks off: most bodies are through long before that.
struct BodyKeeping {
    /// Nanoseconds that a body has been under way before it is written.
    static let patience: UInt64 = 450_000_000

    /// The first request of the attempt: what a part is kept for.
    private var asked: DownloadRequest?
    private var store: PartialDownloads?
    /// What the body belongs to, as if it came whole; nil while there is none.
    private var answer: HTTPResponse?
    private var began: UInt64 = 0
    private var isDecided = false
    private var head: PartialHead?
    private var writer: PartialWriter?
    private var savedCount = 0
    /// The open file of what was there before the request, until the body is over.
    private(set) var claimed: PartialWriter?

    /// Whether a body is under way.
    var isUnderWay: Bool { answer != nil }

    /// A request is sent; the first one counts.
    ///
    /// - Parameter claimed: the file that holds the beginning of what is asked for.
    mutating func note(_ request: DownloadRequest, store: PartialDownloads?, claimed: PartialWriter?) {
        if asked == nil { (asked, self.store) = (request, store) }
        _ = end()
        self.claimed = claimed
    }

    /// A body begins.
    ///
    /// - Parameters:
    ///   - answer: its response; of a rest the one that would have come with the whole.
    ///   - part: what the rest is of; nil for a whole.
    ///   - count: how many bytes of it there are.
    /// - Returns: false when the server has thought better of it: what there was is not to be kept any more either.
    mutating func begin(_ answer: HTTPResponse, after part: PartialHead?, count: Int, now: UInt64) -> Bool {
        (self.answer, began) = (answer, now)
        guard var part else { return true }
        isDecided = true
        writer = claimed
        savedCount = writer == nil ? 0 : count
        guard !PartialRules.forbidsStoring(answer.headers) else { return false }
        part.total = answer.expectedByteCount
        head = part
        return true
    }

    /// The body is over. What it was kept in, if it was.
    mutating func end() -> PartialWriter? {
        defer {
            (answer, head, writer, claimed) = (nil, nil, nil, nil)
            (isDecided, savedCount) = (false, 0)
        }
        return writer
    }

    /// Where `count` bytes are to be written now; nil when they need not, or must not.
    mutating func writerForSlowBody(of count: Int, now: UInt64, wallTime: Double) -> PartialWriter? {
        guard now >= began &+ Self.patience, count > savedCount else { return nil }
        return writerForBody(of: count, wallTime: wallTime)
    }

    /// Where `count` bytes are to be written, whenever; nil when they must not.
    mutating func writerForBody(of count: Int, wallTime: Double) -> PartialWriter? {
        guard let store, let head = headOfBody(of: count, wallTime: wallTime) else { return nil }
        savedCount = count
        if writer == nil { writer = store.writer(for: head) }
        return writer
    }

    /// What describes `count` bytes of the body; nil when they are not to be kept.
    mutating func headOfBody(of count: Int, wallTime: Double) -> PartialHead? {
        guard let answer, let asked, count >= PartialRules.leastByteCount else { return nil }
        if !isDecided {
            isDecided = true
            head = PartialRules.head(of: answer, to: asked, now: wallTime)
        }
        return head
    }
}
