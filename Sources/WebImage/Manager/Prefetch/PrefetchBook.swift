/// The bookkeeping of a prefetcher: which item of which list starts next, and how far each list is.
///
/// A pure value. An item waits, runs, and ends once; a list ends with its last item, or when it is cancelled.
struct PrefetchBook {
    typealias ItemID = UInt64
    typealias ListID = UInt64

    /// An item to be loaded.
    struct Start: Equatable {
        let item: ItemID
        let list: ListID
        let index: Int
    }

    /// What the end of an item means.
    struct End: Equatable {
        let list: ListID
        let index: Int
        /// How far the list is.
        let progress: PrefetchProgress
        /// The sums over all lists under way, this one included.
        let sum: PrefetchProgress
        /// Whether no other list is under way. Means something when the list is complete.
        let isLastList: Bool
    }

    private struct Item {
        let list: ListID
        let index: Int
        /// Its number in the queue, while it waits.
        var job: UInt64
    }

    private struct List {
        var progress: PrefetchProgress
        var priority: LoadPriority
        /// Those that wait or run.
        var open: Set<ItemID> = []
    }

    private var queue = JobHeap<ItemID>()
    private var items: [ItemID: Item] = [:]
    private var lists: [ListID: List] = [:]
    private var running: Set<ItemID> = []
    private var lastID: UInt64 = 0

    /// At most this many items run; below 1 counts as 1.
    var width: Int
    /// While set, no item starts.
    var isSuspended = false

    init(width: Int) { self.width = width }

    var runningCount: Int { running.count }
    var waitingCount: Int { items.count - running.count }
    var listIDs: [ListID] { lists.keys.sorted() }

    /// Adds a list of `count` items, one at least. O(count).
    mutating func add(count: Int, priority: LoadPriority) -> ListID {
        let id = nextID()
        var list = List(progress: PrefetchProgress(totalCount: count), priority: priority)
        for index in 0..<count {
            let item = nextID()
            items[item] = Item(list: id, index: index, job: queue.insert(item, priority: priority))
            list.open.insert(item)
        }
        lists[id] = list
        return id
    }

    /// The next item to be loaded, which counts as running from now on; nil when none may or can start.
    mutating func startNext() -> Start? {
        guard !isSuspended, running.count < max(width, 1), let id = queue.popFirst(), let item = items[id]
        else { return nil }
        running.insert(id)
        return Start(item: id, list: item.list, index: item.index)
    }

    /// Notes the end of an item; nil if it has ended before, or with its list.
    mutating func finish(_ id: ItemID, isSkipped: Bool) -> End? {
        guard let item = items.removeValue(forKey: id), var list = lists[item.list] else { return nil }
        if running.remove(id) == nil { _ = queue.remove(item.job) }
        list.open.remove(id)
        list.progress.finishedCount += 1
        if isSkipped { list.progress.skippedCount += 1 }
        lists[item.list] = list
        let end = End(
            list: item.list,
            index: item.index,
            progress: list.progress,
            sum: sum,
            isLastList: lists.count == 1
        )
        if list.progress.isComplete { lists[item.list] = nil }
        return end
    }

    /// Ends a list: its items that wait never start. Those that run, for the caller to stop; nil if it has ended before.
    mutating func cancel(_ id: ListID) -> (running: [ItemID], progress: PrefetchProgress)? {
        guard let list = lists.removeValue(forKey: id) else { return nil }
        var stopped: [ItemID] = []
        for item in list.open {
            let job = items.removeValue(forKey: item)?.job
            if running.remove(item) != nil { stopped.append(item) } else if let job { _ = queue.remove(job) }
        }
        var progress = list.progress
        progress.isCancelled = true
        return (stopped.sorted(), progress)
    }

    /// Makes a list more or less urgent. Those of its items that run, for the caller to tell.
    mutating func setPriority(_ priority: LoadPriority, of id: ListID) -> [ItemID] {
        guard let list = lists[id], list.priority != priority else { return [] }
        lists[id]?.priority = priority
        // In the order they were given, which is the order in which they wait again.
        for item in list.open.sorted() where !running.contains(item) {
            if let job = items[item]?.job { queue.setPriority(priority, of: job) }
        }
        return list.open.filter { running.contains($0) }.sorted()
    }

    /// The priority of an item's list; nil if the item has ended.
    func priority(of id: ItemID) -> LoadPriority? { items[id].flatMap { lists[$0.list]?.priority } }

    private var sum: PrefetchProgress {
        lists.values.reduce(into: PrefetchProgress(totalCount: 0)) { sum, list in
            sum.finishedCount += list.progress.finishedCount
            sum.skippedCount += list.progress.skippedCount
            sum.totalCount += list.progress.totalCount
        }
    }

    private mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }
}
