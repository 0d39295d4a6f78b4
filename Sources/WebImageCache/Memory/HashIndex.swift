/// A table from 64-bit hashes to entries, by number or address: open addressing, linear probing, at most three quarters full.
///
/// A hash may map to several entries (colliding keys); the caller of a lookup selects the right one. Concurrent lookups are safe
/// while the table is not changed.
struct HashIndex<Entry: Equatable>: ~Copyable {
    private struct Slot {
        var hash: UInt64 = 0
        /// Nil if the slot is free.
        var entry: Entry?
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(), count: 16)
    }

    deinit { slots.deallocate() }

    /// Returns the first entry of `hash` that `isWanted` accepts.
    @inline(__always)
    func find(_ hash: UInt64, where isWanted: (Entry) -> Bool) -> Entry? {
        var place = Int(truncatingIfNeeded: hash) & mask
        while let entry = slots[place].entry {
            if slots[place].hash == hash, isWanted(entry) { return entry }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Adds an entry.
    mutating func insert(_ hash: UInt64, _ entry: Entry) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        place(Slot(hash: hash, entry: entry))
        count += 1
    }

    /// Removes an existing entry.
    mutating func remove(_ hash: UInt64, _ entry: Entry) {
        var hole = Int(truncatingIfNeeded: hash) & mask
        while slots[hole].entry != entry {
            guard slots[hole].entry != nil else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Closes the gap: each following slot moves back unless it is at its home position.
        var place = (hole + 1) & mask
        while slots[place].entry != nil {
            let home = Int(truncatingIfNeeded: slots[place].hash) & mask
            if (place &- home) & mask >= (place &- hole) & mask {
                slots[hole] = slots[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        slots[hole].entry = nil
    }

    private mutating func place(_ slot: Slot) {
        var place = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[place].entry != nil { place = (place + 1) & mask }
        slots[place] = slot
    }

    private mutating func grow() {
        let (old, oldCount) = (slots, mask + 1)
        mask = oldCount * 2 - 1
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: Slot(), count: mask + 1)
        for index in 0..<oldCount where old[index].entry != nil { place(old[index]) }
        old.deallocate()
    }
}
