/// The decoded frames of one animation, and what its players wish for. Pure; frames are whatever `Frame` is.
///
/// How many may be here is said in bytes, by the most generous of those who play, or of all players when none plays. Within that, what
/// players wish for stays, the most urgent first, and the next frame of each stays in any case. Of the rest the frame that was used
/// last goes first when there are too many: in an animation that runs in circles it is the one that is needed again last.
struct AnimationFrameBuffer<Frame> {
    enum Lookup {
        case there(Frame)
        /// It cannot be decoded, or there is no room for it now.
        case failed
        case absent
    }

    private struct Player {
        /// What it needs next, most urgent first; empty for one that does not play.
        var wishes: [Int] = []
        /// Whether the first of them should be seen already.
        var isWaiting = false
        var isPlaying = false
        /// The most bytes of frames that it allows.
        var byteLimit = 0
    }

    private struct Entry {
        var frame: Frame
        var lastUse: UInt64
    }

    private var entries: [Int: Entry] = [:]
    private var failed: Set<Int> = []
    /// Those for which there was no room: passed over once, and then tried again.
    private var passed: Set<Int> = []
    private var players: [UInt64: Player] = [:]
    /// In the order in which they came, so that nothing depends on hashes.
    private var order: [UInt64] = []
    private var useCount: UInt64 = 0
    /// The bytes of the biggest frame so far: the first one may be smaller than the others, being opaque.
    private var frameByteCount = 0

    /// Frames that are there.
    var count: Int { entries.count }
    /// Whether anyone plays.
    var isPlaying: Bool { players.values.contains(where: \.isPlaying) }

    /// The most frames that may be there beside the next one of each who plays. 1 until the size of a frame is known.
    var capacity: Int {
        let playing = players.values.lazy.filter(\.isPlaying).map(\.byteLimit).max()
        guard let limit = playing ?? players.values.lazy.map(\.byteLimit).max() else { return 0 }
        return frameByteCount > 0 ? max(limit / frameByteCount, 1) : 1
    }

    /// Whether nobody has to wait for a frame: it is there, or cannot be had.
    func contains(_ index: Int) -> Bool {
        entries[index] != nil || failed.contains(index) || passed.contains(index)
    }

    /// Looks a frame up for being shown.
    mutating func use(_ index: Int) -> Lookup {
        guard var entry = entries[index] else {
            return passed.remove(index) != nil || failed.contains(index) ? .failed : .absent
        }
        useCount += 1
        entry.lastUse = useCount
        entries[index] = entry
        return .there(entry.frame)
    }

    /// Says what a player that plays needs next, most urgent first, and how many bytes of frames it allows to be there.
    ///
    /// - Parameter isWaiting: the first of them should be seen already.
    /// - Returns: the frames that gave way, to be let go of outside of locks; so do the other functions.
    mutating func wish(_ player: UInt64, for indices: [Int], isWaiting: Bool, byteLimit: Int) -> [Frame] {
        if players[player] == nil { order.append(player) }
        players[player] = Player(wishes: indices, isWaiting: isWaiting, isPlaying: true, byteLimit: byteLimit)
        if !passed.isEmpty { passed.formIntersection(players.values.flatMap(\.wishes)) }
        return evict()
    }

    /// A player does not play now, and needs nothing.
    mutating func withdraw(_ player: UInt64) -> [Frame] {
        guard let byteLimit = players[player]?.byteLimit else { return [] }
        players[player] = Player(byteLimit: byteLimit)
        return evict()
    }

    /// A player has gone.
    mutating func forget(_ player: UInt64) -> [Frame] {
        guard players.removeValue(forKey: player) != nil else { return [] }
        order.removeAll { $0 == player }
        return evict()
    }

    /// The frame to decode now, and how urgent that is; nil when all are there that should be.
    func next() -> (index: Int, priority: LoadPriority)? { firstKept { !contains($0) } }

    /// Whether a frame should be here and is not.
    func lacks(_ index: Int) -> Bool { !contains(index) && firstKept { $0 == index } != nil }

    /// Takes a frame that was decoded; nil for one that cannot be.
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

    /// There is no room to decode a frame now.
    mutating func pass(_ index: Int) { passed.insert(index) }

    /// Drops all frames but those that players need next, which could be had again only by drawing what comes before them. Those that
    /// could not be decoded are tried again.
    mutating func removeAll() -> [Frame] {
        (failed, passed) = ([], [])
        return removeUnneeded()
    }

    /// Drops all frames but those that a player needs next, if it is the only one that plays, or nobody does.
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

    /// The frames that shall be here for those who play.
    private func kept() -> Set<Int> {
        var result: Set<Int> = []
        _ = firstKept {
            result.insert($0)
            return false
        }
        return result
    }

    /// Goes over the frames that shall be here, the most urgent ones of all players before the others, until one is what is looked for.
    private func firstKept(_ isWanted: (Int) -> Bool) -> (index: Int, priority: LoadPriority)? {
        var seen: Set<Int> = []
        let capacity = capacity
        let most = players.values.lazy.map(\.wishes.count).max() ?? 0
        for rank in 0..<most {
            // What is awaited comes before what is only next.
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
