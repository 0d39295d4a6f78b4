import FoundationEssentials

/// Runs the lists as low-priority loads of the manager. Running loads retain the prefetcher, so it lives until its lists have
/// finished. A suspended prefetcher lives only as long as its owner retains it.
///
/// Loads are started, and their priority is changed, on a single thread. So these calls are in order, a long list does not block
/// its caller, and loads that end inside the call that starts them do not nest.
extension WebImagePrefetcher {
    /// A running list.
    fileprivate struct List {
        let token: WebImagePrefetchToken
        var priority: LoadPriority
        /// The position of each URL in the queue. They start in the order of the list.
        var places: [UInt64] = []
        var begunCount = 0
        /// The started, unfinished URLs, by their index; nil for those that are just being started.
        var running: [Int: WebImageLoadOperation?] = [:]
    }

    /// A URL to load now.
    fileprivate typealias Start = (token: WebImagePrefetchToken, index: Int, priority: LoadPriority)

    struct State {
        /// The maximum number of concurrent loads; below 1 counts as 1.
        var width = 3
        var isSuspended = false
        var options: WebImageOptions = .lowPriority
        var context: WebImageContext?
        var callbackQueue = CallbackQueue.main
        weak var delegate: (any WebImagePrefetcherDelegate)?
        fileprivate var queue = JobHeap<ObjectIdentifier>()
        fileprivate var lists: [ObjectIdentifier: List] = [:]

        /// The number of started, unfinished URLs.
        fileprivate(set) var runningCount = 0
        var waitingCount: Int { queue.count }
        fileprivate var mayStart: Bool { !isSuspended && waitingCount > 0 && runningCount < max(width, 1) }
    }

    /// Changes the settings, and starts the loads that they now allow.
    func change(_ body: (inout State) -> Void) {
        // The replaced values are released outside the lock.
        let former = state.withLock { state in
            let former = (state.context, state.callbackQueue)
            body(&state)
            return former
        }
        withExtendedLifetime(former) {}
        pump()
    }

    /// Starts a list of at least one URL.
    func add(_ token: WebImagePrefetchToken, priority: LoadPriority) {
        state.withLock { $0.add(token, priority) }
        pump()
    }

    /// Cancels several lists at once, so that the end of one does not let another start a load.
    func cancel(_ tokens: [WebImagePrefetchToken]) {
        let loads = state.withLock { state in tokens.flatMap { state.cancel($0) } }
        // The latest first: an earlier load would hand its download slot to a later one that is about to be cancelled, too.
        WebImageLoadOperation.cancel(loads.reversed(), in: manager.pipeline)
        for token in tokens { token.mailbox.deliver() }
        pump()
    }

    func setPriority(_ priority: LoadPriority, of token: WebImagePrefetchToken) {
        state.withLock { $0.setPriority(priority, of: token) }
        // Reads the current priority, so the last of several changes wins.
        queue.submit(priority: .high) { [self] in
            guard let list = state.withLock({ $0.lists[ObjectIdentifier(token)] }) else { return }
            for (_, load) in list.running.sorted(by: { $0.key < $1.key }) { load?.setPriority(list.priority) }
        }
    }

    /// Starts the loads that may start, on the queue.
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
        // The load may have finished already, or its list was cancelled.
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
    /// The running lists, the earliest first.
    var tokens: [WebImagePrefetchToken] {
        lists.values.sorted { $0.places[0] < $1.places[0] }.map(\.token)
    }

    fileprivate mutating func add(_ token: WebImagePrefetchToken, _ priority: LoadPriority) {
        let id = ObjectIdentifier(token)
        var list = WebImagePrefetcher.List(token: token, priority: priority)
        list.places = token.urls.map { _ in queue.insert(id, priority: priority) }
        lists[id] = list
    }

    /// Takes the next URL to load; nil if none may start or is left.
    fileprivate mutating func startNext() -> WebImagePrefetcher.Start? {
        guard mayStart, let id = queue.popFirst(), var list = lists[id] else { return nil }
        let start = (list.token, index: list.begunCount, list.priority)
        list.begunCount += 1
        list.running.updateValue(nil, forKey: start.index)
        runningCount += 1
        lists[id] = list
        return start
    }

    /// Stores a started load; false if it has finished already, or its list was cancelled.
    fileprivate mutating func hold(_ load: WebImageLoadOperation, _ start: WebImagePrefetcher.Start) -> Bool {
        let id = ObjectIdentifier(start.token)
        guard lists[id]?.running[start.index] != nil else { return false }
        lists[id]?.running[start.index] = load
        return true
    }

    /// Records the end of a load, and enqueues the calls in the list's mailbox: their order is the order of the ends.
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

    /// Ends a list without starting its waiting URLs. Returns the running loads, in the order of the list, for the caller to
    /// cancel.
    fileprivate mutating func cancel(_ token: WebImagePrefetchToken) -> [WebImageLoadOperation] {
        guard let list = lists.removeValue(forKey: ObjectIdentifier(token)) else { return [] }
        runningCount -= list.running.count
        for place in list.places[list.begunCount...] { _ = queue.remove(place) }
        token.end(isCancelled: true)
        return list.running.sorted { $0.key < $1.key }.compactMap(\.value)
    }

    /// Changes the priority of the waiting URLs.
    fileprivate mutating func setPriority(_ priority: LoadPriority, of token: WebImagePrefetchToken) {
        guard let list = lists[ObjectIdentifier(token)] else { return }
        lists[ObjectIdentifier(token)]?.priority = priority
        for place in list.places[list.begunCount...] { queue.setPriority(priority, of: place) }
    }
}

extension WebImageManager {
    /// Loads one URL of a list.
    ///
    /// - Parameter end: Called once, on any thread, possibly before this returns; true if no image was loaded.
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
        // The list is updated on the thread that ends the load; only user closures are called on the user's queue.
        let load = resolve(url, options, context).inline
        // A serializer makes the bytes on disk from the image, which has to be decoded for that. And only image loads evaluate
        // how long a cached image stays usable.
        if list.target == .disk, serializer(for: load) == nil, cachePolicy(for: load) == .immutable {
            return begin(url, load, as: .store, receiver: .data { end((try? $0.get()) == nil) })
        }
        // A cached image that is being refreshed counts as available, even if the refresh fails.
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
