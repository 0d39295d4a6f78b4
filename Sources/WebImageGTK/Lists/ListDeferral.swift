/// The rule by which loads of cells off the screen wait for the visible images.
///
/// While a list is scrolled, it binds a few cells per frame, which load at once. When it binds a hundred of them, for the first frame or after
/// a jump, to start all those loads would delay the visible images.
@MainActor
struct ListDeferral {
    /// The number of loads that begin together.
    static let batchCount = 24
    /// The maximum number of seconds for which loads wait while visible images are loading.
    var limit = 0.25
    /// True if loads wait.
    private(set) var isWaiting = false
    /// The number of cells that may still load at once. Before the first frame it is not known which of them will be visible, but lists
    /// bind these first.
    private var immediateCount = Self.batchCount
    private var timer: MainTimer?
    /// True once the limit is over; then loads begin without regard to visible ones.
    private var isOverdue: Bool { timer?.isOver ?? false }

    /// Returns whether the load of a cell off the screen begins at once.
    mutating func takesImmediate() -> Bool {
        guard immediateCount > 0 else {
            isWaiting = true
            return false
        }
        immediateCount -= 1
        return true
    }

    /// Returns whether the loads that wait may begin now.
    ///
    /// - Parameters:
    ///   - isBlocked: true while visible images are loading, and while nothing is visible.
    ///   - again: called when the limit is over.
    mutating func mayBegin(
        isBlocked: Bool,
        waitingCount: Int,
        visibleCount: Int,
        _ again: @escaping @MainActor () -> Void
    ) -> Bool {
        immediateCount = max(visibleCount, Self.batchCount)
        isWaiting = waitingCount > 0
        guard isWaiting else {
            timer = nil
            return false
        }
        if !isBlocked || isOverdue { return true }
        // The window of a list that is hidden may be on its way to the screen.
        if timer == nil { timer = MainTimer(after: visibleCount > 0 ? limit : 4 * limit, again) }
        return false
    }
}
