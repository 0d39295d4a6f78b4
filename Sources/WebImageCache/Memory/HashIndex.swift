/// A table from hashes to entries: open addressing, linear probing, at most three quarters full.
///
/// Hashes and entries are two arrays, so that a lookup reads from both at once instead of after each other, and a probe for the hash
/// stays within few cache lines. Only 31 bits of a hash are stored, so different hashes can be the same here; the caller of a lookup
/// selects the right entry. Concurrent lookups are safe while the table is not changed.
struct HashIndex<Entry: BitwiseCopyable>: ~Copyable {
    /// The stored part of the hash by place; 0 if the place is free.
    private var marks: UnsafeMutablePointer<UInt32>
    /// The entry by place; uninitialized if the place is free.
    private var entries: UnsafeMutablePointer<Entry>
    private var mask = 15
    private(set) var count = 0

    init() {
        marks = .allocate(capacity: 16)
        marks.initialize(repeating: 0, count: 16)
        entries = .allocate(capacity: 16)
    }

    deinit {
        marks.deallocate()
        entries.deallocate()
    }

    /// Returns the first entry of `hash` that `isWanted` accepts.
    @inline(__always)
    func find(_ hash: UInt64, where isWanted: (Entry) -> Bool) -> Entry? {
        place(of: hash, where: isWanted).map { entries[$0] }
    }

    /// Adds an entry.
    mutating func insert(_ hash: UInt64, _ entry: Entry) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        place(Self.mark(hash), entry)
        count += 1
    }

    /// Replaces the first entry of `hash` that `isWanted` accepts, and returns it.
    mutating func replace(_ hash: UInt64, with entry: Entry, where isWanted: (Entry) -> Bool) -> Entry? {
        guard let place = place(of: hash, where: isWanted) else { return nil }
        let replaced = entries[place]
        entries[place] = entry
        return replaced
    }

    /// Removes the first entry of `hash` that `isWanted` accepts, and returns it.
    @discardableResult
    mutating func remove(_ hash: UInt64, where isWanted: (Entry) -> Bool) -> Entry? {
        guard var hole = place(of: hash, where: isWanted) else { return nil }
        let removed = entries[hole]
        count -= 1
        // Closes the gap: each following entry moves back unless it is at its home position.
        var place = (hole + 1) & mask
        while marks[place] != 0 {
            if (place &- home(marks[place])) & mask >= (place &- hole) & mask {
                marks[hole] = marks[place]
                entries[hole] = entries[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        marks[hole] = 0
        return removed
    }

    @inline(__always)
    private static func mark(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) | 1 }

    @inline(__always)
    private func home(_ mark: UInt32) -> Int { Int(mark >> 1) & mask }

    @inline(__always)
    private func place(of hash: UInt64, where isWanted: (Entry) -> Bool) -> Int? {
        let mark = Self.mark(hash)
        var place = home(mark)
        while marks[place] != 0 {
            if marks[place] == mark, isWanted(entries[place]) { return place }
            place = (place + 1) & mask
        }
        return nil
    }

    private mutating func place(_ mark: UInt32, _ entry: Entry) {
        var place = home(mark)
        while marks[place] != 0 { place = (place + 1) & mask }
        marks[place] = mark
        (entries + place).initialize(to: entry)
    }

    private mutating func grow() {
        let (oldMarks, oldEntries, oldCount) = (marks, entries, mask + 1)
        mask = oldCount * 2 - 1
        marks = .allocate(capacity: mask + 1)
        marks.initialize(repeating: 0, count: mask + 1)
        entries = .allocate(capacity: mask + 1)
        for place in 0..<oldCount where oldMarks[place] != 0 { self.place(oldMarks[place], oldEntries[place]) }
        oldMarks.deallocate()
        oldEntries.deallocate()
    }
}
