/// Values that are remembered by key for as long as someone else holds them.
///
/// An object that was ever referred to weakly pays for it on every retain, so values only come in here when the cache is told
/// to. Boxes whose value is gone are removed a few at each insertion, so they never outnumber the living by much.
struct WeakTable<Value: AnyObject> {
    private struct Box {
        var key: MemoryCacheKey
        weak var value: Value?
        var cost: Int
    }

    private var boxes: [Box] = []
    private var positions: [MemoryCacheKey: Int] = [:]
    private var cursor = 0

    /// Boxes looked at per insertion; more than one, so that sweeping overtakes inserting.
    private static var sweep: Int { 4 }

    /// Boxes, those of dead values included.
    var count: Int { boxes.count }

    /// Remembers `value`. Whatever living values were looked at on the way are added to `seen`, for the caller to let go
    /// of when no lock is held: it might be the last to hold them.
    mutating func set(_ value: Value, cost: Int, for key: MemoryCacheKey, seen: inout [Value]) {
        if let position = positions[key] {
            boxes[position].value = value
            boxes[position].cost = cost
            return
        }
        for _ in 0..<Self.sweep where !boxes.isEmpty {
            if cursor >= boxes.count { cursor = 0 }
            if let alive = boxes[cursor].value {
                seen.append(alive)
                cursor += 1
            } else {
                remove(at: cursor)
            }
        }
        positions[key] = boxes.count
        boxes.append(Box(key: key, value: value, cost: cost))
    }

    func value(for key: MemoryCacheKey) -> (value: Value, cost: Int)? {
        guard let position = positions[key], let value = boxes[position].value else { return nil }
        return (value, boxes[position].cost)
    }

    mutating func remove(_ key: MemoryCacheKey) {
        if let position = positions[key] { remove(at: position) }
    }

    mutating func removeAll() { self = WeakTable() }

    private mutating func remove(at position: Int) {
        positions[boxes[position].key] = nil
        let last = boxes.removeLast()
        guard position < boxes.count else { return }
        boxes[position] = last
        positions[last.key] = position
    }
}
