/// The scroll position and direction of a list, which determine the positions to prefetch.
struct ListScroll {
    /// True if scrolling goes towards higher positions; true before the first movement.
    private(set) var isForward = true
    private var last: ClosedRange<Int>?

    /// Records the positions that are on the screen now. The direction stays if they have not moved.
    mutating func move(to visible: ClosedRange<Int>) {
        defer { last = visible }
        guard let last else { return }
        // Rows appear at one end and disappear at the other, not always in the same frame.
        let distance = (visible.lowerBound - last.lowerBound) + (visible.upperBound - last.upperBound)
        if distance != 0 { isForward = distance > 0 }
    }

    /// Returns the next positions in the scroll direction, nearest first.
    ///
    /// - Parameters:
    ///   - visible: the positions on the screen.
    ///   - excluded: the positions of bound cells, which are loaded already.
    ///   - count: the maximum number of positions.
    ///   - end: the number of items.
    func positions(beyond visible: ClosedRange<Int>, excluding excluded: Set<Int>, count: Int, end: Int) -> [Int] {
        var found: [Int] = []
        var position = isForward ? visible.upperBound + 1 : visible.lowerBound - 1
        while found.count < count, position >= 0, position < end {
            if !excluded.contains(position) { found.append(position) }
            position += isForward ? 1 : -1
        }
        return found
    }
}
