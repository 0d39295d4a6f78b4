import FoundationEssentials

/// The state of keeping a body while a transfer receives it. Nothing is decided before the body has been arriving for a while or
/// breaks off: most bodies are complete long before that.
struct BodyKeeping {
    /// The time, in nanoseconds, for which a body must have been arriving before it is written.
    static let patience: UInt64 = 450_000_000
    /// Up to this size, any growth is written. Each write stores the whole part, so beyond it, the growth must be a quarter of the
    /// excess.
    static let smallByteCount = 1 << 20

    /// The first request of the attempt; the part is kept for it.
    private var asked: DownloadRequest?
    /// The store for the body; nil if the body is not kept, or no longer.
    var store: (any PartialBodyStore)?
    /// The response of the body, as for the whole; nil while there is none.
    private var answer: HTTPResponse?
    private var began: UInt64 = 0
    private var isDecided = false
    private var head: PartialHead?
    /// The number of bytes of the body in the store.
    private(set) var savedCount = 0

    /// True while a body is arriving.
    var isUnderWay: Bool { answer != nil }

    /// Records a request that is sent; the first one counts.
    mutating func note(_ request: DownloadRequest, store: (any PartialBodyStore)?) {
        if asked == nil { (asked, self.store) = (request, store) }
        end()
    }

    /// Records the start of a body.
    ///
    /// - Parameters:
    ///   - answer: its response; for a resumed body, the response that the whole would have had.
    ///   - part: the head of the part that the body continues; nil for a whole body.
    ///   - count: the number of bytes of the part.
    /// - Returns: false if the server now forbids storing: the kept part must be removed, too.
    mutating func begin(_ answer: HTTPResponse, after part: PartialHead?, count: Int, now: UInt64) -> Bool {
        (self.answer, began) = (answer, now)
        guard var part else { return true }
        (isDecided, savedCount) = (true, count)
        guard !PartialRules.forbidsStoring(answer.headers) else { return false }
        part.total = answer.expectedByteCount
        head = part
        return true
    }

    /// Records the end of the body.
    mutating func end() { (answer, head, isDecided, savedCount) = (nil, nil, false, 0) }

    /// The key of the stored part; nil if none is stored.
    var savedKey: PartialKey? { savedCount > 0 ? head?.key : nil }

    /// Returns the part of a slow body to store now, if it has grown enough.
    mutating func slowPart(of body: borrowing BodyBuffer, now: UInt64, wallTime: Double) -> PartialDownload? {
        guard store != nil, now >= began &+ Self.patience,
            body.count > savedCount + max(savedCount - Self.smallByteCount, 0) / 4
        else { return nil }
        return part(of: body, wallTime: wallTime)
    }

    /// Returns the part of the body to keep as it is now; nil if none is kept.
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
