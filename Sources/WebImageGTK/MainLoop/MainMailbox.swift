import CWebImageGTK4
import WebImage

/// Brings what other threads have for widgets to the main loop: in order, below the priority at which GTK draws, and for no more than
/// some milliseconds at a time, so that frames come on time however much arrives.
///
/// Where frames take longer than there is between two, GTK begins the next at once, and nothing that is less urgent would ever have its
/// turn; so what has waited long comes before the next frame.
///
/// An item may run a loop of its own, which brings what waits behind it.
///
/// Works whether or not ``MainLoopIntegration`` is installed. Posting takes a lock and seldom a wake-up of the loop.
final class MainMailbox: Sendable {
    typealias Item = @MainActor () -> Void

    static let shared = MainMailbox()

    /// Just below `GDK_PRIORITY_REDRAW`.
    static let priority = Int32(G_PRIORITY_HIGH_IDLE + 25)
    /// Most microseconds of items in one turn of the loop; one item may take longer.
    static let budget = 4_000
    /// Milliseconds without a turn after which items come before drawing, and from one such turn to the next.
    private static let patience: UInt32 = 100
    private static let pause: UInt32 = 16

    private struct State {
        /// Those that have been taken are nil.
        var items: [Item?] = []
        var first = 0
    }

    private let state = Lock(State())
    /// Rings as long as something waits.
    private let bell: LoopBell
    /// Rings when that had no turn for long.
    private let lateBell: LoopBell

    // Filled in before they are shared, never written after.
    private nonisolated(unsafe) static let functions = calls { _, _, _ in
        MainActor.assumeIsolated { MainMailbox.shared.drain(isLate: false) }
        return 1
    }
    private nonisolated(unsafe) static let lateFunctions = calls { _, _, _ in
        MainActor.assumeIsolated { MainMailbox.shared.drain(isLate: true) }
        return 1
    }

    private static func calls(
        _ dispatch: @escaping @convention(c) (UnsafeMutablePointer<GSource>?, GSourceFunc?, gpointer?) -> gboolean
    ) -> UnsafeMutablePointer<GSourceFuncs> {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        functions.initialize(to: GSourceFuncs())
        functions.pointee.dispatch = dispatch
        return functions
    }

    private init() {
        bell = LoopBell("WebImage: deliveries", priority: Self.priority, isTimed: false, calls: Self.functions)
        lateBell = LoopBell(
            "WebImage: late deliveries",
            // As urgent as events.
            priority: Int32(G_PRIORITY_DEFAULT),
            isTimed: true,
            calls: Self.lateFunctions
        )
        bell.attach()
        lateBell.attach()
    }

    /// Has something done on the main thread. Any thread.
    func post(_ item: @escaping Item) {
        let isFirst = state.withLock { state in
            state.items.append(item)
            return state.items.count - state.first == 1
        }
        if isFirst { ring() }
    }

    @MainActor
    private func drain(isLate: Bool) {
        let end = g_get_monotonic_time() + gint64(Self.budget)
        while let item = next() {
            item()
            if g_get_monotonic_time() >= end { break }
        }
        guard isEmpty else { return lateBell.ring(after: isLate ? Self.pause : Self.patience) }
        bell.silence()
        lateBell.silence()
        // What was posted since has rung, and was silenced with the rest.
        if !isEmpty { ring() }
    }

    private func ring() {
        bell.ring()
        lateBell.ring(after: Self.patience)
    }

    private var isEmpty: Bool { state.withLock { $0.first == $0.items.count } }

    private func next() -> Item? {
        state.withLock { state in
            guard state.first < state.items.count else { return nil }
            let item = state.items[state.first].take()
            state.first += 1
            // Each is moved once on the average.
            if state.first * 2 >= state.items.count {
                state.items.removeFirst(state.first)
                state.first = 0
            }
            return item
        }
    }
}
