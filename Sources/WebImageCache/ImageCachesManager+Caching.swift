import FoundationEssentials

extension ImageCachesManager {
    /// Returns the image in memory, from the highest cache that has it. The query policies `highestOnly` and `lowestOnly` query
    /// only that cache.
    public func memoryImage(forKey key: String) -> Image? { first(forKey: key) { $0.memoryImage(forKey: key) } }

    /// Reads the entry on disk on the caller's thread, from the highest cache that has it.
    public func diskEntry(forKey key: String) -> CachedImageData? { first(forKey: key) { $0.diskEntry(forKey: key) } }

    /// Returns the validators that the highest cache holds in memory, without reading the disk.
    public func knownValidators(forKey key: String) -> CachedValidators? {
        first(forKey: key) { $0.knownValidators(forKey: key) }
    }

    private func first<Found>(forKey key: String, _ look: (any ImageCaching) -> Found?) -> Found? {
        for cache in select(key, { $0.query }).caches.reversed() {
            if let found = look(cache) { return found }
        }
        return nil
    }

    /// Reads the entry on disk. `completion` is called exactly once: at once, on the caller's thread, for an empty key or without
    /// caches, otherwise on the thread of the cache that answers. A cancellation calls it at once with nil, and cancels the queries
    /// of the caches.
    @discardableResult
    public func queryDisk(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedImageData?) -> Void
    ) -> any WebImageOperation {
        query(forKey: key, priority, completion) { $0.queryDisk(forKey: key, priority: $1, completion: $2) }
    }

    /// Reads the metadata of the entry on disk, from the cache in which a query finds it; otherwise the same as
    /// ``queryDisk(forKey:priority:completion:)``.
    @discardableResult
    public func queryValidators(
        forKey key: String,
        priority: LoadPriority,
        completion: @escaping @Sendable (CachedValidators?) -> Void
    ) -> any WebImageOperation {
        query(forKey: key, priority, completion) { $0.queryValidators(forKey: key, priority: $1, completion: $2) }
    }

    private func query<Found: Sendable>(
        forKey key: String,
        _ priority: LoadPriority,
        _ completion: @escaping @Sendable (Found?) -> Void,
        _ ask:
            @escaping @Sendable (any ImageCaching, LoadPriority, @escaping @Sendable (Found?) -> Void)
            -> any WebImageOperation
    ) -> any WebImageOperation {
        let selection = select(key) { $0.query }
        if selection.caches.count == 1, let only = selection.caches.first { return ask(only, priority, completion) }
        let round = Round(selection, priority: priority, completion: completion, asking: ask)
        round.start()
        return round
    }

    /// Stores an image; see ``ImageCaching/store(_:completion:)``. The memory of all participating caches is written before the
    /// call returns; with the policy `serial`, their disks follow one after the other. `completion` is called exactly once, when
    /// the last cache has stored or dropped it.
    public func store(_ request: ImageStoreRequest, completion: (@Sendable () -> Void)?) {
        guard !request.key.isEmpty else {
            completion?()
            return
        }
        change(select { $0.store }, request.cacheType, completion) { cache, level, end in
            var part = request
            part.cacheType = level
            cache.store(part, completion: end)
        }
    }

    /// Replaces the validators of the entry that a query finds: that of the highest cache that has one. Has no effect if the query
    /// policy is `concurrent` and several caches have one, because it is then undefined which one a query finds.
    public func amend(validators: CacheValidators?, forKey key: String) {
        let selection = select(key) { $0.query }
        if selection.caches.count == 1 { selection.caches.first?.amend(validators: validators, forKey: key) }
        guard selection.caches.count > 1 else { return }
        let isUnsure = selection.isConcurrent
        let holders = Lock<[any ImageCaching]>([])
        let round = Round<Bool>(
            Selection(caches: selection.caches, isConcurrent: false),
            completion: { _ in
                let holders = holders.withLock { $0 }
                if holders.count == 1 || !isUnsure { holders.first?.amend(validators: validators, forKey: key) }
            },
            asking: { cache, _, answer in
                cache.containsImage(forKey: key, in: .disk) { level in
                    if level != .none { holders.withLock { $0.append(cache) } }
                    answer(level == .none || isUnsure ? nil : true)
                }
                return nil
            }
        )
        round.start()
    }

    /// Removes one entry. `completion` is called exactly once, when the last participating cache has removed it.
    public func removeImage(forKey key: String, from cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        guard !key.isEmpty else {
            completion?()
            return
        }
        change(select { $0.remove }, cacheType, completion) { cache, level, end in
            cache.removeImage(forKey: key, from: level, completion: end)
        }
    }

    /// Finds the level that has the key: the first of memory and disk, of the first cache that has it.
    public func containsImage(
        forKey key: String,
        in cacheType: ImageCacheType,
        completion: @escaping @Sendable (ImageCacheType) -> Void
    ) {
        let selection = select(key) { $0.contains }
        let round = Round<ImageCacheType>(
            selection,
            completion: { completion($0 ?? .none) },
            asking: { cache, _, answer in
                cache.containsImage(forKey: key, in: cacheType) { answer($0 == .none ? nil : $0) }
                return nil
            }
        )
        round.start()
    }

    /// Removes all entries. `completion` is called exactly once, when the last participating cache has removed everything.
    public func clear(_ cacheType: ImageCacheType, completion: (@Sendable () -> Void)?) {
        change(select { $0.clear }, cacheType, completion) { cache, level, end in cache.clear(level, completion: end) }
    }

    /// Changes caches: memory of all caches before this returns, as callers rely on; then the disks, serially unless the policy is
    /// concurrent.
    private func change(
        _ selection: Selection,
        _ levels: ImageCacheType,
        _ completion: (@Sendable () -> Void)?,
        _ body: @escaping @Sendable (any ImageCaching, ImageCacheType, (@Sendable () -> Void)?) -> Void
    ) {
        if selection.caches.count == 1, let only = selection.caches.first { return body(only, levels, completion) }
        guard levels != .none else {
            completion?()
            return
        }
        @Sendable func round(_ level: ImageCacheType, atOnce: Bool, then end: @escaping @Sendable () -> Void) {
            let round = Round<Never>(
                Selection(caches: selection.caches, isConcurrent: atOnce),
                completion: { _ in end() },
                asking: { cache, _, answer in
                    body(cache, level) { answer(nil) }
                    return nil
                }
            )
            round.start()
        }
        let isSerial = levels.includesDisk && !selection.isConcurrent
        guard isSerial, levels.includesMemory else { return round(levels, atOnce: !isSerial) { completion?() } }
        round(.memory, atOnce: true) { round(.disk, atOnce: false) { completion?() } }
    }
}
