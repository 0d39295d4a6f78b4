import Glibc

/// The keys and values of a cache by entry number, found by hash.
///
/// Manual memory management, because a hit must neither allocate nor change reference counts for which threads would contend.
/// Concurrent lookups are safe while the table is not changed.
struct CacheTable<Value: AnyObject>: ~Copyable {
    private struct Entry {
        var digestHigh: UInt64
        var digestLow: UInt64
        /// The key's UTF-8 bytes; owned.
        var key: UnsafeMutableRawPointer
        var keyCount: Int
        /// Owned.
        var value: Unmanaged<Value>
    }

    private var index = HashIndex()
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 64
    /// True if a key that is not in the table may be in the weak level.
    var hasWeakLevel = false

    init() { entries = .allocate(capacity: capacity) }

    // The owner must remove all entries first: only it knows which ones exist.
    deinit { entries.deallocate() }

    /// Returns the entry of a key. Because digests can collide, the bytes are compared.
    @inline(__always)
    func find(_ digest: KeyDigest, _ key: UnsafeRawBufferPointer) -> UInt32? {
        index.find(digest.low) { id in
            let entry = entries + Int(id)
            guard entry.pointee.digestHigh == digest.high, entry.pointee.keyCount == key.count else { return false }
            guard let base = key.baseAddress, key.count > 0 else { return true }
            return memcmp(entry.pointee.key, base, key.count) == 0
        }
    }

    @inline(__always)
    func value(of id: UInt32) -> Value { entries[Int(id)].value.takeUnretainedValue() }

    func key(of id: UInt32) -> String {
        let entry = entries[Int(id)]
        return String(decoding: UnsafeRawBufferPointer(start: entry.key, count: entry.keyCount), as: UTF8.self)
    }

    mutating func insert(_ id: UInt32, _ digest: KeyDigest, _ key: UnsafeRawBufferPointer, _ value: Value) {
        if Int(id) >= capacity { grow(toHold: Int(id)) }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(key.count, 1), alignment: 1)
        bytes.copyMemory(from: UnsafeRawPointer(key.baseAddress ?? UnsafeRawPointer(bytes)), byteCount: key.count)
        (entries + Int(id)).initialize(
            to: Entry(
                digestHigh: digest.high,
                digestLow: digest.low,
                key: bytes,
                keyCount: key.count,
                value: .passRetained(value)
            )
        )
        index.insert(digest.low, id: id)
    }

    mutating func replace(_ id: UInt32, with value: Value) -> Value {
        let old = entries[Int(id)].value
        entries[Int(id)].value = .passRetained(value)
        return old.takeRetainedValue()
    }

    /// Removes an existing entry; returns its value, so that the caller can release it when no lock is held.
    mutating func remove(_ id: UInt32) -> Value {
        let entry = entries[Int(id)]
        index.remove(entry.digestLow, id: id)
        entry.key.deallocate()
        return entry.value.takeRetainedValue()
    }

    private mutating func grow(toHold id: Int) {
        let (old, oldCapacity) = (entries, capacity)
        while capacity <= id { capacity *= 2 }
        entries = .allocate(capacity: capacity)
        // Also copies unused slots: they are plain words and are not read before they are written.
        UnsafeMutableRawPointer(entries).copyMemory(
            from: UnsafeRawPointer(old),
            byteCount: oldCapacity * MemoryLayout<Entry>.stride
        )
        old.deallocate()
    }
}
