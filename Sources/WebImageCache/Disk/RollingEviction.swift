/// Keeps a directory below a size limit during writes: each store that exceeds the limit evicts a few of the oldest entries.
///
/// The total is counted once and then updated. It and a list of the oldest entries are counted again for every eighth of the limit
/// that is written (every quarter, while the directory is less than half full), so writes of other processes are detected. The walk
/// through the directory is divided into steps, one per store and proportional to its size, so no store pays for a full listing.
struct RollingEviction: Sendable {
    /// One step of a walk through the directory.
    struct Step: Sendable, Hashable {
        /// The number of the walk; a new number starts from the beginning.
        let walk: Int
        /// The maximum number of entries to examine.
        let budget: Int
    }

    /// A walk in progress.
    private struct Walk: Sendable {
        /// The total size of the entries found so far; entries stored in the meantime count with their previous size.
        var found = 0
        /// The bytes stored in the meantime, and their difference to the bytes that they replaced.
        var written = 0
        var added = 0
        var freed = 0
        /// The previous sizes of entries that were stored in the meantime.
        var replaced: [UInt64: Int] = [:]
        var removed: Set<UInt64> = []
    }

    /// The maximum number of entries that one store examines.
    static let largestStep = 256
    /// The minimum number of entries that a store examines.
    private static let smallestStep = 16
    /// Examining an entry takes about as long as storing this number of bytes.
    private static let bytesPerEntry = 512
    private static let batch = 16

    /// The known size of the directory in bytes; nil before the first walk.
    private(set) var total: Int?
    private var candidates = EntryTable()
    /// The tags of entries that were removed while the candidates were collected, so they need not be looked up.
    private var gone: Set<UInt64> = []
    private var writtenSinceWalk = 0
    private var freedSinceWalk = 0
    private var walk: Walk?
    private var number = 0

    var isWalking: Bool { walk != nil }

    /// Returns whether this walk is in progress.
    func isWalking(_ id: Int) -> Bool { walk != nil && id == number }

    /// Returns a hash that identifies an entry by its name.
    static func tag(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 { Hashing.xxh3(UnsafeRawBufferPointer(name)) }

    static func tag(_ name: String) -> UInt64 {
        var name = name
        return name.withUTF8(tag)
    }

    mutating func didStore(_ size: Int, replacing old: Int, name tag: UInt64) {
        if let total { self.total = max(total + size - old, 0) }
        writtenSinceWalk += size
        guard walk != nil else { return }
        walk?.written += size
        walk?.added += size - old
        if walk?.replaced[tag] == nil { walk?.replaced[tag] = old }
    }

    /// Called before the file is removed.
    mutating func didFree(_ size: Int, name tag: UInt64) {
        if let total { self.total = max(total - size, 0) }
        freedSinceWalk += size
        walk?.freed += size
        walk?.removed.insert(tag)
    }

    /// Takes back what was reported of a file that could not be removed.
    mutating func didKeep(_ size: Int, name tag: UInt64) {
        if let total { self.total = total + size }
        freedSinceWalk = max(freedSinceWalk - size, 0)
        walk?.freed -= size
        walk?.removed.remove(tag)
    }

    /// Resets the state, for example after all entries were removed.
    mutating func reset() {
        let number = number
        self = RollingEviction()
        self.number = number
    }
}

// MARK: Evicting
extension RollingEviction {
    /// Returns the entries to evict now, if they have not been used since; only a few, so call again. Freed space must be reported.
    mutating func victims(limit: Int) -> [ScannedEntry] {
        guard limit > 0, let total, total > limit else { return [] }
        var excess = total - limit
        var victims: [ScannedEntry] = []
        while excess > 0, victims.count < Self.batch, let oldest = candidates.popOldest() {
            if !gone.isEmpty, gone.contains(Self.tag(oldest.name)) { continue }
            victims.append(oldest)
            excess -= oldest.allocatedSize
        }
        return victims
    }

    /// Returns whether the limit is exceeded and eviction candidates are known.
    func hasVictims(limit: Int) -> Bool {
        guard limit > 0, let total, total > limit else { return false }
        return !candidates.isEmpty
    }
}

// MARK: Walking
extension RollingEviction {
    /// Returns the next step of a walk after a store of `written` bytes, if a walk is due or in progress.
    mutating func nextStep(limit: Int, written: Int) -> Step? {
        guard limit > 0 else { return nil }
        guard let walk else {
            guard needsWalk(limit) else { return nil }
            number += 1
            walk = Walk()
            return Step(walk: number, budget: Self.largestStep)
        }
        let isUrgent = isStarved(limit) || walk.written > limit / 16
        let paced = min(max(written / Self.bytesPerEntry, Self.smallestStep), Self.largestStep)
        return Step(walk: number, budget: isUrgent ? Self.largestStep : paced)
    }

    /// Returns the next step of a walk in progress, for a thread that has time.
    func continuedStep() -> Step? { walk == nil ? nil : Step(walk: number, budget: Self.largestStep) }

    private func needsWalk(_ limit: Int) -> Bool {
        guard let total else { return true }
        if writtenSinceWalk > max(total <= limit / 2 ? limit / 4 : limit / 8, 1) { return true }
        // If none of the candidates could be removed, another walk right away would find nothing else.
        return isStarved(limit) && (freedSinceWalk > 0 || writtenSinceWalk > limit / 64)
    }

    private func isStarved(_ limit: Int) -> Bool {
        guard let total else { return false }
        return total > limit && candidates.isEmpty
    }

    /// Adds the entries that a step found; false if the walk is obsolete.
    mutating func count(_ found: EntryTable, walk id: Int) -> Bool {
        guard isWalking(id), let walk else { return false }
        guard !walk.replaced.isEmpty else {
            self.walk?.found += found.totalSize
            return true
        }
        var sum = 0
        found.forEach { name, size in sum += walk.replaced[Self.tag(name)] ?? size }
        self.walk?.found += sum
        return true
    }

    /// Returns the total size of the oldest entries to remember, now that all have been found.
    func wantedCandidates(limit: Int) -> Int {
        guard let walk else { return 0 }
        let total = walk.found + walk.added
        let reserve = max(limit / 4, 1)
        return total > limit - reserve ? max(total - limit, 0) + reserve : 0
    }

    /// Ends a complete walk.
    mutating func finish(_ oldest: EntryTable, walk id: Int) {
        guard isWalking(id), let walk else { return }
        // Entries removed in the meantime may or may not have been found before; the updated total is used if it is plausible.
        let most = max(walk.found + walk.added, 0)
        total = min(max(total ?? most, most - walk.freed), most)
        candidates = oldest
        gone = walk.removed
        writtenSinceWalk = walk.written
        freedSinceWalk = 0
        self.walk = nil
    }

    /// Abandons a failed walk; the next store begins another.
    mutating func abandon(walk id: Int) {
        if id == number { walk = nil }
    }
}
