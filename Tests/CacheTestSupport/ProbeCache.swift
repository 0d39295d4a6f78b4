import FoundationEssentials
package import WebImageCache

/// A cache that records its calls in a shared log, and answers when the test says so.
package final class ProbeCache: ImageCaching {
    /// The calls and their caches, in order.
    package final class Log: Sendable {
        private let list = Lock<[String]>([])

        package init() {}
        package var entries: [String] { list.withLock { $0 } }
        package func note(_ text: String) { list.withLock { $0.append(text) } }
        package func clear() { list.withLock { $0 = [] } }
    }

    package final class Query: ImageLoaderOperation {
        private let state = Lock<(isCancelled: Bool, priority: LoadPriority?)>((false, nil))
        package var isCancelled: Bool { state.withLock { $0.isCancelled } }
        package var priority: LoadPriority? { state.withLock { $0.priority } }
        package func cancel() { state.withLock { $0.isCancelled = true } }
        package func setPriority(_ priority: LoadPriority) { state.withLock { $0.priority = priority } }
    }

    private struct State {
        var memory: [String: Image] = [:]
        var entry: CachedImageData?
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var queries: [Query] = []
        var validators: CacheValidators?
    }

    package let name: String
    private let log: Log
    private let state: Lock<State>

    package init(_ name: String, _ log: Log, entry: String? = nil, isHeld: Bool = false) {
        self.name = name
        self.log = log
        let entry = entry.map { CachedImageData(data: Data($0.utf8)) }
        state = Lock(State(entry: entry, isHeld: isHeld))
    }

    package var queries: [Query] { state.withLock { $0.queries } }
    package var validators: CacheValidators? { state.withLock { $0.validators } }
    package var heldCount: Int { state.withLock { $0.held.count } }

    package func put(_ image: Image, forKey key: String) { state.withLock { $0.memory[key] = image } }

    /// Delivers held answers, at most this many.
    package func answer(_ count: Int = .max) {
        let ready = state.withLock { state in
            let ready = Array(state.held.prefix(count))
            state.held.removeFirst(ready.count)
            return ready
        }
        for body in ready { body() }
    }

    private func note(_ operation: String, _ answer: @escaping @Sendable () -> Void) {
        log.note("\(name) \(operation)")
        let isHeld = state.withLock { state -> Bool in
            if state.isHeld { state.held.append(answer) }
            return state.isHeld
        }
        if !isHeld { answer() }
    }

    package func memoryImage(forKey key: String) -> Image? {
        log.note("\(name) memory")
        return state.withLock { $0.memory[key] }
    }

    package func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        let query = Query()
        state.withLock { $0.queries.append(query) }
        note("query") { [self] in completion(state.withLock { $0.entry }) }
        return query
    }

    package func diskEntry(forKey key: String) -> CachedImageData? {
        log.note("\(name) query")
        return state.withLock { $0.entry }
    }

    package func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        note("store \(request.cacheType)") { completion?() }
    }

    package func amend(validators: CacheValidators?, forKey key: String) {
        state.withLock { $0.validators = validators }
    }

    package func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        note("remove \(cacheType)") { completion?() }
    }

    package func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        note("contains") { [self] in completion(state.withLock { $0.entry } == nil ? .none : .disk) }
    }

    package func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        note("clear \(cacheType)") { completion?() }
    }
}

/// Three caches, a manager of them, and their log.
package struct CachesHarness {
    package let log = ProbeCache.Log()
    package let low, middle, high: ProbeCache
    package let manager: ImageCachesManager

    package init(_ low: String? = nil, _ middle: String? = nil, _ high: String? = nil, isHeld: Bool = false) {
        self.low = ProbeCache("low", log, entry: low, isHeld: isHeld)
        self.middle = ProbeCache("middle", log, entry: middle, isHeld: isHeld)
        self.high = ProbeCache("high", log, entry: high, isHeld: isHeld)
        manager = ImageCachesManager(caches: [self.low, self.middle, self.high])
    }

    /// The caches that were called, in order.
    package var asked: [String] { log.entries.map { String($0.prefix { $0 != " " }) } }
}

/// Counts completions and stores their results.
package final class Answers<Value: Sendable>: Sendable {
    private let list = Lock<[Value]>([])

    package init() {}
    package var values: [Value] { list.withLock { $0 } }
    package var count: Int { values.count }
    package func note(_ value: Value) { list.withLock { $0.append(value) } }
}
