/// Keeps a directory below a size while it is written to: a few of the oldest entries go with each store that exceeds it.
///
/// The total is counted once and carried on; it and a list of the oldest entries are taken again every eighth of the limit
/// (every quarter, while the directory is less than half full), so other processes' writes are noticed. The directory is
/// walked through in steps, one with each store and as long as that, so no store pays for a listing.
struct RollingEviction: Sendable {
    /// A part of a walk through the directory.
    struct Step: Sendable, Hashable {
        /// Of the walk; another number than before means one from the beginning.
        let walk: Int
        /// Most entries to look at.
        let budget: Int
    }

    /// A walk that goes on.
    private struct Walk: Sendable {
        /// Bytes of the entries found so far, those stored meanwhile taken as they were before.
        var found = 0
        /// Bytes stored meanwhile, and how much more that is than what was replaced.
        var written = 0
        var added = 0
        var freed = 0
        /// What entries that were stored meanwhile took before.
        var replaced: [UInt64: Int] = [:]
        var removed: Set<UInt64> = []
    }

    /// Most entries that one store looks at.
    static let largestStep = 256
    /// What a store of little looks at.
    private static let smallestStep = 16
    /// Looking at an entry takes as long as storing this many bytes, roughly.
    private static let bytesPerEntry = 512
    private static let batch = 16

    /// Bytes in the directory as far as known; nil before the first walk.
    private(set) var total: Int?
    private var candidates = EntryTable()
    /// What was removed while the candidates were collected, so they need not be looked for.
    private var gone: Set<UInt64> = []
    private var writtenSinceWalk = 0
    private var freedSinceWalk = 0
    private var walk: Walk?
    private var number = 0

    var isWalking: Bool { walk != nil }

    /// Whether it is this walk that goes on.
    func isWalking(_ id: Int) -> Bool { walk != nil && id == number }

    /// What stands for the name of an entry.
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

    mutating func didFree(_ size: Int, name tag: UInt64) {
        if let total { self.total = max(total - size, 0) }
        freedSinceWalk += size
        walk?.freed += size
        walk?.removed.insert(tag)
    }

    /// Forgets what is known, for example because everything was removed.
    mutating func reset() {
        let number = number
        self = RollingEviction()
        self.number = number
    }
}

// Evicting
extension RollingEviction {
    /// The entries that go now, if they are still as old; few of them, so ask again. What came free is to be reported.
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

    /// Whether there is more than the limit allows, and something known that could go.
    func hasVictims(limit: Int) -> Bool {
        guard limit > 0, let total, total > limit else { return false }
        return !candidates.isEmpty
    }
}

// Walking
extension RollingEviction {
    /// The next step of a walk, if one is due or goes on, after a store of so many bytes.
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

    /// The next step of a walk that goes on, for somebody who has time.
    func continuedStep() -> Step? { walk == nil ? nil : Step(walk: number, budget: Self.largestStep) }

    private func needsWalk(_ limit: Int) -> Bool {
        guard let total else { return true }
        if writtenSinceWalk > max(total <= limit / 2 ? limit / 4 : limit / 8, 1) { return true }
        // When nothing that was found could be removed there is no use in looking again at once.
        return isStarved(limit) && (freedSinceWalk > 0 || writtenSinceWalk > limit / 64)
    }

    private func isStarved(_ limit: Int) -> Bool {
        guard let total else { return false }
        return total > limit && candidates.isEmpty
    }

    /// Takes what a step found; false when the walk is of no interest any more.
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

    /// How many bytes of the oldest entries are worth to be known, now that all have been found.
    func wantedCandidates(limit: Int) -> Int {
        guard let walk else { return 0 }
        let total = walk.found + walk.added
        let reserve = max(limit / 4, 1)
        return total > limit - reserve ? max(total - limit, 0) + reserve : 0
    }

    /// Ends a walk that has found everything.
    mutating func finish(_ oldest: EntryTable, walk id: Int) {
        guard isWalking(id), let walk else { return }
        // What was removed meanwhile may have been found before, or not; what was carried on tells, if it fits.
        let most = max(walk.found + walk.added, 0)
        total = min(max(total ?? most, most - walk.freed), most)
        candidates = oldest
        gone = walk.removed
        writtenSinceWalk = walk.written
        freedSinceWalk = 0
        self.walk = nil
    }

    /// Gives up a walk that failed; the next store begins another.
    mutating func abandon(walk id: Int) {
        if id == number { walk = nil }
    }
}
