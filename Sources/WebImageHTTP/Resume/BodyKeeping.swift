import FoundationEssentials

/// What a transfer knows of whether the body that it receives is kept. Nothing is found out before the body has been under way for a
/// while or breaks off: most bodies are through long before that.
struct BodyKeeping {
    /// Nanoseconds that a body has been under way before it is written.
    static let patience: UInt64 = 450_000_000
    /// Up to so many bytes whatever is new is written. All is written each time, so of what is more a quarter must be new.
    static let smallByteCount = 1 << 20

    /// The first request of the attempt: what a part is kept for.
    private var asked: DownloadRequest?
    /// Where the body is kept; nil when it is not, or not any more.
    var store: (any PartialBodyStore)?
    /// What the body belongs to, as if it came whole; nil while there is none.
    private var answer: HTTPResponse?
    private var began: UInt64 = 0
    private var isDecided = false
    private var head: PartialHead?
    /// How many bytes of the body are in the store.
    private(set) var savedCount = 0

    /// Whether a body is under way.
    var isUnderWay: Bool { answer != nil }

    /// A request is sent; the first one counts.
    mutating func note(_ request: DownloadRequest, store: (any PartialBodyStore)?) {
        if asked == nil { (asked, self.store) = (request, store) }
        end()
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
        (isDecided, savedCount) = (true, count)
        guard !PartialRules.forbidsStoring(answer.headers) else { return false }
        part.total = answer.expectedByteCount
        head = part
        return true
    }

    /// The body is over.
    mutating func end() { (answer, head, isDecided, savedCount) = (nil, nil, false, 0) }

    /// The key of what is in the store; nil when nothing is.
    var savedKey: PartialKey? { savedCount > 0 ? head?.key : nil }

    /// What is to be stored of a slow body now, if there is enough new.
    mutating func slowPart(of body: borrowing BodyBuffer, now: UInt64, wallTime: Double) -> PartialDownload? {
        guard store != nil, now >= began &+ Self.patience,
            body.count > savedCount + max(savedCount - Self.smallByteCount, 0) / 4
        else { return nil }
        return part(of: body, wallTime: wallTime)
    }

    /// What is to be kept of the body as it is; nil when nothing is.
    mutating func part(of body: borrowing BodyBuffer, wallTime: Double) -> PartialDownload? {
        guard let answer, let asked, body.count >= PartialRules.leastByteCount else { return nil }
        if !isDecided {
            isDecided = true
            head = PartialRules.head(of: answer, to: asked, now: wallTime)
        }
        guard let head, let bytes = body.snapshot() else { return nil }
        if store != nil { savedCount = bytes.count }
        return PartialDownload(head: head, bytes: bytes)
    }
}
