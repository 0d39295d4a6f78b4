/// A priority queue: waiting jobs by priority, then in the order they were inserted (or the reverse).
///
/// Inserting, taking the first, removing and moving one all take amortised O(1).
@usableFromInline
package struct JobHeap<Body: Sendable>: Sendable {
    @usableFromInline
    struct Job: Sendable {
        @usableFromInline var body: Body
        @usableFromInline var priority: LoadPriority
        /// A version stamp that changes when the job moves; an entry of a lane with another ticket is stale.
        @usableFromInline var ticket: UInt64

        @inlinable
        init(body: Body, priority: LoadPriority, ticket: UInt64) {
            (self.body, self.priority, self.ticket) = (body, priority, ticket)
        }
    }

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var id: UInt64
        @usableFromInline var ticket: UInt64

        @inlinable
        init(id: UInt64, ticket: UInt64) { (self.id, self.ticket) = (id, ticket) }
    }

    @usableFromInline package var order: WorkQueue.Order = .fifo
    @usableFromInline var lanes = [FIFOList<Entry>](repeating: FIFOList(), count: LoadPriority.allCases.count)
    @usableFromInline var jobs: [UInt64: Job] = [:]
    @usableFromInline var nextID: UInt64 = 0
    /// The number of lane entries whose job is gone or moved.
    @usableFromInline var staleCount = 0

    @inlinable
    package init() {}

    @inlinable
    package var count: Int { jobs.count }

    @inlinable
    package mutating func insert(_ body: Body, priority: LoadPriority) -> UInt64 {
        nextID += 1
        jobs[nextID] = Job(body: body, priority: priority, ticket: nextID)
        lanes[priority.rawValue].append(Entry(id: nextID, ticket: nextID))
        return nextID
    }

    /// The job that ``popFirst()`` would take out.
    package var first: (body: Body, priority: LoadPriority)? {
        mutating get {
            for lane in lanes.indices.reversed() {
                while let entry = order == .lifo ? lanes[lane].last : lanes[lane].first {
                    if let job = jobs[entry.id], job.ticket == entry.ticket { return (job.body, job.priority) }
                    _ = order == .lifo ? lanes[lane].popLast() : lanes[lane].popFirst()
                    staleCount -= 1
                }
            }
            return nil
        }
    }

    /// Returns the priority of a waiting job.
    package func priority(of id: UInt64) -> LoadPriority? { jobs[id]?.priority }

    @inlinable
    package mutating func popFirst() -> Body? {
        for lane in lanes.indices.reversed() {
            while let entry = order == .lifo ? lanes[lane].popLast() : lanes[lane].popFirst() {
                guard let job = jobs[entry.id], job.ticket == entry.ticket else {
                    staleCount -= 1
                    continue
                }
                jobs[entry.id] = nil
                return job.body
            }
        }
        return nil
    }

    @inlinable
    package mutating func remove(_ id: UInt64) -> Body? {
        guard let job = jobs.removeValue(forKey: id) else { return nil }
        noteStaleEntry()
        return job.body
    }

    @inlinable
    package mutating func setPriority(_ priority: LoadPriority, of id: UInt64) {
        guard var job = jobs[id], job.priority != priority else { return }
        nextID += 1
        job.priority = priority
        job.ticket = nextID
        jobs[id] = job
        lanes[priority.rawValue].append(Entry(id: id, ticket: nextID))
        noteStaleEntry()
    }

    /// The number of entries in lanes, including stale ones.
    @inlinable
    package var entryCount: Int { lanes.reduce(0) { $0 + $1.count } }

    /// Removes stale entries when they outnumber the jobs: otherwise jobs that are cancelled or moved before their turn would
    /// accumulate in a lane that is not reached.
    @inlinable
    mutating func noteStaleEntry() {
        staleCount += 1
        guard staleCount > 64, staleCount > jobs.count else { return }
        for lane in lanes.indices { lanes[lane] = lanes[lane].filter { jobs[$0.id]?.ticket == $0.ticket } }
        staleCount = 0
    }
}
