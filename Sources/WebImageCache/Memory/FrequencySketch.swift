/// How often keys were asked for lately, whether they are cached or not: a count-min sketch that is halved from time to time.
///
/// Takes 16 bytes for each entry it was made for, whatever the number of keys seen. A key's count can be too high (when
/// others fall on all four of its counters), never too low but for the halving.
struct FrequencySketch {
    private var counters: ContiguousArray<UInt8> = []
    private var mask: UInt64 = 0
    private var additions = 0
    /// Entries that the sketch was made for; a power of two.
    private(set) var capacity = 0
    /// Halvings so far; what was counted `n` halvings ago is worth `1 / 2ⁿ`.
    private(set) var epoch: UInt16 = 0

    /// Counters per entry: with fewer, keys that are not cached blur those that are.
    private static let countersPerEntry = 16
    /// Requests per entry between two halvings. Longer is better while popularity stands still, shorter when it moves.
    private static let requestsPerEntry = 20

    init(capacity: Int) { reset(capacity: capacity) }

    /// Forgets everything and makes room for `capacity` entries.
    mutating func reset(capacity wanted: Int) {
        capacity = 64
        while capacity < wanted { capacity *= 2 }
        counters = ContiguousArray(repeating: 0, count: capacity * Self.countersPerEntry)
        mask = UInt64(counters.count - 1)
        additions = 0
    }

    /// Counts a request. Returns the key's count with it, as of the present ``epoch``.
    mutating func add(_ hash: UInt64) -> UInt8 {
        let places = places(hash)
        let least = min(counters[places.0], counters[places.1], counters[places.2], counters[places.3])
        if least < .max {
            // Only the smallest are raised: the others already say too much.
            if counters[places.0] == least { counters[places.0] += 1 }
            if counters[places.1] == least { counters[places.1] += 1 }
            if counters[places.2] == least { counters[places.2] += 1 }
            if counters[places.3] == least { counters[places.3] += 1 }
        }
        additions += 1
        return least < .max ? least + 1 : least
    }

    /// Whether it is time to call ``halve()``, for a cache of `count` entries.
    func isDue(count: Int) -> Bool { additions >= Self.requestsPerEntry * max(count, 32) }

    /// Makes everything counted so far worth half.
    mutating func halve() {
        for index in counters.indices { counters[index] >>= 1 }
        additions /= 2
        epoch &+= 1
    }

    /// Puts a known count back after ``reset(capacity:)``.
    mutating func restore(_ hash: UInt64, count: UInt8) {
        let places = places(hash)
        counters[places.0] = max(counters[places.0], count)
        counters[places.1] = max(counters[places.1], count)
        counters[places.2] = max(counters[places.2], count)
        counters[places.3] = max(counters[places.3], count)
    }

    /// A key's four counters, each in a quarter of their own of one block of 64: a block is one line of the processor's cache.
    @inline(__always)
    private func places(_ hash: UInt64) -> (Int, Int, Int, Int) {
        let mixed = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
        let block = Int((mixed >> 32) & mask) & ~63
        let low = Int(truncatingIfNeeded: mixed >> 4)
        return (
            block + (low & 15), block + 16 + ((low >> 4) & 15), block + 32 + ((low >> 8) & 15),
            block + 48 + ((low >> 12) & 15)
        )
    }
}
