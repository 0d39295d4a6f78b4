import FoundationEssentials
public import WebImageCache

/// A cache of a fleet of machines: the memory and disk of this machine, then a store that all machines share.
///
/// ```swift
/// let store = try RemoteImageStore(redis: "redis://cache.internal")
/// let manager = WebImageManager(cache: TieredImageCache(local: ImageCache(), remote: store))
/// ```
///
/// A load that finds nothing on this machine asks the store, and keeps what it finds on the local disk. If the store has nothing either,
/// one machine gets the image from its server, decodes and transforms it, and the others wait for it, by default for at most two
/// seconds. A store that is gone, slow or full costs a load its timeout at most, a few times; then it is not asked for a second. A load
/// never fails because of it.
///
/// Only images that a server gives to everyone leave the machine: those that were requested without credentials, cookies and hooks of the
/// downloader, by the library's downloader, and whose response is neither `private` nor `no-store`, sets no cookie, and does not vary
/// by credentials. Managers with ``SourcePolicy/trusted`` and others, and those whose policies allow other sources, share nothing with
/// each other. Values have the format of cache files, and are verified like those: length, checksum and key. Whoever can write to the store
/// can write valid entries; it must be as trustworthy as the disk.
///
/// Methods that read without a load concern this machine only. A removal also removes the entry from the store, if this object has used it
/// there, and ``clear(_:completion:)`` all entries.
public final class TieredImageCache: ImageCaching, LocalCacheOwner, PendingWrites {
    private struct State {
        /// The loads that have a lease, by their key.
        var flights: [String: RemoteFlight] = [:]
        /// The scopes in which entries were stored or found: those from which a removal removes.
        var scopes: Set<String> = []
        var pendingByteCount = 0
        var pendingCount = 0
        var idle: [@Sendable () -> Void] = []
    }

    /// The cache of this machine.
    public let local: ImageCache
    package var localCache: ImageCache { local }
    private let store: any RemoteStore
    private let seal: RemoteSeal
    private let counters: RemoteCounters
    private let generation: RemoteGeneration
    private let rules: SingleFlight.Rules
    private let clock: ClockSource
    private let delays: DelaySource
    private let state = Lock(State())
    private let queue = WorkQueue(name: "fleet", width: 2)

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - local: the cache of this machine.
    ///   - remote: the store that all machines share.
    ///   - patience: the longest time in seconds that a load waits for that of another machine. If that machine dies, the others go on after
    ///     a tenth of it, but not before 0.3 seconds.
    public convenience init(local: ImageCache, remote: RemoteImageStore, patience: Double = 2) {
        var rules = SingleFlight.Rules()
        rules.patience = patience > 0 ? UInt64(min(patience, 60) * 1e9) : 0
        rules.lease = max(rules.lease, rules.patience / 10)
        self.init(local: local, store: remote.store, seal: remote.seal, rules: rules)
    }

    init(
        local: ImageCache,
        store: any RemoteStore,
        seal: RemoteSeal = RemoteSeal(),
        rules: SingleFlight.Rules = SingleFlight.Rules(),
        clock: ClockSource = .system,
        delays: DelaySource = .system
    ) {
        self.local = local
        self.store = store
        self.seal = seal
        counters = RemoteCounters(store, delays: delays)
        generation = RemoteGeneration(store, clock: clock)
        self.rules = rules
        self.clock = clock
        self.delays = delays
        CacheRegistry.shared.add(self)
    }

    /// Waits until what was stored so far is on the local disk and in the remote store, or was dropped: at most a few seconds. Call it
    /// before a short-lived program ends; ``WebImageLifecycle/willTerminate(within:)`` includes it.
    public func flush() async {
        await local.flush()
        await awaitCompletion { flush(completion: $0) }
    }

    package func flush(completion: @escaping @Sendable () -> Void) {
        let send: @Sendable () -> Void = { self.counters.send(completion: completion) }
        let isBusy = state.withLock { state in
            guard state.pendingCount > 0 else { return false }
            state.idle.append(send)
            return true
        }
        if !isBusy { send() }
    }

    /// What this cache has done with the store since it was created.
    public var statistics: RemoteStatistics { counters.statistics }

    /// The number of nodes of the store that are not asked now, because they have failed or were late: their circuit breakers are open.
    public var openCircuitCount: Int { store.circuits.openCount }

    // MARK: Reading

    /// Reads the entry from this machine, else from the store; see ``ImageCaching/queryDisk(_:completion:)``.
    @discardableResult
    public func queryDisk(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        guard let scope = query.sharingScope, !query.key.isEmpty else {
            return local.queryDisk(forKey: query.key, priority: query.priority, completion: completion)
        }
        let operation = TieredQuery(completion)
        operation.hold(
            local.queryDisk(forKey: query.key, priority: query.priority) { entry in
                guard entry == nil, operation.isWanted else { return operation.finish(entry) }
                self.ask(query, scope, isWanted: { operation.isWanted }, completion: operation.finish)
            }
        )
        return operation
    }

    /// Reads the metadata of the entry from this machine, else from the store; see ``ImageCaching/queryValidators(_:completion:)``.
    @discardableResult
    public func queryValidators(
        _ query: ImageCacheQuery,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        guard let scope = query.sharingScope, !query.key.isEmpty else {
            return local.queryValidators(forKey: query.key, priority: query.priority, completion: completion)
        }
        let operation = TieredQuery(completion)
        operation.hold(
            local.queryValidators(forKey: query.key, priority: query.priority) { found in
                guard found == nil, operation.isWanted else { return operation.finish(found) }
                self.ask(query, scope, isWanted: { operation.isWanted }) { entry in
                    operation.finish(entry.map { CachedValidators($0) })
                }
            }
        )
        return operation
    }

    /// Asks the store. An entry that it has is kept on the local disk.
    private func ask(
        _ query: ImageCacheQuery,
        _ scope: String,
        isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) {
        // This machine is loading it: there is nothing to find, and nobody else to wait for.
        guard state.withLock({ $0.flights[query.key] == nil }) else { return completion(nil) }
        generation.current { [queue, counters] generation in
            guard let generation else {
                counters.count { counts in
                    counts.missCount += 1
                    counts.failureCount += 1
                }
                _ = queue.submit(priority: query.priority) { completion(nil) }
                return
            }
            let names = RemoteNames(namespace: scope, generation: generation)
            self.ask(query, scope, names, isWanted: isWanted, completion: completion)
        }
    }

    private func ask(
        _ query: ImageCacheQuery,
        _ scope: String,
        _ names: RemoteNames,
        isWanted: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) {
        let key = query.key
        let name = names.entry(forKey: key)
        let decode: @Sendable (Data) -> CachedImageData? = { [seal, counters] value in
            guard case .file(let file) = seal.open(value, as: name) else {
                counters.count { $0.refusedCount += 1 }
                return nil
            }
            return EntryFile.decode(file, forKey: key)
        }
        guard query.isFollowedByLoad else {
            return store.read(name) { [queue, counters] result in
                _ = queue.submit {
                    if case .failed = result { counters.count { $0.failureCount += 1 } }
                    guard case .value(let value) = result, let entry = decode(value) else {
                        counters.count { $0.missCount += 1 }
                        return completion(nil)
                    }
                    completion(self.keep(entry, key, scope))
                }
            }
        }
        let flight = RemoteFlight(
            store,
            names: names,
            key: key,
            rules: rules,
            clock: clock,
            delays: delays,
            counters: counters,
            decode: decode,
            isWanted: isWanted,
            deliver: { flight, outcome in
                if case .load(withLease: true) = outcome { self.state.withLock { $0.flights[key] = flight } }
                // Not on the thread of the store, which others wait for.
                _ = self.queue.submit(priority: query.priority) {
                    // The load that was to follow has been cancelled meanwhile.
                    if !isWanted() { self.takeFlight(key)?.finish() }
                    if case .use(let entry) = outcome {
                        completion(self.keep(entry, key, scope))
                    } else {
                        self.counters.count { $0.missCount += 1 }
                        completion(nil)
                    }
                }
            },
            ended: { flight in
                self.state.withLock { state in
                    if state.flights[key] === flight { state.flights[key] = nil }
                }
            }
        )
        flight.start()
    }

    /// Stores an entry of the store on the local disk.
    private func keep(_ entry: CachedImageData, _ key: String, _ scope: String) -> CachedImageData {
        counters.count { counts in
            counts.hitCount += 1
            counts.readByteCount += entry.data.count
        }
        state.withLock { _ = $0.scopes.insert(scope) }
        var request = ImageStoreRequest(key: key, data: entry.data)
        request.cacheType = .disk
        request.extendedData = entry.extendedData
        request.validators = entry.validators
        request.thumbHash = entry.thumbHash
        request.dataHash = entry.dataHash.value
        local.store(request, completion: nil)
        return entry
    }

    // MARK: Storing

    /// Stores an image on this machine, and then, if it may leave the machine, in the store. `completion` does not wait for the store.
    public func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        let key = request.key
        guard request.cacheType.includesDisk, !key.isEmpty, let scope = request.sharingScope else {
            local.store(request, completion: completion)
            if request.cacheType.includesDisk { takeFlight(key)?.decline() }
            return
        }
        state.withLock { $0.pendingCount += 1 }
        let (flight, lifetime) = (takeFlight(key), request.lifetime)
        local.store(request) {
            completion?()
            // As it was stored: the cache may have encoded the image.
            self.local.queryDisk(forKey: key, priority: .low) { entry in
                // An entry that was loaded before all were removed must not come back.
                if let names = flight?.names { return self.upload(entry, key, lifetime, names, flight) }
                self.generation.current { generation in
                    guard let generation else { return self.endUpload(0) }
                    self.upload(entry, key, lifetime, RemoteNames(namespace: scope, generation: generation), nil)
                }
            }
        }
    }

    private func upload(
        _ entry: CachedImageData?,
        _ key: String,
        _ lifetime: Double?,
        _ names: RemoteNames,
        _ flight: RemoteFlight?
    ) {
        _ = queue.submit(priority: .low) { [self] in
            guard let entry, entry.data.count <= store.mostValueByteCount,
                let file = EntryFile.encode(entry, forKey: key, created: clock.wallTime()),
                let value = seal.seal(file, as: names.entry(forKey: key)), reserve(value.count)
            else {
                flight?.decline()
                return endUpload(0)
            }
            let seconds = RemoteLifetime.seconds(usable: lifetime, random: .random(in: 0...1))
            state.withLock { state in
                state.scopes.insert(names.namespace)
                // The end of the lease, which nobody would send after the end of the program.
                state.pendingCount += 1
            }
            store.write(value, as: names.entry(forKey: key), seconds: seconds) { isStored in
                if isStored {
                    self.counters.count { counts in
                        counts.storeCount += 1
                        counts.storedByteCount += value.count
                    }
                }
                self.endUpload(value.count)
            }
            // After the entry: those who wait for the lease must find it.
            flight?.finish()
            endUpload(0)
        }
    }

    private func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.pendingByteCount + count <= store.mostPendingByteCount else { return false }
            state.pendingByteCount += count
            return true
        }
    }

    private func endUpload(_ count: Int) {
        let idle = state.withLock { state -> [@Sendable () -> Void] in
            state.pendingByteCount -= count
            state.pendingCount -= 1
            guard state.pendingCount == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for completion in idle { completion() }
    }

    /// Returns the lease of a load, if it has one, for the caller to end.
    private func takeFlight(_ key: String) -> RemoteFlight? { state.withLock { $0.flights.removeValue(forKey: key) } }

    /// Lets machines that wait for a load of this one go on, all at once: nothing will be stored.
    public func loadEndedWithoutStore(forKey key: String) { takeFlight(key)?.decline() }

    /// Lets one of the machines that wait for a load of this one make the entry.
    public func loadWasCancelled(forKey key: String) { takeFlight(key)?.finish() }

    /// Replaces the validators of the entry on the local disk, and, if other machines may have them, in the store: a small part of the value
    /// there is overwritten, not the image.
    public func amend(_ request: ImageStoreRequest) {
        local.amend(request)
        guard let scope = request.sharingScope, let validators = request.validators else { return }
        let (key, lifetime) = (request.key, request.lifetime)
        generation.current { generation in
            guard let generation else { return }
            let name = RemoteNames(namespace: scope, generation: generation).entry(forKey: key)
            self.amend(
                name,
                key,
                validators,
                seconds: RemoteLifetime.seconds(usable: lifetime, random: .random(in: 0...1))
            )
        }
    }

    private func amend(_ name: String, _ key: String, _ validators: CacheValidators, seconds: Int) {
        store.readEnd(name, count: EntryFile.endByteCount) { [store, seal, queue] found in
            guard let found else { return }
            _ = queue.submit(priority: .low) {
                let end = seal.end(of: found.end)
                let count = found.byteCount - (end.isSealed ? RemoteSeal.byteCount : 0)
                let change = EntryFile.amendment(ofFileWithEnd: end.file, byteCount: count, forKey: key, to: validators)
                guard let change, let pieces = seal.pieces(of: change, end: found.end, byteCount: count) else { return }
                store.overwrite(pieces, of: name, ifAt: count - change.footer.count, change.footer, seconds: seconds)
            }
        }
    }

    // MARK: Removing

    /// Removes an entry from this machine, and from the store where this object has used it.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        if cacheType.includesDisk, !key.isEmpty {
            let scopes = state.withLock { $0.scopes }
            generation.current { [store] generation in
                guard let generation else { return }
                for scope in scopes {
                    store.remove(RemoteNames(namespace: scope, generation: generation).entry(forKey: key))
                }
            }
        }
        local.removeImage(forKey: key, from: cacheType, completion: completion)
    }

    /// Removes all entries from this machine, and, with the disk, those of the store; see ``removeAll()``. If the store does not answer, it
    /// keeps them.
    public func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        guard cacheType.includesDisk else { return local.clear(cacheType, completion: completion) }
        removeAll(from: cacheType) { _ in completion?() }
    }

    /// Removes all entries from this machine, and makes those of the store invisible to all machines; see ``RemoteImageStore/removeAll()``.
    ///
    /// - Throws: ``WebImageError/Code/hostUnavailable`` if the store did not confirm it. The entries of this machine are removed then, too.
    public func removeAll() async throws(WebImageError) {
        let isSet = await withCheckedContinuation { continuation in
            removeAll(from: .all) { continuation.resume(returning: $0) }
        }
        guard isSet else { throw .storeUnavailable }
    }

    /// - Parameter completion: called when both are done, with false if the store did not confirm it.
    private func removeAll(from cacheType: ImageCacheType, completion: @escaping @Sendable (Bool) -> Void) {
        let pending = Lock((count: 2, isSet: false))
        let end: @Sendable (Bool) -> Void = { isSet in
            let isSet = pending.withLock { pending -> Bool? in
                pending.count -= 1
                pending.isSet = pending.isSet || isSet
                return pending.count == 0 ? pending.isSet : nil
            }
            if let isSet { completion(isSet) }
        }
        generation.renew(end)
        local.clear(cacheType) { end(false) }
    }

    // MARK: This machine

    /// Returns the image in the memory of this process.
    public func memoryImage(forKey key: String) -> Image? { local.memoryImage(forKey: key) }

    /// Reads the entry on the local disk, on the caller's thread.
    public func diskEntry(forKey key: String) -> CachedImageData? { local.diskEntry(forKey: key) }

    /// Reads the entry on the local disk.
    @discardableResult
    public func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        local.queryDisk(forKey: key, priority: priority, completion: completion)
    }

    /// Reads the metadata of the entry on the local disk.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        local.queryValidators(forKey: key, priority: priority, completion: completion)
    }

    /// Replaces the validators of the entry on the local disk. Other machines ask the server themselves.
    public func amend(validators: CacheValidators?, forKey key: String) {
        local.amend(validators: validators, forKey: key)
    }

    /// Returns the known validators of the entry on the local disk.
    public func knownValidators(forKey key: String) -> CachedValidators? { local.knownValidators(forKey: key) }

    /// Returns the first level of this machine, memory or disk, that has the key.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        local.containsImage(forKey: key, in: cacheType, completion: completion)
    }
}

/// A query of this machine and then of the store.
private final class TieredQuery<Value: Sendable>: ImageLoaderOperation {
    private let result: PendingResult<Value?>
    private let local = Lock<(any WebImageOperation)?>(nil)

    init(_ completion: @escaping @Sendable (Value?) -> Void) { result = PendingResult(completion) }

    var isWanted: Bool { result.isWanted }
    var isCancelled: Bool { result.isCancelled }

    /// Remembers the query of this machine, whose priority can change.
    func hold(_ operation: any WebImageOperation) { local.withLock { $0 = operation } }

    @Sendable func finish(_ value: Value?) { result.finish(value) }

    func cancel() {
        let completion = result.cancel()
        local.withLock { $0 }?.cancel()
        completion?(nil)
    }

    func setPriority(_ priority: LoadPriority) {
        (local.withLock { $0 } as? any ImageLoaderOperation)?.setPriority(priority)
    }
}
