import FoundationEssentials

/// URLs that failed for good and are not tried again, in memory for the life of the process.
///
/// Holds at most `limit` URLs, the oldest go first, so that a service that is fed bad URLs does not grow.
struct FailedURLs: Sendable {
    private var order: [URL] = []
    private var head = 0
    private var members: Set<URL> = []
    private let limit: Int

    init(limit: Int = 10_000) { self.limit = max(limit, 1) }

    var count: Int { members.count }

    func contains(_ url: URL) -> Bool { members.contains(url) }

    mutating func insert(_ url: URL) {
        guard members.insert(url).inserted else { return }
        order.append(url)
        while members.count > limit, head < order.count {
            members.remove(order[head])
            head += 1
        }
        if head > limit {
            order.removeFirst(head)
            head = 0
        }
    }

    mutating func remove(_ url: URL) {
        guard members.remove(url) != nil else { return }
        if let index = order[head...].firstIndex(of: url) { order.remove(at: index) }
    }

    mutating func removeAll() { self = FailedURLs(limit: limit) }
}
