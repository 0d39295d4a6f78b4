/// Values that hold for a time, of at most `limit` keys: those that were inserted longest ago go first, so that a service that is fed bad
/// URLs does not grow. In memory; a pure value. All but ``removeAll(where:)`` takes the same time, however many keys there are.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        var since: Double
        var until: Double
        /// In the order of insertion.
        var place: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var order = JobHeap<Key>()
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    /// How many keys are held, with those whose time is over.
    var count: Int { entries.count }
    /// Places that are taken up, also by keys that have left.
    var placeCount: Int { order.entryCount }

    /// A key's value, if it still holds. Before it was inserted it does not: the clock was set back, and nobody knows how far.
    ///
    /// - Parameter time: read only if there is a value.
    func value(of key: Key, at time: @autoclosure () -> Double) -> Value? {
        guard let entry = entries[key] else { return nil }
        let now = time()
        return now >= entry.since && now < entry.until ? entry.value : nil
    }

    /// Holds a value for a time from now, in the unit of `now`; not at all when that is not above zero.
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

    /// Cost: a look at each key.
    mutating func removeAll(where isOver: (Key) -> Bool) {
        for key in entries.keys.filter(isOver) { remove(key) }
    }
}
