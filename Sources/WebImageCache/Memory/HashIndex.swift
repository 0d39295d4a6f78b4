/// A table from 64-bit hashes to entry numbers: open addressing, linear probing, at most three quarters full.
///
/// A hash may map to several numbers (colliding keys); the caller of a lookup selects the right one. Concurrent lookups are safe
/// while the table is not changed.
struct HashIndex: ~Copyable {
    private struct Slot {
        var hash: UInt64
        /// 0 if the slot is free.
        var id: UInt32
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(hash: 0, id: 0), count: 16)
    }

    deinit { slots.deallocate() }

    /// Returns the first number of `hash` that `isWanted` accepts.
    @inline(__always)
    func find(_ hash: UInt64, where isWanted: (UInt32) -> Bool) -> UInt32? {
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].id != 0 {
            if slots[place].hash == hash, isWanted(slots[place].id) { return slots[place].id }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Adds a number, which must not be 0.
    mutating func insert(_ hash: UInt64, id: UInt32) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        place(Slot(hash: hash, id: id))
        count += 1
    }

    /// Removes an existing number.
    mutating func remove(_ hash: UInt64, id: UInt32) {
        var hole = Int(truncatingIfNeeded: hash) & mask
        while slots[hole].id != id {
            guard slots[hole].id != 0 else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Closes the gap: each following slot moves back unless it is at its home position.
        var place = (hole + 1) & mask
        while slots[place].id != 0 {
            let home = Int(truncatingIfNeeded: slots[place].hash) & mask
            if (place &- home) & mask >= (place &- hole) & mask {
                slots[hole] = slots[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        slots[hole].id = 0
    }

    private mutating func place(_ slot: Slot) {
        var place = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[place].id != 0 { place = (place + 1) & mask }
        slots[place] = slot
    }

    private mutating func grow() {
        let (old, oldCount) = (slots, mask + 1)
        mask = oldCount * 2 - 1
        slots = .allocate(capacity: mask + 1)
        slots.initialize(repeating: Slot(hash: 0, id: 0), count: mask + 1)
        for index in 0..<oldCount where old[index].id != 0 { place(old[index]) }
        old.deallocate()
    }
}
