/// Weakly referenced values by key.
///
/// An object that was ever weakly referenced has slower retains, so values are added only if the weak level is enabled. Each
/// insertion removes a few boxes of deallocated values, so they never outnumber the living by much.
struct WeakTable<Value: AnyObject> {
    private struct Box {
        var key: MemoryCacheKey
        weak var value: Value?
        var cost: Int
    }

    private var boxes: [Box] = []
    private var positions: [MemoryCacheKey: Int] = [:]
    private var cursor = 0

    /// The number of boxes examined per insertion; more than one, so that sweeping overtakes insertion.
    private static var sweep: Int { 4 }

    /// The number of boxes, including those of deallocated values.
    var count: Int { boxes.count }

    /// Adds `value`. Living values that were examined are appended to `seen`, so that the caller can release them when no lock is
    /// held: it might hold the last reference.
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
