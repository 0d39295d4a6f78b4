/// Where a list is scrolled to and which way it goes, and so which positions come next.
struct ListScroll {
    /// Whether it goes towards higher positions; true before it has moved.
    private(set) var isForward = true
    private var last: ClosedRange<Int>?

    /// Takes the positions that are on the screen now. Where they have not moved, the direction stays.
    mutating func move(to visible: ClosedRange<Int>) {
        defer { last = visible }
        guard let last else { return }
        // Rows come in at one end and go at the other, not always in the same frame.
        let distance = (visible.lowerBound - last.lowerBound) + (visible.upperBound - last.upperBound)
        if distance != 0 { isForward = distance > 0 }
    }

    /// The next positions in the direction of scrolling, the nearest first.
    ///
    /// - Parameters:
    ///   - visible: what is on the screen.
    ///   - excluded: positions that have cells, and so are loaded already.
    ///   - count: how many at most.
    ///   - end: the first position that there is not.
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
