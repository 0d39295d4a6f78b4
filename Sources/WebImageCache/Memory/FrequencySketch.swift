import CLinux

/// The recent request frequency of keys, whether they are cached or not: a count-min sketch that is halved from time to time.
///
/// Takes 16 bytes for each entry of its capacity, whatever the number of keys seen. A key's count can be too high (if other keys
/// share all four of its counters), but, except for the halving, never too low.
struct FrequencySketch: ~Copyable {
    /// In blocks of 64, each of which is one cache line of the processor.
    private var counters = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    private var additions = 0
    /// The number of entries that the sketch is designed for; a power of two.
    private(set) var capacity = 0
    /// The number of halvings so far; a count from `n` halvings ago is worth `1 / 2ⁿ`.
    private(set) var epoch: UInt16 = 0

    /// The number of counters per entry: with fewer, keys that are not cached distort the counts of those that are.
    private static let countersPerEntry = 16
    /// The number of requests per entry between two halvings. Longer is better while popularity is stable, shorter when it changes.
    private static let requestsPerEntry = 20

    init(capacity: Int) { reset(capacity: capacity) }

    deinit { counters.deallocate() }

    /// Resets the sketch for a capacity of `capacity` entries.
    mutating func reset(capacity wanted: Int) {
        capacity = 64
        while capacity < wanted { capacity *= 2 }
        counters.deallocate()
        counters = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity * Self.countersPerEntry, alignment: 64)
            .bindMemory(to: UInt8.self)
        counters.initialize(repeating: 0)
        additions = 0
    }

    /// Counts a request. Returns the key's new count, as of the current ``epoch``.
    mutating func add(_ hash: UInt64) -> UInt8 {
        additions += 1
        let places = places(hash)
        let counts = (counters[places.0], counters[places.1], counters[places.2], counters[places.3])
        let least = min(counts.0, counts.1, counts.2, counts.3)
        guard least < .max else { return least }
        // Only the smallest counters are incremented: the others are already too high. Which ones these are cannot be predicted, so
        // all are written, which needs no branch.
        counters[places.0] = counts.0 &+ (counts.0 == least ? 1 : 0)
        counters[places.1] = counts.1 &+ (counts.1 == least ? 1 : 0)
        counters[places.2] = counts.2 &+ (counts.2 == least ? 1 : 0)
        counters[places.3] = counts.3 &+ (counts.3 == least ? 1 : 0)
        return least + 1
    }

    /// Begins to load a key's counters from memory.
    func prefetch(_ hash: UInt64) { webimage_prefetch(counters.baseAddress.map { $0 + places(hash).0 }) }

    /// Returns whether it is time to call ``halve()``, for a cache of `count` entries.
    func isDue(count: Int) -> Bool { additions >= Self.requestsPerEntry * max(count, 32) }

    /// Halves all counts.
    mutating func halve() {
        for index in counters.indices { counters[index] >>= 1 }
        additions /= 2
        epoch &+= 1
    }

    /// Restores a known count after ``reset(capacity:)``.
    mutating func restore(_ hash: UInt64, count: UInt8) {
        let places = places(hash)
        counters[places.0] = max(counters[places.0], count)
        counters[places.1] = max(counters[places.1], count)
        counters[places.2] = max(counters[places.2], count)
        counters[places.3] = max(counters[places.3], count)
    }

    /// Returns a key's four counters, each in a separate quarter of one block.
    @inline(__always)
    private func places(_ hash: UInt64) -> (Int, Int, Int, Int) {
        let mixed = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
        let block = Int(truncatingIfNeeded: mixed >> 32) & (counters.count - 64)
        let low = Int(truncatingIfNeeded: mixed >> 4)
        return (
            block + (low & 15), block + 16 + ((low >> 4) & 15), block + 32 + ((low >> 8) & 15),
            block + 48 + ((low >> 12) & 15)
        )
    }
}
