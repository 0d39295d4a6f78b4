/// Which of the waiting transfers starts next: by priority, then in the order they came or the reverse, and never more
/// than `maximumRunning` at once.
///
/// A pure value; every operation takes amortised O(1).
struct DownloadScheduler {
    typealias ID = UInt64

    private struct Waiting {
        var priority: LoadPriority
        /// Changes when the entry moves; a lane's entry with another ticket is stale.
        var ticket: UInt64
    }

    private struct Lane {
        var entries: [(id: ID, ticket: UInt64)] = []
        var head = 0
    }

    /// At most this many run; lowering it lets those that run end.
    var maximumRunning: Int
    /// Whether the newest starts first.
    var isLIFO = false
    /// While set, nothing starts.
    var isSuspended = false

    private var lanes = [Lane](repeating: Lane(), count: LoadPriority.allCases.count)
    private var waiting: [ID: Waiting] = [:]
    private var running: Set<ID> = []
    private var nextTicket: UInt64 = 0

    init(maximumRunning: Int) { self.maximumRunning = maximumRunning }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }

    mutating func enqueue(_ id: ID, priority: LoadPriority) {
        guard waiting[id] == nil, !running.contains(id) else { return }
        place(id, priority: priority)
    }

    /// Forgets a transfer, waiting or running. True if it ran.
    @discardableResult
    mutating func remove(_ id: ID) -> Bool {
        if running.remove(id) != nil { return true }
        if let old = waiting.removeValue(forKey: id) { compact(old.priority) }
        return false
    }

    /// Forgets all transfers.
    mutating func removeAll() {
        for lane in lanes.indices { lanes[lane] = Lane() }
        waiting = [:]
        running = []
    }

    /// Moves a waiting transfer to another priority, behind those that wait there (before them, last in first out).
    mutating func setPriority(_ priority: LoadPriority, of id: ID) {
        guard let old = waiting[id], old.priority != priority else { return }
        place(id, priority: priority)
        compact(old.priority)
    }

    /// The next to start, which counts as running from now on; nil when nothing may or can start.
    mutating func startNext() -> ID? {
        guard !isSuspended, running.count < max(maximumRunning, 1) else { return nil }
        for lane in lanes.indices.reversed() {
            while let entry = pop(lane) {
                guard waiting[entry.id]?.ticket == entry.ticket else { continue }
                waiting[entry.id] = nil
                running.insert(entry.id)
                return entry.id
            }
        }
        return nil
    }

    private mutating func place(_ id: ID, priority: LoadPriority) {
        nextTicket += 1
        waiting[id] = Waiting(priority: priority, ticket: nextTicket)
        lanes[priority.rawValue].entries.append((id, nextTicket))
    }

    private mutating func pop(_ index: Int) -> (id: ID, ticket: UInt64)? {
        guard lanes[index].head < lanes[index].entries.count else {
            lanes[index] = Lane()
            return nil
        }
        if isLIFO { return lanes[index].entries.removeLast() }
        let entry = lanes[index].entries[lanes[index].head]
        lanes[index].head += 1
        if lanes[index].head > 64, lanes[index].head * 2 > lanes[index].entries.count {
            lanes[index].entries.removeFirst(lanes[index].head)
            lanes[index].head = 0
        }
        return entry
    }

    /// Drops stale entries once they outnumber the living.
    private mutating func compact(_ priority: LoadPriority) {
        let lane = lanes[priority.rawValue]
        guard lane.entries.count > 64, lane.entries.count > 4 * (waiting.count + 1) else { return }
        let living = lane.entries[lane.head...].filter { waiting[$0.id]?.ticket == $0.ticket }
        lanes[priority.rawValue] = Lane(entries: living, head: 0)
    }
}
