import CLinux
import Glibc

/// The keys and values of a cache by entry number, found by hash.
///
/// Manual memory management, because a hit must neither allocate nor change reference counts for which threads would contend.
/// Concurrent lookups are safe while the table is not changed.
struct CacheTable<Value: AnyObject>: ~Copyable {
    private struct Entry {
        /// Owned.
        var value: Unmanaged<Value>
        /// Owned.
        var key: UnsafeMutablePointer<Key>
    }

    /// The beginning of a block of memory that continues with the UTF-8 bytes of the key.
    private struct Key {
        var hash: UInt64
        var count: Int
        var id: UInt32
    }

    private var index = HashIndex<Entry>()
    /// The keys by entry number.
    private var keys: UnsafeMutablePointer<UnsafeMutablePointer<Key>>
    private var capacity = 64
    /// True if a key that is not in the table may be in the weak level.
    var hasWeakLevel = false

    init() { keys = .allocate(capacity: capacity) }

    // The owner must remove all entries first: only it knows which ones exist.
    deinit { keys.deallocate() }

    /// Returns the number and the value of a key's entry. Because hashes can collide, the bytes are compared.
    @inline(__always)
    func find(_ hash: UInt64, _ key: UnsafeRawBufferPointer) -> (id: UInt32, value: Value)? {
        index.find(hash) { entry in
            // If the key is the right one, its value will be retained: the processor waits for both at once.
            webimage_prefetch(entry.value.toOpaque())
            guard entry.key.pointee.hash == hash, entry.key.pointee.count == key.count else { return false }
            guard let base = key.baseAddress, key.count > 0 else { return true }
            return memcmp(entry.key + 1, base, key.count) == 0
        }.map { ($0.key.pointee.id, $0.value.takeUnretainedValue()) }
    }

    func key(of id: UInt32) -> String {
        let key = keys[Int(id)]
        return String(decoding: UnsafeRawBufferPointer(start: key + 1, count: key.pointee.count), as: UTF8.self)
    }

    mutating func insert(_ id: UInt32, _ hash: UInt64, _ key: UnsafeRawBufferPointer, _ value: Value) {
        if Int(id) >= capacity { grow(toHold: Int(id)) }
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Key>.stride + key.count,
            alignment: MemoryLayout<Key>.alignment
        )
        let header = block.bindMemory(to: Key.self, capacity: 1)
        header.initialize(to: Key(hash: hash, count: key.count, id: id))
        if let bytes = key.baseAddress {
            UnsafeMutableRawPointer(header + 1).copyMemory(from: bytes, byteCount: key.count)
        }
        (keys + Int(id)).initialize(to: header)
        index.insert(hash, Entry(value: .passRetained(value), key: header))
    }

    /// Replaces the value of an existing entry; returns the old one, so that the caller can release it when no lock is held.
    mutating func replace(_ id: UInt32, with value: Value) -> Value? {
        let key = keys[Int(id)]
        let entry = Entry(value: .passRetained(value), key: key)
        return index.replace(key.pointee.hash, with: entry) { $0.key == key }?.value.takeRetainedValue()
    }

    /// Removes an existing entry; returns its value, so that the caller can release it when no lock is held.
    mutating func remove(_ id: UInt32) -> Value? {
        let key = keys[Int(id)]
        defer { key.deallocate() }
        return index.remove(key.pointee.hash) { $0.key == key }?.value.takeRetainedValue()
    }

    private mutating func grow(toHold id: Int) {
        let (old, oldCapacity) = (keys, capacity)
        while capacity <= id { capacity *= 2 }
        keys = .allocate(capacity: capacity)
        // Also copies unused places: they are plain words and are not read before they are written.
        UnsafeMutableRawPointer(keys).copyMemory(
            from: UnsafeRawPointer(old),
            byteCount: oldCapacity * MemoryLayout<UnsafeMutablePointer<Key>>.stride
        )
        old.deallocate()
    }
}
