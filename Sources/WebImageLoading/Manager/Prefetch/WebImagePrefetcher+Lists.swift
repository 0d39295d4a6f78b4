import FoundationEssentials

/// The lists, as low-priority loads of the manager. Running loads retain the prefetcher, so it lives until its lists are through. A
/// suspended prefetcher lives only as long as its owner retains it.
///
/// Loads are begun, and told of their priority, on one thread: so those calls are in order, a long list does not keep its
/// caller, and loads that end inside the call that begins them do not nest.
extension WebImagePrefetcher {
    /// A list under way.
    fileprivate struct List {
        let token: WebImagePrefetchToken
        var priority: LoadPriority
        /// The place of each URL in the queue. They begin in the order of the list.
        var places: [UInt64] = []
        var begunCount = 0
        /// URLs that were begun and are not through, by their index; nil for those that are just being begun.
        var running: [Int: WebImageLoadOperation?] = [:]
    }

    /// A URL that is to be loaded now.
    fileprivate typealias Start = (token: WebImagePrefetchToken, index: Int, priority: LoadPriority)

    struct State {
        /// At most this many URLs are loaded at once; below 1 counts as 1.
        var width = 3
        var isSuspended = false
        var options: WebImageOptions = .lowPriority
        var context: WebImageContext?
        var callbackQueue = CallbackQueue.main
        weak var delegate: (any WebImagePrefetcherDelegate)?
        fileprivate var queue = JobHeap<ObjectIdentifier>()
        fileprivate var lists: [ObjectIdentifier: List] = [:]

        /// URLs that were begun and are not through.
        fileprivate(set) var runningCount = 0
        var waitingCount: Int { queue.count }
        fileprivate var mayStart: Bool { !isSuspended && waitingCount > 0 && runningCount < max(width, 1) }
    }

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

    /// Begins a list of at least one URL.
    func add(_ token: WebImagePrefetchToken, priority: LoadPriority) {
        state.withLock { $0.add(token, priority) }
        pump()
    }

    /// Cancels several lists at once, so that the end of one does not let another begin something.
    func cancel(_ tokens: [WebImagePrefetchToken]) {
        let loads = state.withLock { state in tokens.flatMap { state.cancel($0) } }
        // The latest first: an earlier one would hand its place in the downloader to a later one that is about to go, too.
        WebImageLoadOperation.cancel(loads.reversed(), in: manager.pipeline)
        for token in tokens { token.mailbox.deliver() }
        pump()
    }

    func setPriority(_ priority: LoadPriority, of token: WebImagePrefetchToken) {
        state.withLock { $0.setPriority(priority, of: token) }
        // What is told there is the priority of that moment, so the last of several changes wins.
        queue.submit(priority: .high) { [self] in
            guard let list = state.withLock({ $0.lists[ObjectIdentifier(token)] }) else { return }
            for (_, load) in list.running.sorted(by: { $0.key < $1.key }) { load?.setPriority(list.priority) }
        }
    }

    /// Begins what may begin, on the queue.
    private func pump() {
        guard state.withLock({ $0.mayStart }) else { return }
        queue.submit { [self] in
            while let start = state.withLock({ $0.startNext() }) { begin(start) }
        }
    }

    private func begin(_ start: Start) {
        let load = manager.prefetch(start.token, start.index, start.priority) { [self] isSkipped in
            finish(start, isSkipped: isSkipped)
        }
        // It may be through already, or its list cancelled.
        if !state.withLock({ $0.hold(load, start) }) { load.cancel() }
    }

    private func finish(_ start: Start, isSkipped: Bool) {
        let load = state.withLock { $0.finish(start, isSkipped: isSkipped) }
        withExtendedLifetime(load) {}
        start.token.mailbox.deliver()
        pump()
    }
}

extension WebImagePrefetcher.State {
    /// Lists under way, the earliest first.
    var tokens: [WebImagePrefetchToken] {
        lists.values.sorted { $0.places[0] < $1.places[0] }.map(\.token)
    }

    fileprivate mutating func add(_ token: WebImagePrefetchToken, _ priority: LoadPriority) {
        let id = ObjectIdentifier(token)
        var list = WebImagePrefetcher.List(token: token, priority: priority)
        list.places = token.urls.map { _ in queue.insert(id, priority: priority) }
        lists[id] = list
    }

    /// The next URL to be loaded; nil when none may or can be.
    fileprivate mutating func startNext() -> WebImagePrefetcher.Start? {
        guard mayStart, let id = queue.popFirst(), var list = lists[id] else { return nil }
        let start = (list.token, index: list.begunCount, list.priority)
        list.begunCount += 1
        list.running.updateValue(nil, forKey: start.index)
        runningCount += 1
        lists[id] = list
        return start
    }

    /// Keeps a load that was begun; false if it is through already, or its list cancelled.
    fileprivate mutating func hold(_ load: WebImageLoadOperation, _ start: WebImagePrefetcher.Start) -> Bool {
        let id = ObjectIdentifier(start.token)
        guard lists[id]?.running[start.index] != nil else { return false }
        lists[id]?.running[start.index] = load
        return true
    }

    /// Notes the end of a load, and leaves the calls in the list's mailbox: the order of the ends is the order of the calls.
    fileprivate mutating func finish(_ start: WebImagePrefetcher.Start, isSkipped: Bool) -> WebImageLoadOperation? {
        let (token, id) = (start.token, ObjectIdentifier(start.token))
        guard let load = lists[id]?.running.removeValue(forKey: start.index) else { return nil }
        runningCount -= 1
        let progress = token.advance(isSkipped: isSkipped)
        if delegate != nil {
            let all = lists.values.map(\.token.progress)
            let (finished, total) = (all.reduce(0) { $0 + $1.finishedCount }, all.reduce(0) { $0 + $1.totalCount })
            tellDelegate(token) { delegate, prefetcher in
                let url = token.urls[start.index]
                delegate.prefetcher(prefetcher, didPrefetch: url, finishedCount: finished, totalCount: total)
            }
        }
        token.tell(progress)
        guard progress.isComplete else { return load }
        lists[id] = nil
        if lists.isEmpty {
            tellDelegate(token) { delegate, prefetcher in
                let (total, skipped) = (progress.totalCount, progress.skippedCount)
                delegate.prefetcher(prefetcher, didFinishWithTotalCount: total, skippedCount: skipped)
            }
        }
        token.end()
        return load
    }

    private func tellDelegate(
        _ token: WebImagePrefetchToken,
        _ call: @escaping @Sendable (any WebImagePrefetcherDelegate, WebImagePrefetcher) -> Void
    ) {
        token.mailbox.append { [weak delegate, prefetcher = token.prefetcher] in
            if let delegate, let prefetcher { call(delegate, prefetcher) }
        }
    }

    /// Ends a list; its URLs that wait are never begun. The loads that run, in the order of the list, for the caller to cancel.
    fileprivate mutating func cancel(_ token: WebImagePrefetchToken) -> [WebImageLoadOperation] {
        guard let list = lists.removeValue(forKey: ObjectIdentifier(token)) else { return [] }
        runningCount -= list.running.count
        for place in list.places[list.begunCount...] { _ = queue.remove(place) }
        token.end(isCancelled: true)
        return list.running.sorted { $0.key < $1.key }.compactMap(\.value)
    }

    /// Makes what waits more or less urgent.
    fileprivate mutating func setPriority(_ priority: LoadPriority, of token: WebImagePrefetchToken) {
        guard let list = lists[ObjectIdentifier(token)] else { return }
        lists[ObjectIdentifier(token)]?.priority = priority
        for place in list.places[list.begunCount...] { queue.setPriority(priority, of: place) }
    }
}

extension WebImageManager {
    /// Loads one URL of a list.
    ///
    /// - Parameter end: called once, on any thread, perhaps before this returns; whether there is no picture.
    func prefetch(
        _ list: WebImagePrefetchToken,
        _ index: Int,
        _ priority: LoadPriority,
        end: @escaping @Sendable (_ isSkipped: Bool) -> Void
    ) -> WebImageLoadOperation {
        let url = list.urls[index]
        var (options, context) = (list.options, list.context ?? WebImageContext())
        if priority == .low { options.insert(.lowPriority) }
        if priority == .high { options.insert(.highPriority) }
        if list.target == .disk { context.storeCacheType = .disk }
        // The lists are kept on the thread that ends the load; only the user is called on the user's queue.
        let load = resolve(url, options, context).inline
        // A serializer makes the bytes on disk of the picture, so that has to be decoded; and how long what is there serves is
        // judged where images are loaded.
        if list.target == .disk, serializer(for: load) == nil, cachePolicy(for: load) == .immutable {
            return begin(url, load, as: .store, receiver: .data { end((try? $0.get()) == nil) })
        }
        // A picture from the cache that is being refreshed is there, whatever becomes of the refresh.
        let isThere = Lock(false)
        return begin(
            url,
            load,
            receiver: .deliveries { delivery in
                switch delivery {
                case .interim(let result): if !result.image.metadata.isIncremental { isThere.withLock { $0 = true } }
                case .last(.success), .nothingMore: end(false)
                case .last(.failure): end(!isThere.withLock { $0 })
                }
            }
        )
    }
}
