/// An LRU cache of entries' validators, by key, of bounded size. All operations are O(1), and a lookup allocates nothing.
struct KnownValidatorsTable {
    /// Most keys: 4096 is what some ten screens of thumbnails ask for, and about 4 MB with the fields of ordinary servers.
    static let capacity = 4096
    /// Most bytes of keys and fields: servers choose how long those are.
    static let byteCapacity = 8 << 20

    private struct Slot {
        /// Neighbours in the list by use.
        var previous = 0
        var next = 0
        var key = MemoryCacheKey("")
        var value = KnownValidators(validators: nil)

        /// Bytes of what has no fixed size.
        var cost: Int { key.string.utf8.count + value.byteCount }
    }

    private let capacity: Int
    private let byteCapacity: Int
    private(set) var byteCount = 0
    private var index: [MemoryCacheKey: Int] = [:]
    /// Slot 0 is the head of the list by use.
    private var slots = [Slot()]
    private var vacant: [Int] = []

    /// An empty table.
    init(capacity: Int = KnownValidatorsTable.capacity, byteCapacity: Int = KnownValidatorsTable.byteCapacity) {
        self.capacity = max(capacity, 1)
        self.byteCapacity = byteCapacity
    }

    /// Keys that something is known of.
    var count: Int { index.count }

    /// The keys, in no order.
    var keys: [String] { index.keys.map(\.string) }

    /// What is known of a key, which is the most recently used then.
    mutating func find(_ key: String) -> KnownValidators? {
        guard let id = index[MemoryCacheKey(key)] else { return nil }
        use(id)
        return slots[id].value
    }

    /// Sets what is known of a key; nil when it is nothing any more.
    mutating func set(_ value: KnownValidators?, forKey key: String) {
        let key = MemoryCacheKey(key)
        let known = index[key]
        guard let value else {
            if let known { remove(known) }
            return
        }
        let id = known ?? insert(key)
        change(id, value)
        use(id)
        evict()
    }

    /// Changes what is known of a key, if anything is.
    mutating func amend(_ amendment: EntryAmendment, forKey key: String) {
        guard let id = index[MemoryCacheKey(key)] else { return }
        change(id, slots[id].value.amended(by: amendment))
        evict()
    }

    /// Forgets everything and gives the memory back.
    mutating func removeAll() { self = KnownValidatorsTable(capacity: capacity, byteCapacity: byteCapacity) }

    private mutating func insert(_ key: MemoryCacheKey) -> Int {
        let id = vacant.popLast() ?? slots.count
        if id == slots.count { slots.append(Slot()) }
        slots[id].key = key
        byteCount += slots[id].cost
        index[key] = id
        linkFirst(id)
        return id
    }

    private mutating func change(_ id: Int, _ value: KnownValidators) {
        byteCount -= slots[id].cost
        slots[id].value = value
        byteCount += slots[id].cost
    }

    private mutating func evict() {
        while count > capacity || byteCount > byteCapacity, count > 0 { remove(slots[0].previous) }
    }

    private mutating func remove(_ id: Int) {
        unlink(id)
        byteCount -= slots[id].cost
        index[slots[id].key] = nil
        slots[id] = Slot()
        vacant.append(id)
    }

    private mutating func use(_ id: Int) {
        guard slots[0].next != id else { return }
        unlink(id)
        linkFirst(id)
    }

    private mutating func unlink(_ id: Int) {
        let (previous, next) = (slots[id].previous, slots[id].next)
        slots[previous].next = next
        slots[next].previous = previous
    }

    private mutating func linkFirst(_ id: Int) {
        let first = slots[0].next
        slots[id].next = first
        slots[id].previous = 0
        slots[first].previous = id
        slots[0].next = id
    }
}

extension KnownValidators {
    /// Bytes of the fields.
    fileprivate var byteCount: Int {
        guard let validators else { return 0 }
        let record = validators.record
        let fields = (record?.headers.fields ?? []) + (record?.selectingHeaders.fields ?? [])
        return (validators.etag?.utf8.count ?? 0) + (validators.lastModified?.utf8.count ?? 0)
            + fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
