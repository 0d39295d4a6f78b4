/// An in-memory table of values with an expiry time and at most `limit` keys. The oldest insertions are evicted first, so that a service
/// that is fed bad URLs does not grow. Every operation but ``removeAll(where:)`` takes the same time, however many keys there are.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var since: Double
        var until: Double
        /// The key's position in the order of insertion.
        var place: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var order = JobHeap<Key>()
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    /// The number of keys, including expired ones.
    var count: Int { entries.count }
    /// The number of entries in the order, including those of removed keys.
    var placeCount: Int { order.entryCount }

    /// Returns a key's value if it has not expired. A time before the insertion counts as expired: the clock was set back by an
    /// unknown amount.
    ///
    /// - Parameter time: Evaluated only if there is a value.
    func value(of key: Key, at time: @autoclosure () -> Double) -> Value? {
        guard let entry = entries[key] else { return nil }
        let now = time()
        return now >= entry.since && now < entry.until ? entry.value : nil
    }

    /// Stores a value for a time from now, in the unit of `now`; does nothing if the time is not above zero.
    mutating func insert(_ key: Key, _ value: Value, at now: Double, for time: Double) {
        guard time > 0 else { return }
        remove(key)
        let place = order.insert(key, priority: .normal)
        entries[key] = Entry(value: value, since: now, until: now + time, place: place)
        while entries.count > limit, let oldest = order.popFirst() { entries[oldest] = nil }
    }

    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { _ = order.remove(entry.place) }
    }

    /// Removes all keys that match. Linear in the number of keys.
    mutating func removeAll(where isOver: (Key) -> Bool) {
        for key in entries.keys.filter(isOver) { remove(key) }
    }
}
