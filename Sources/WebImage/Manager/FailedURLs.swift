import FoundationEssentials

/// URLs that failed for good and are not tried again, in memory: for the life of the process, or for a time.
///
/// Holds at most `limit` URLs, those whose last failure is longest ago go first, so that a service that is fed bad URLs does not
/// grow. Everything takes the same time, however many URLs there are.
struct FailedURLs: Sendable {
    private struct Mark {
        var ticket: UInt64
        /// In nanoseconds on the monotonic clock; the highest number means never.
        var expiry: UInt64
    }

    private var marks: [URL: Mark] = [:]
    /// In the order of the failures. Where the ticket is not the one in `marks`, the URL has left or failed again later.
    private var queue: [(url: URL, ticket: UInt64)] = []
    private var head = 0
    private var lastTicket: UInt64 = 0
    private let limit: Int
    private let clock: ClockSource

    init(limit: Int = 10_000, clock: ClockSource = .system) {
        self.limit = max(limit, 1)
        self.clock = clock
    }

    /// How many are held, with those whose time is over and that nobody has asked for.
    var count: Int { marks.count }
    /// Places that are taken up, also by URLs that have left.
    var placeCount: Int { queue.count }

    func contains(_ url: URL) -> Bool {
        guard let mark = marks[url] else { return false }
        return !isOver(mark)
    }

    /// Holds a URL for `lifetime` seconds from now, or without end when that is nil; not at all when it is not above zero.
    mutating func insert(_ url: URL, lifetime: Double? = nil) {
        guard lifetime.map({ $0 > 0 }) ?? true else { return }
        lastTicket += 1
        marks[url] = Mark(ticket: lastTicket, expiry: expiry(after: lifetime))
        queue.append((url, lastTicket))
        while head < queue.count, marks.count > limit || isDroppable(queue[head]) {
            let (url, ticket) = queue[head]
            if marks[url]?.ticket == ticket { marks[url] = nil }
            head += 1
        }
        // What has left is let go of when it is the bigger part, so each URL is moved once on average.
        if queue.count > 2 * max(marks.count, 16) {
            queue = queue[head...].filter { marks[$0.url]?.ticket == $0.ticket }
            head = 0
        }
    }

    mutating func remove(_ url: URL) { marks[url] = nil }

    mutating func removeAll() { self = FailedURLs(limit: limit, clock: clock) }

    private func isDroppable(_ place: (url: URL, ticket: UInt64)) -> Bool {
        guard let mark = marks[place.url], mark.ticket == place.ticket else { return true }
        return isOver(mark)
    }

    private func isOver(_ mark: Mark) -> Bool { mark.expiry != .max && clock.monotonicNanoseconds() >= mark.expiry }

    private func expiry(after lifetime: Double?) -> UInt64 {
        guard let lifetime, lifetime < 1e9 else { return .max }
        return clock.monotonicNanoseconds() + UInt64(lifetime * 1e9)
    }
}
