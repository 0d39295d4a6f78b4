import FoundationEssentials

/// What a prefetcher's lists share; lives until the last of them is through.
///
/// Loads are begun, and told of their priority, on one thread: so those calls are in order, a long list does not keep its
/// caller, and loads that end inside the call that begins them do not nest.
final class PrefetchCore: Sendable {
    struct State {
        var book = PrefetchBook(width: 3)
        var options: WebImageOptions = .lowPriority
        var context: WebImageContext?
        var callbackQueue = CallbackQueue.main
        weak var delegate: (any WebImagePrefetcherDelegate)?
        weak var owner: WebImagePrefetcher?
        var lists: [PrefetchBook.ListID: PrefetchList] = [:]
        var loads: [PrefetchBook.ItemID: any PrefetchLoad] = [:]
        var isPumping = false
    }

    let manager: WebImageManager
    private let state = Lock(State())
    private let queue: WorkQueue
    static let queue = WorkQueue(name: "webimage.prefetch", width: 1)

    init(manager: WebImageManager, queue: WorkQueue) {
        self.manager = manager
        self.queue = queue
    }

    func setOwner(_ owner: WebImagePrefetcher) { state.withLock { $0.owner = owner } }

    func read<Value>(_ body: (State) -> Value) -> Value { state.withLock { body($0) } }

    /// Changes the settings, and begins what that allows.
    func change(_ body: (inout State) -> Void) {
        // What is replaced is let go of outside the lock.
        let former = state.withLock { state in
            let former = (state.context, state.callbackQueue)
            body(&state)
            return former
        }
        withExtendedLifetime(former) {}
        pump()
    }

    func add(_ list: PrefetchList, priority: LoadPriority) -> PrefetchBook.ListID {
        let id = state.withLock { state in
            let id = state.book.add(count: list.urls.count, priority: priority)
            state.lists[id] = list
            return id
        }
        pump()
        return id
    }

    func cancel(_ id: PrefetchBook.ListID) { cancel([id]) }

    func cancelAll() { cancel(state.withLock { Array($0.book.listIDs) }) }

    /// Cancels several lists at once, so that the end of one does not let another begin something.
    private func cancel(_ ids: [PrefetchBook.ListID]) {
        let (lists, loads) = state.withLock { state -> ([PrefetchList], [any PrefetchLoad]) in
            var lists: [PrefetchList] = []
            var items: [PrefetchBook.ItemID] = []
            for id in ids {
                guard let (running, progress) = state.book.cancel(id) else { continue }
                items += running
                guard let list = state.lists.removeValue(forKey: id) else { continue }
                list.end(progress)
                lists.append(list)
            }
            return (lists, items.sorted(by: >).compactMap { state.loads.removeValue(forKey: $0) })
        }
        // The latest first: an earlier one would hand its place in the downloader to a later one that is about to go, too.
        for load in loads { load.cancel() }
        for list in lists { list.mailbox.deliver() }
        pump()
    }

    func setPriority(_ priority: LoadPriority, of id: PrefetchBook.ListID) {
        let running = state.withLock { $0.book.setPriority(priority, of: id) }
        guard !running.isEmpty else { return }
        // What is told there is the priority of that moment, so the last of several changes wins.
        queue.submit(priority: .high) { [self] in
            for item in running {
                let (load, priority) = state.withLock { ($0.loads[item], $0.book.priority(of: item)) }
                if let load, let priority { load.setPriority(priority) }
            }
        }
    }

    /// Begins what may begin, on the queue, unless that is being done already.
    private func pump() {
        let isMine = state.withLock { state -> Bool in
            guard !state.isPumping else { return false }
            state.isPumping = true
            return true
        }
        guard isMine else { return }
        queue.submit { [self] in
            while let (start, list, priority) = next() { begin(start, list, priority) }
        }
    }

    private func next() -> (PrefetchBook.Start, PrefetchList, LoadPriority)? {
        state.withLock { state in
            guard let start = state.book.startNext(), let list = state.lists[start.list] else {
                state.isPumping = false
                return nil
            }
            return (start, list, state.book.priority(of: start.item) ?? .low)
        }
    }

    private func begin(_ start: PrefetchBook.Start, _ list: PrefetchList, _ priority: LoadPriority) {
        let load = manager.prefetch(list.urls[start.index], list, priority) { [self] isSkipped in
            finish(start.item, isSkipped: isSkipped)
        }
        // It may be through already, or its list cancelled.
        let isWanted = state.withLock { state -> Bool in
            guard state.book.priority(of: start.item) != nil else { return false }
            state.loads[start.item] = load
            return true
        }
        if !isWanted { load.cancel() }
    }

    private func finish(_ item: PrefetchBook.ItemID, isSkipped: Bool) {
        let (list, load) = state.withLock { state -> (PrefetchList?, (any PrefetchLoad)?) in
            guard let end = state.book.finish(item, isSkipped: isSkipped), let list = state.lists[end.list] else {
                return (nil, nil)
            }
            // Left in the mailbox under the lock: the order of the ends is the order of the calls.
            tellDelegate(end, list, state)
            list.note(end.progress)
            if end.progress.isComplete {
                tellDelegateOfTheLast(end, list, state)
                list.end(end.progress)
                state.lists[end.list] = nil
            }
            return (list, state.loads.removeValue(forKey: item))
        }
        withExtendedLifetime(load) {}
        list?.mailbox.deliver()
        pump()
    }

    private func tellDelegate(_ end: PrefetchBook.End, _ list: PrefetchList, _ state: State) {
        guard state.delegate != nil else { return }
        list.mailbox.append { [weak delegate = state.delegate, weak owner = state.owner] in
            guard let delegate, let owner else { return }
            delegate.prefetcher(
                owner,
                didPrefetch: list.urls[end.index],
                finishedCount: end.sum.finishedCount,
                totalCount: end.sum.totalCount
            )
        }
    }

    private func tellDelegateOfTheLast(_ end: PrefetchBook.End, _ list: PrefetchList, _ state: State) {
        guard end.isLastList, state.delegate != nil else { return }
        list.mailbox.append { [weak delegate = state.delegate, weak owner = state.owner] in
            guard let delegate, let owner else { return }
            delegate.prefetcher(
                owner,
                didFinishWithTotalCount: end.progress.totalCount,
                skippedCount: end.progress.skippedCount
            )
        }
    }
}
