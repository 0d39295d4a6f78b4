/// The loads of this process that may make an entry for other machines, for which a cache may have taken a lease.
///
/// It exists while one of them runs. If it is released without an end, they were cancelled, or what they loaded is not an image: then
/// another machine makes the entry.
final class SharedLoad: Sendable {
    private let cache: any ImageCaching
    private let key: String
    private let release: @Sendable () -> Void

    fileprivate init(_ cache: any ImageCaching, _ key: String, release: @escaping @Sendable () -> Void) {
        self.cache = cache
        self.key = key
        self.release = release
    }

    deinit {
        release()
        cache.loadWasCancelled(forKey: key)
    }

    /// Lets other machines that wait go on. Changes nothing after a store.
    func end() { cache.loadEndedWithoutStore(forKey: key) }
}

/// The ``SharedLoad`` of each entry. One that ends must not end the lease of another.
final class SharedLoads: Sendable {
    private struct Key: Hashable {
        let cache: ObjectIdentifier
        let key: String
    }

    private struct Entry {
        weak var load: SharedLoad?
        let number: Int
    }

    private let entries = Lock<[Key: Entry]>([:])
    private let count = Counter()

    /// Returns the load of an entry, which is created unless one is running; nil without a key, or if the entry is not for other machines.
    func load(of key: String?, in cache: any ImageCaching, scope: String?) -> SharedLoad? {
        guard let key, scope != nil else { return nil }
        let id = Key(cache: ObjectIdentifier(cache), key: key)
        return entries.withLock { entries in
            if let load = entries[id]?.load { return load }
            let number = count.add()
            let load = SharedLoad(cache, key) { [weak self] in self?.forget(id, number) }
            entries[id] = Entry(load: load, number: number)
            return load
        }
    }

    /// Looks at no load: its last reference must not be released under the lock.
    private func forget(_ id: Key, _ number: Int) {
        entries.withLock { if $0[id]?.number == number { $0[id] = nil } }
    }
}
