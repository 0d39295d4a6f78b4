/// A cache of canvases at frames other than the current one, from which drawing can continue. Independent of pixels: `Canvas` can be any type.
///
/// Some canvases are *parked*: the current canvas when drawing moved elsewhere. A parked canvas is taken back when the frame after it is requested,
/// by a second player at another position of the animation or by a variant of it. The least recently used is evicted first. Others are *marks*:
/// keyframes copied on the way to a frame, because a player that steps backwards needs the frames before it next. Of too many marks, those that have
/// not been on a way for long are evicted first, then those that are the cheapest to redraw. Each kind has half of the capacity, so neither evicts
/// the other.
struct KeyframeCache<Canvas> {
    private struct Item {
        var canvas: Canvas
        var lastUse: UInt64
    }

    /// The maximum number of cached canvases.
    let capacity: Int
    private var parked: [Int: Item] = [:]
    private var marks: [Int: Item] = [:]
    private var useCount: UInt64 = 0
    /// The number of ways begun. A mark's last use is a value of this counter.
    private var wayCount: UInt64 = 0

    init(capacity: Int) { self.capacity = max(capacity, 0) }

    /// Returns how many canvases of a size fit into so many bytes, at most 16.
    static func capacity(canvasByteCount: Int, byteCount: Int) -> Int {
        canvasByteCount > 0 ? min(max(byteCount, 0) / canvasByteCount, 16) : 0
    }

    var count: Int { parked.count + marks.count }
    private var parkingCapacity: Int { capacity - capacity / 2 }
    private var markCapacity: Int { capacity / 2 }

    /// Returns the canvas nearest to a frame, at it or before it but not before `beginning`.
    func nearest(to index: Int, from beginning: Int) -> (index: Int, isMark: Bool)? {
        let inRange = { (place: Int) in place >= beginning && place <= index }
        let mark = marks.keys.lazy.filter(inRange).max()
        let other = parked.keys.lazy.filter(inRange).max()
        guard let nearest = [mark, other].compactMap(\.self).max() else { return nil }
        // A parked canvas is preferred: it is not copied.
        return (nearest, nearest != other)
    }

    /// Removes and returns a canvas; the parked one if there are two of the same frame.
    mutating func take(_ index: Int) -> Canvas? {
        (parked.removeValue(forKey: index) ?? marks.removeValue(forKey: index))?.canvas
    }

    /// Returns a canvas, which stays in the cache.
    func look(_ index: Int) -> Canvas? { (parked[index] ?? marks[index])?.canvas }

    /// Parks a canvas. Its pixels must not be changed while it is cached.
    mutating func park(_ canvas: Canvas, at index: Int) {
        guard capacity > 0 else { return }
        useCount += 1
        parked[index] = Item(canvas: canvas, lastUse: useCount)
        while parked.count > parkingCapacity, let oldest = parked.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            parked[oldest.key] = nil
        }
    }

    /// Begins a way from one frame to a later one.
    ///
    /// - Returns: the frames at which to leave marks, in order.
    mutating func beginWay(from start: Int, to target: Int) -> [Int] {
        guard markCapacity > 0 else { return [] }
        wayCount += 1
        for index in marks.keys where index <= start { marks[index]?.lastUse = wayCount }
        let free = markCapacity - marks.values.count { !isStale($0) }
        guard free <= 0 else { return Self.positions(from: start, to: target, count: free) }
        // If all marks are in use, a few new ones may still save more work than the cheapest of them.
        let gaps = gaps()
        let least = gaps.values.min() ?? 0
        var last = start
        return Self.positions(from: start, to: target, count: min(markCapacity, 2)).filter { index in
            defer { last = index }
            return index - last > least
        }
    }

    /// Adds a mark.
    mutating func leave(_ canvas: Canvas, at index: Int) {
        guard markCapacity > 0 else { return }
        marks[index] = Item(canvas: canvas, lastUse: wayCount)
        while marks.count > markCapacity {
            let oldest = marks.min { $0.value.lastUse < $1.value.lastUse }
            let least = gaps().min { ($0.value, $0.key) < ($1.value, $1.key) }
            guard let dropped = oldest.flatMap({ isStale($0.value) ? $0.key : nil }) ?? least?.key else { return }
            marks[dropped] = nil
        }
    }

    private func isStale(_ mark: Item) -> Bool { mark.lastUse + 32 < wayCount }

    /// Returns the cost of each mark: the frames to draw from the mark before it if it was missing.
    private func gaps() -> [Int: Int] {
        var last = -1
        var gaps: [Int: Int] = [:]
        for index in marks.keys.sorted() {
            gaps[index] = index - last
            last = index
        }
        return gaps
    }

    /// Returns where to leave `count` marks between two frames, so that stepping back from the second to the first, each time from the nearest mark,
    /// draws the fewest frames. Marks that have been passed are reused for shorter ways.
    ///
    /// With c marks and no frame drawn more than r times, a way has at most (c + r + 1 over r) frames, of which r / (c + r + 1) lie before the first
    /// mark. With as many marks as the way's length has binary digits, this is about halving.
    static func positions(from start: Int, to target: Int, count: Int) -> [Int] {
        var result: [Int] = []
        var begin = start
        for marksLeft in stride(from: count, to: 0, by: -1) {
            let length = target - begin
            guard length > 1 else { break }
            var rounds = 0
            var reach = 1.0
            while reach < Double(length) {
                rounds += 1
                reach *= Double(marksLeft + 1 + rounds) / Double(rounds)
            }
            let step = Int((Double(length * rounds) / Double(marksLeft + rounds + 1)).rounded())
            begin += min(max(step, 1), length - 1)
            result.append(begin)
        }
        return result
    }
}
