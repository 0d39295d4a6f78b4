/// An LRU cache of entries' validators, by key, of bounded size. All operations are O(1), and a lookup allocates nothing.
struct CachedValidatorsTable {
    /// The maximum number of keys: 4096 covers about ten screens of thumbnails, and takes about 4 MB with the fields of ordinary
    /// servers.
    static let capacity = 4096
    /// The maximum number of bytes of keys and fields: servers choose their lengths.
    static let byteCapacity = 8 << 20

    private struct Entry {
        var key: MemoryCacheKey
        var value: CachedValidators
    }

    private let capacity: Int
    private let byteCapacity: Int
    private var index: [MemoryCacheKey: UInt32] = [:]
    /// The LRU list, by entry number; an entry's cost is the number of bytes of its variable-size parts.
    private var slab = EvictionSlab(seed: 1)
    private var entries: [Entry?] = [nil]

    init(capacity: Int = CachedValidatorsTable.capacity, byteCapacity: Int = CachedValidatorsTable.byteCapacity) {
        self.capacity = max(capacity, 1)
        self.byteCapacity = byteCapacity
    }

    /// The number of known keys.
    var count: Int { index.count }

    var byteCount: Int { slab.totalCost }

    /// The keys, in no order.
    var keys: [String] { index.keys.map(\.string) }

    /// Returns the known validators of a key, and marks it as the most recently used.
    mutating func find(_ key: String) -> CachedValidators? {
        guard let id = index[MemoryCacheKey(key)] else { return nil }
        slab.touch(id, frequency: 0, epoch: 0)
        return entries[Int(id)]?.value
    }

    /// Sets the known validators of a key; nil removes them.
    mutating func set(_ value: CachedValidators?, forKey key: String) {
        let key = MemoryCacheKey(key)
        guard let value else {
            if let id = index[key] { remove(id, key) }
            return
        }
        let id = index[key] ?? slab.insert(hash: 0, cost: 0, frequency: 0, epoch: 0)
        index[key] = id
        if Int(id) == entries.count { entries.append(nil) }
        slab.touch(id, frequency: 0, epoch: 0)
        change(id, Entry(key: key, value: value))
    }

    /// Amends the known validators of a key, if there are any.
    mutating func amend(_ amendment: EntryAmendment, forKey key: String) {
        guard let id = index[MemoryCacheKey(key)], var entry = entries[Int(id)] else { return }
        entry.value = entry.value.amended(by: amendment)
        change(id, entry)
    }

    /// Removes everything and frees the memory.
    mutating func removeAll() { self = CachedValidatorsTable(capacity: capacity, byteCapacity: byteCapacity) }

    private mutating func change(_ id: UInt32, _ entry: Entry) {
        entries[Int(id)] = entry
        slab.setCost(entry.key.string.utf8.count + entry.value.byteCount, of: id)
        while count > capacity || byteCount > byteCapacity, let oldest = slab.oldest,
            let key = entries[Int(oldest)]?.key
        {
            remove(oldest, key)
        }
    }

    private mutating func remove(_ id: UInt32, _ key: MemoryCacheKey) {
        slab.remove(id)
        index[key] = nil
        entries[Int(id)] = nil
    }
}

extension CachedValidators {
    /// The number of bytes of the fields.
    fileprivate var byteCount: Int {
        guard let validators else { return 0 }
        let record = validators.record
        let fields = (record?.headers.fields ?? []) + (record?.selectingHeaders.fields ?? [])
        return (validators.etag?.utf8.count ?? 0) + (validators.lastModified?.utf8.count ?? 0)
            + fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
