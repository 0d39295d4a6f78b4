/// The decoded frames of one animation and the requests of its players. Pure logic; `Frame` can be any type.
///
/// The capacity is a number of bytes: the largest limit among the players that play, or among all if none plays. Within it, requested
/// frames stay, the most urgent first; the next frame of each player always stays. Of the other frames, the most recently used is
/// evicted first: in a loop it is the one needed again last.
struct AnimationFrameBuffer<Frame> {
    enum Lookup {
        case there(Frame)
        /// The frame cannot be decoded, or memory for it is short now.
        case failed
        case absent
    }

    private struct Player {
        /// The frames needed next, most urgent first; empty while paused.
        var wishes: [Int] = []
        /// True if the first of them is already due.
        var isWaiting = false
        var isPlaying = false
        /// The maximum bytes of frames that this player allows.
        var byteLimit = 0
    }

    private struct Entry {
        var frame: Frame
        var lastUse: UInt64
    }

    private var entries: [Int: Entry] = [:]
    private var failed: Set<Int> = []
    /// Frames skipped once because memory was short; they are tried again afterwards.
    private var passed: Set<Int> = []
    private var players: [UInt64: Player] = [:]
    /// The players in the order in which they joined, so that nothing depends on hashing.
    private var order: [UInt64] = []
    private var useCount: UInt64 = 0
    /// The bytes of the largest frame so far: the first one may be smaller than the others, being opaque.
    private var frameByteCount = 0

    /// The number of decoded frames.
    var count: Int { entries.count }
    /// True if any player plays.
    var isPlaying: Bool { players.values.contains(where: \.isPlaying) }

    /// The maximum number of frames besides the next one of each playing player. 1 until the size of a frame is known.
    var capacity: Int {
        let playing = players.values.lazy.filter(\.isPlaying).map(\.byteLimit).max()
        guard let limit = playing ?? players.values.lazy.map(\.byteLimit).max() else { return 0 }
        return frameByteCount > 0 ? max(limit / frameByteCount, 1) : 1
    }

    /// Returns whether a frame need not be waited for: it is decoded, or unobtainable.
    func contains(_ index: Int) -> Bool {
        entries[index] != nil || failed.contains(index) || passed.contains(index)
    }

    /// Looks up a frame to show it.
    mutating func use(_ index: Int) -> Lookup {
        guard var entry = entries[index] else {
            return passed.remove(index) != nil || failed.contains(index) ? .failed : .absent
        }
        useCount += 1
        entry.lastUse = useCount
        entries[index] = entry
        return .there(entry.frame)
    }

    /// Sets the frames that a playing player needs next, most urgent first, and the maximum bytes of frames that it allows.
    ///
    /// - Parameter isWaiting: True if the first of them is already due.
    /// - Returns: The evicted frames, to be released outside of locks. The other functions return the same.
    mutating func wish(_ player: UInt64, for indices: [Int], isWaiting: Bool, byteLimit: Int) -> [Frame] {
        if players[player] == nil { order.append(player) }
        players[player] = Player(wishes: indices, isWaiting: isWaiting, isPlaying: true, byteLimit: byteLimit)
        if !passed.isEmpty { passed.formIntersection(players.values.flatMap(\.wishes)) }
        return evict()
    }

    /// Marks a player as paused; it needs no frames.
    mutating func withdraw(_ player: UInt64) -> [Frame] {
        guard let byteLimit = players[player]?.byteLimit else { return [] }
        players[player] = Player(byteLimit: byteLimit)
        return evict()
    }

    /// Removes a player.
    mutating func forget(_ player: UInt64) -> [Frame] {
        guard players.removeValue(forKey: player) != nil else { return [] }
        order.removeAll { $0 == player }
        return evict()
    }

    /// Returns the frame to decode now and its priority; nil if all requested frames are decoded.
    func next() -> (index: Int, priority: LoadPriority)? { firstKept { !contains($0) } }

    /// Returns whether a frame is requested but missing.
    func lacks(_ index: Int) -> Bool { !contains(index) && firstKept { $0 == index } != nil }

    /// Inserts a decoded frame; nil marks it as undecodable.
    mutating func insert(_ frame: Frame?, at index: Int, byteCount: Int) -> [Frame] {
        guard let frame else {
            failed.insert(index)
            return []
        }
        useCount += 1
        passed.remove(index)
        frameByteCount = max(frameByteCount, byteCount)
        let former = entries.updateValue(Entry(frame: frame, lastUse: useCount), forKey: index)
        return evict() + [former?.frame].compactMap(\.self)
    }

    /// Skips a frame while memory is short.
    mutating func pass(_ index: Int) { passed.insert(index) }

    /// Removes all frames except those needed next, which could be recreated only by drawing everything before them. Frames that
    /// failed to decode are tried again.
    mutating func removeAll() -> [Frame] {
        (failed, passed) = ([], [])
        return removeUnneeded()
    }

    /// Removes all frames except those needed next, unless another player plays.
    mutating func dropUnneeded(by player: UInt64) -> [Frame] {
        players.contains { $0.key != player && $0.value.isPlaying } ? [] : removeUnneeded()
    }

    private mutating func removeUnneeded() -> [Frame] {
        let kept = kept()
        let dropped = entries.filter { !kept.contains($0.key) }
        for index in dropped.keys { entries[index] = nil }
        return dropped.values.map(\.frame)
    }

    private mutating func evict() -> [Frame] {
        let capacity = capacity
        guard entries.count > capacity else { return [] }
        let kept = kept()
        let candidates = entries.filter { !kept.contains($0.key) }.sorted { $0.value.lastUse > $1.value.lastUse }
        let dropped = candidates.prefix(entries.count - capacity)
        for (index, _) in dropped { entries[index] = nil }
        return dropped.map(\.value.frame)
    }

    /// The requested frames that fit the capacity.
    private func kept() -> Set<Int> {
        var result: Set<Int> = []
        _ = firstKept {
            result.insert($0)
            return false
        }
        return result
    }

    /// Visits the frames to keep, the most urgent ones of all players first, and returns the first one that satisfies the predicate.
    private func firstKept(_ isWanted: (Int) -> Bool) -> (index: Int, priority: LoadPriority)? {
        var seen: Set<Int> = []
        let capacity = capacity
        let most = players.values.lazy.map(\.wishes.count).max() ?? 0
        for rank in 0..<most {
            // Frames that are due come before frames that are only next.
            for isWaiting in [true, false] {
                for id in order {
                    guard let player = players[id], player.isWaiting == isWaiting, rank < player.wishes.count,
                        rank == 0 || seen.count < capacity, seen.insert(player.wishes[rank]).inserted,
                        isWanted(player.wishes[rank])
                    else { continue }
                    return (player.wishes[rank], Self.priority(rank: rank, isWaiting: isWaiting))
                }
            }
        }
        return nil
    }

    private static func priority(rank: Int, isWaiting: Bool) -> LoadPriority {
        switch isWaiting ? rank : rank + 1 {
        case 0: .high
        case 1: .normal
        default: .low
        }
    }
}
