import Glibc

/// The keys and values of a cache by entry number, found by hash.
///
/// Manual memory management, because a hit must neither allocate nor change reference counts for which threads would contend.
/// Concurrent lookups are safe while the table is not changed.
struct CacheTable<Value: AnyObject>: ~Copyable {
    /// The beginning of a block of memory that continues with the UTF-8 bytes of the key: a lookup waits for one place in memory instead of two.
    private struct Entry {
        var digestHigh: UInt64
        var digestLow: UInt64
        /// Owned.
        var value: Unmanaged<Value>
        var keyCount: Int
        var id: UInt32
    }

    private var index = HashIndex<UnsafeMutablePointer<Entry>>()
    /// The entries by number.
    private var entries: UnsafeMutablePointer<UnsafeMutablePointer<Entry>>
    private var capacity = 64
    /// True if a key that is not in the table may be in the weak level.
    var hasWeakLevel = false

    init() { entries = .allocate(capacity: capacity) }

    // The owner must remove all entries first: only it knows which ones exist.
    deinit { entries.deallocate() }

    /// Returns the entry of a key. Because digests can collide, the bytes are compared.
    @inline(__always)
    func find(_ digest: KeyDigest, _ key: UnsafeRawBufferPointer) -> UInt32? { entry(digest, key)?.pointee.id }

    /// Returns the number and the value of a key's entry.
    @inline(__always)
    func lookUp(_ digest: KeyDigest, _ key: UnsafeRawBufferPointer) -> (id: UInt32, value: Value)? {
        entry(digest, key).map { ($0.pointee.id, $0.pointee.value.takeUnretainedValue()) }
    }

    @inline(__always)
    private func entry(_ digest: KeyDigest, _ key: UnsafeRawBufferPointer) -> UnsafeMutablePointer<Entry>? {
        index.find(digest.low) { entry in
            guard entry.pointee.digestHigh == digest.high, entry.pointee.keyCount == key.count else { return false }
            guard let base = key.baseAddress, key.count > 0 else { return true }
            return memcmp(entry + 1, base, key.count) == 0
        }
    }

    func value(of id: UInt32) -> Value { entries[Int(id)].pointee.value.takeUnretainedValue() }

    func key(of id: UInt32) -> String {
        let entry = entries[Int(id)]
        return String(decoding: UnsafeRawBufferPointer(start: entry + 1, count: entry.pointee.keyCount), as: UTF8.self)
    }

    mutating func insert(_ id: UInt32, _ digest: KeyDigest, _ key: UnsafeRawBufferPointer, _ value: Value) {
        if Int(id) >= capacity { grow(toHold: Int(id)) }
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Entry>.stride + key.count,
            alignment: MemoryLayout<Entry>.alignment
        )
        let entry = block.bindMemory(to: Entry.self, capacity: 1)
        entry.initialize(
            to: Entry(
                digestHigh: digest.high,
                digestLow: digest.low,
                value: .passRetained(value),
                keyCount: key.count,
                id: id
            )
        )
        if let bytes = key.baseAddress {
            UnsafeMutableRawPointer(entry + 1).copyMemory(from: bytes, byteCount: key.count)
        }
        (entries + Int(id)).initialize(to: entry)
        index.insert(digest.low, entry)
    }

    mutating func replace(_ id: UInt32, with value: Value) -> Value {
        let old = entries[Int(id)].pointee.value
        entries[Int(id)].pointee.value = .passRetained(value)
        return old.takeRetainedValue()
    }

    /// Removes an existing entry; returns its value, so that the caller can release it when no lock is held.
    mutating func remove(_ id: UInt32) -> Value {
        let entry = entries[Int(id)]
        defer { entry.deallocate() }
        index.remove(entry.pointee.digestLow, entry)
        return entry.pointee.value.takeRetainedValue()
    }

    private mutating func grow(toHold id: Int) {
        let (old, oldCapacity) = (entries, capacity)
        while capacity <= id { capacity *= 2 }
        entries = .allocate(capacity: capacity)
        // Also copies unused slots: they are plain words and are not read before they are written.
        UnsafeMutableRawPointer(entries).copyMemory(
            from: UnsafeRawPointer(old),
            byteCount: oldCapacity * MemoryLayout<UnsafeMutablePointer<Entry>>.stride
        )
        old.deallocate()
    }
}
