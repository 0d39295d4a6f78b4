import CWebImageGTK4
import WebImage

/// Delivers work from other threads to widgets on the main loop: in order, at a priority below GTK's drawing, and for at most a few
/// milliseconds at a time. This throttling keeps frames on time regardless of how much arrives.
///
/// If a frame takes longer than the frame interval, GTK starts the next one at once, and sources of lower priority would starve. Items that
/// have waited for long are therefore delivered before the next frame.
///
/// An item may run a nested loop, which delivers the items behind it.
///
/// Works whether or not ``MainLoopIntegration`` is installed. Posting takes a lock and only rarely wakes the loop.
final class MainLoopQueue: Sendable {
    typealias Item = @MainActor () -> Void

    static let shared = MainLoopQueue()

    /// Just below `GDK_PRIORITY_REDRAW`.
    static let priority = Int32(G_PRIORITY_HIGH_IDLE + 25)
    /// The time budget per loop iteration in microseconds; a single item may exceed it.
    static let budget = 4_000
    /// Milliseconds without delivery before items take precedence over drawing, and between two such deliveries.
    private static let patience: UInt32 = 100
    private static let pause: UInt32 = 16

    private struct State {
        /// Delivered items are nil.
        var items: [Item?] = []
        var first = 0
    }

    private let state = Lock(State())
    /// Wakes the loop while items wait.
    private let bell: MainLoopWakeup
    /// Wakes the loop at a higher priority when items have waited for long.
    private let lateBell: MainLoopWakeup

    // Initialized before they are shared, never modified.
    private nonisolated(unsafe) static let functions = calls { _, _, _ in
        MainActor.assumeIsolated { MainLoopQueue.shared.drain(isLate: false) }
        return 1
    }
    private nonisolated(unsafe) static let lateFunctions = calls { _, _, _ in
        MainActor.assumeIsolated { MainLoopQueue.shared.drain(isLate: true) }
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
        bell = MainLoopWakeup("WebImage: deliveries", priority: Self.priority, isTimed: false, calls: Self.functions)
        lateBell = MainLoopWakeup(
            "WebImage: late deliveries",
            // The priority of input events.
            priority: Int32(G_PRIORITY_DEFAULT),
            isTimed: true,
            calls: Self.lateFunctions
        )
        bell.attach()
        lateBell.attach()
    }

    /// Queues an item for the main thread. Any thread.
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
        // An item posted in between rang the bell, which was then silenced.
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
            // Amortized, each item is moved once.
            if state.first * 2 >= state.items.count {
                state.items.removeFirst(state.first)
                state.first = 0
            }
            return item
        }
    }
}
