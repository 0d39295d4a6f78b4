/// Canvases as they were at frames other than the current one, so that drawing can go on from there. Pure; a canvas is whatever
/// `Canvas` is.
///
/// Some are *parked*: the canvas was there and has been taken elsewhere. It is taken back when the frame after it is wanted, by a
/// second player that is elsewhere in the animation, or by a variant of it. Those that were not wanted for longest go first. Others
/// are *marks*, copies left on the way to a frame, because who goes backwards wants those before it next. When there are too many,
/// those go first that have long been on nobody's way, then those that are the least work to draw again. Each kind has half of the
/// places, so that neither drives the other out.
struct CanvasShelf<Canvas> {
    private struct Item {
        var canvas: Canvas
        var lastUse: UInt64
    }

    /// The most canvases on the shelf.
    let capacity: Int
    private var parked: [Int: Item] = [:]
    private var marks: [Int: Item] = [:]
    private var useCount: UInt64 = 0
    /// Ways that were begun. For marks the time of the last use is told in these.
    private var wayCount: UInt64 = 0

    init(capacity: Int) { self.capacity = max(capacity, 0) }

    /// How many canvases of a size fit into so many bytes; never very many.
    static func capacity(canvasByteCount: Int, byteCount: Int) -> Int {
        canvasByteCount > 0 ? min(max(byteCount, 0) / canvasByteCount, 16) : 0
    }

    var count: Int { parked.count + marks.count }
    private var parkingCapacity: Int { capacity - capacity / 2 }
    private var markCapacity: Int { capacity / 2 }

    /// The canvas nearest to a frame, at it or before it but not before `beginning`.
    func nearest(to index: Int, from beginning: Int) -> (index: Int, isMark: Bool)? {
        let inRange = { (place: Int) in place >= beginning && place <= index }
        let mark = marks.keys.lazy.filter(inRange).max()
        let other = parked.keys.lazy.filter(inRange).max()
        guard let nearest = [mark, other].compactMap(\.self).max() else { return nil }
        // A parked one is not copied.
        return (nearest, nearest != other)
    }

    /// Takes a canvas off the shelf; a parked one if there are two of the same frame.
    mutating func take(_ index: Int) -> Canvas? {
        (parked.removeValue(forKey: index) ?? marks.removeValue(forKey: index))?.canvas
    }

    /// Looks at a canvas, which stays.
    func look(_ index: Int) -> Canvas? { (parked[index] ?? marks[index])?.canvas }

    /// Puts a canvas away. Its pixels must not be changed as long as it is here.
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
    /// - Returns: the frames at which marks are to be left, in order.
    mutating func beginWay(from start: Int, to target: Int) -> [Int] {
        guard markCapacity > 0 else { return [] }
        wayCount += 1
        for index in marks.keys where index <= start { marks[index]?.lastUse = wayCount }
        let free = markCapacity - marks.values.count { !isStale($0) }
        guard free <= 0 else { return Self.positions(from: start, to: target, count: free) }
        // Where all marks are in use, a few may still be worth more than the least of them.
        let gaps = gaps()
        let least = gaps.values.min() ?? 0
        var last = start
        return Self.positions(from: start, to: target, count: min(markCapacity, 2)).filter { index in
            defer { last = index }
            return index - last > least
        }
    }

    /// Leaves a mark on a way.
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

    /// For each mark the frames that have to be drawn from the one before it, were it not there.
    private func gaps() -> [Int: Int] {
        var last = -1
        var gaps: [Int: Int] = [:]
        for index in marks.keys.sorted() {
            gaps[index] = index - last
            last = index
        }
        return gaps
    }

    /// Where to leave `count` marks between two frames, so that going back from the second one to the first, frame by frame and each
    /// time from the nearest mark, takes the fewest steps. The marks that have been passed are free for smaller ways.
    ///
    /// With c marks and no frame drawn more than r times, a way has at most (c + r + 1 over r) frames, of which r / (c + r + 1) lie
    /// before the first mark. With as many marks as the way's length has binary digits that is about halving.
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
