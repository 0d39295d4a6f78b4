/// The decoded frames of one animation, and what its players wish for. Pure; frames are whatever `Frame` is.
///
/// What is wished for stays. Of the rest the frame that was used last goes first when there are too many: in an animation that
/// runs in circles it is the one that is needed again last.
struct AnimationFrameBuffer<Frame> {
    enum Lookup {
        case there(Frame)
        /// It cannot be decoded.
        case failed
        case absent
    }

    private struct Wish {
        var indices: [Int]
        var capacity: Int
    }

    private struct Entry {
        var frame: Frame
        var lastUse: UInt64
    }

    private var entries: [Int: Entry] = [:]
    private var failed: Set<Int> = []
    private var wishes: [UInt64: Wish] = [:]
    private var useCount: UInt64 = 0

    /// Frames that are there.
    var count: Int { entries.count }
    /// The most frames that may be there: what the most generous player allows.
    var capacity: Int { wishes.values.map(\.capacity).max() ?? 0 }

    func contains(_ index: Int) -> Bool { entries[index] != nil || failed.contains(index) }

    /// Looks a frame up for being shown.
    mutating func use(_ index: Int) -> Lookup {
        guard var entry = entries[index] else { return failed.contains(index) ? .failed : .absent }
        useCount += 1
        entry.lastUse = useCount
        entries[index] = entry
        return .there(entry.frame)
    }

    /// Says what a player needs next, most urgent first, and how many frames it allows to be there.
    mutating func wish(_ player: UInt64, for indices: [Int], capacity: Int) -> [Frame] {
        wishes[player] = Wish(indices: indices, capacity: max(capacity, 1))
        return evict()
    }

    /// A player has gone.
    mutating func forget(_ player: UInt64) -> [Frame] {
        wishes[player] = nil
        return evict()
    }

    /// The frame to decode now: the first that some player lacks, the most urgent ones of all before the others.
    func next() -> Int? {
        let longest = wishes.values.map(\.indices.count).max() ?? 0
        for rank in 0..<longest {
            // In the order in which players came, so that it does not depend on hashes.
            for player in wishes.keys.sorted() {
                guard let wish = wishes[player], rank < wish.indices.count, !contains(wish.indices[rank]) else {
                    continue
                }
                return wish.indices[rank]
            }
        }
        return nil
    }

    /// Takes a frame that was decoded; nil for one that cannot be.
    ///
    /// - Returns: the frames that gave way, to be let go of outside of locks.
    mutating func insert(_ frame: Frame?, at index: Int) -> [Frame] {
        guard let frame else {
            failed.insert(index)
            return []
        }
        useCount += 1
        entries[index] = Entry(frame: frame, lastUse: useCount)
        return evict()
    }

    /// Drops all frames; those that are wished for are decoded again.
    mutating func removeAll() -> [Frame] {
        defer { entries = [:] }
        failed = []
        return entries.values.map(\.frame)
    }

    private mutating func evict() -> [Frame] {
        guard entries.count > capacity else { return [] }
        let wished = Set(wishes.values.flatMap(\.indices))
        let candidates = entries.filter { !wished.contains($0.key) }.sorted { $0.value.lastUse > $1.value.lastUse }
        let dropped = candidates.prefix(entries.count - capacity)
        for (index, _) in dropped { entries[index] = nil }
        return dropped.map(\.value.frame)
    }
}
