import Glibc

/// What is known of entries' validators, by key: bounded, the least recently used goes first. All in O(1), and a lookup
/// allocates nothing.
struct KnownValidatorsTable: ~Copyable {
    /// Most keys: 4096 is what some ten screens of thumbnails ask for, and about 4 MB with the fields of ordinary servers.
    static let capacity = 4096
    /// Most bytes of keys and fields: servers choose how long those are.
    static let byteCapacity = 8 << 20

    private struct Content {
        let key: MemoryCacheKey
        var value: KnownValidators
        /// Bytes of what has no fixed size.
        var cost: Int
    }

    private struct Slot {
        var previous: UInt32 = 0
        var next: UInt32 = 0
        /// Nil when the slot is free, and in slot 0, which is the head of the list by use.
        var content: Content?
    }

    private let capacity: Int
    private let byteCapacity: Int
    private(set) var byteCount = 0
    private var index = HashIndex()
    private var slots: ContiguousArray<Slot> = [Slot()]
    private var vacant: ContiguousArray<UInt32> = []

    /// An empty table.
    init(capacity: Int = KnownValidatorsTable.capacity, byteCapacity: Int = KnownValidatorsTable.byteCapacity) {
        self.capacity = max(capacity, 1)
        self.byteCapacity = byteCapacity
    }

    /// Keys that something is known of.
    var count: Int { index.count }

    /// The keys, in no order.
    var keys: [String] { slots.compactMap { $0.content?.key.string } }

    /// What is known of a key, which is the most recently used then.
    mutating func find(_ key: String) -> KnownValidators? {
        guard let id = find(KeyDigest.withBytes(of: key) { KeyDigest($0) }, key) else { return nil }
        use(id)
        return slots[Int(id)].content?.value
    }

    /// Sets what is known of a key; nil when it is nothing any more.
    mutating func set(_ value: KnownValidators?, forKey key: String) {
        guard let value else { return remove(key) }
        let key = MemoryCacheKey(key)
        if let id = find(key.digest, key.string) {
            change(id, value)
            use(id)
            return evictBulk()
        }
        if index.count >= capacity { evict() }
        let id: UInt32
        if let reused = vacant.popLast() {
            id = reused
        } else {
            id = UInt32(slots.count)
            slots.append(Slot())
        }
        let cost = key.string.utf8.count + value.byteCount
        slots[Int(id)].content = Content(key: key, value: value, cost: cost)
        byteCount += cost
        index.insert(key.digest.low, id: id)
        linkFirst(id)
        evictBulk()
    }

    /// Changes what is known of a key, if anything is.
    mutating func amend(_ amendment: EntryAmendment, forKey key: String) {
        guard let id = find(KeyDigest.withBytes(of: key) { KeyDigest($0) }, key) else { return }
        guard let value = slots[Int(id)].content?.value else { return }
        change(id, value.amended(by: amendment))
        evictBulk()
    }

    /// Forgets everything and gives the memory back.
    mutating func removeAll() {
        index.removeAll()
        slots = [Slot()]
        vacant = []
        byteCount = 0
    }

    private mutating func change(_ id: UInt32, _ value: KnownValidators) {
        guard var content = slots[Int(id)].content else { return }
        byteCount -= content.cost
        content.value = value
        content.cost = content.key.string.utf8.count + value.byteCount
        byteCount += content.cost
        slots[Int(id)].content = content
    }

    private mutating func evictBulk() {
        while byteCount > byteCapacity, index.count > 0 { evict() }
    }

    private mutating func remove(_ key: String) {
        guard let id = find(KeyDigest.withBytes(of: key) { KeyDigest($0) }, key) else { return }
        remove(id)
    }

    private mutating func evict() {
        let oldest = slots[0].previous
        if oldest != 0 { remove(oldest) }
    }

    private mutating func remove(_ id: UInt32) {
        guard let content = slots[Int(id)].content else { return }
        index.remove(content.key.digest.low, id: id)
        unlink(id)
        byteCount -= content.cost
        slots[Int(id)].content = nil
        vacant.append(id)
    }

    private func find(_ digest: KeyDigest, _ key: String) -> UInt32? {
        index.find(digest.low) { id in
            guard let stored = slots[Int(id)].content?.key, stored.digest == digest else { return false }
            return KeyDigest.withBytes(of: stored.string) { stored in
                KeyDigest.withBytes(of: key) { key in
                    guard stored.count == key.count else { return false }
                    guard let first = stored.baseAddress, let second = key.baseAddress else { return true }
                    return memcmp(first, second, stored.count) == 0
                }
            }
        }
    }

    private mutating func use(_ id: UInt32) {
        guard slots[0].next != id else { return }
        unlink(id)
        linkFirst(id)
    }

    private mutating func unlink(_ id: UInt32) {
        let (previous, next) = (slots[Int(id)].previous, slots[Int(id)].next)
        slots[Int(previous)].next = next
        slots[Int(next)].previous = previous
    }

    private mutating func linkFirst(_ id: UInt32) {
        let first = slots[0].next
        slots[Int(id)].next = first
        slots[Int(id)].previous = 0
        slots[Int(first)].previous = id
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
