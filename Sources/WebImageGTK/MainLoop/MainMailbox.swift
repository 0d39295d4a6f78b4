import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// Brings what other threads have for widgets to the main loop: in order, below the priority at which GTK draws, and for no more than
/// some milliseconds at a time, so that frames come on time however much arrives.
///
/// Works whether or not ``MainLoopIntegration`` is installed. Posting takes a lock and seldom a wake-up of the loop.
final class MainMailbox: Sendable {
    typealias Item = @MainActor () -> Void

    static let shared = MainMailbox()

    /// Just below `GDK_PRIORITY_REDRAW`.
    static let priority = Int32(G_PRIORITY_HIGH_IDLE + 25)
    /// Most microseconds of items in one turn of the loop; one item may take longer.
    static let budget = 4_000

    private struct State {
        /// Those that have been taken are nil.
        var items: [Item?] = []
        var first = 0
    }

    private let state = Lock(State())
    /// Readable when something waits; -1 when there was no file descriptor left. GLib's own ways to wake the loop hold the loop's lock
    /// meanwhile, so that the main thread wakes only to wait for it.
    private let wakeup: Int32
    // Never freed, and GLib's functions on it lock.
    private nonisolated(unsafe) let source: UnsafeMutablePointer<GSource>

    // Filled in before it is shared, never written after.
    private nonisolated(unsafe) static let functions: UnsafeMutablePointer<GSourceFuncs> = {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        functions.initialize(to: GSourceFuncs())
        functions.pointee.dispatch = { _, _, _ in
            MainActor.assumeIsolated { MainMailbox.shared.drain() }
            return 1
        }
        return functions
    }()

    private init() {
        source = g_source_new(Self.functions, guint(MemoryLayout<GSource>.size))
        g_source_set_priority(source, Self.priority)
        // Copied: what a string of Swift's is at lies there during the call alone.
        g_source_set_name(source, "WebImage: deliveries")
        wakeup = webimage_gtk_wakeup_new()
        if wakeup >= 0 { g_source_add_unix_fd(source, wakeup, G_IO_IN) }
        g_source_attach(source, nil)
    }

    /// Has something done on the main thread. Any thread.
    func post(_ item: @escaping Item) {
        let isFirst = state.withLock { state in
            state.items.append(item)
            return state.items.count - state.first == 1
        }
        if isFirst { wake() }
    }

    @MainActor
    private func drain() {
        if wakeup >= 0 { webimage_gtk_wakeup_clear(wakeup) } else { g_source_set_ready_time(source, -1) }
        let end = g_get_monotonic_time() + gint64(Self.budget)
        while let item = next() {
            item()
            if g_get_monotonic_time() >= end { break }
        }
        if state.withLock({ $0.first < $0.items.count }) { wake() }
    }

    private func wake() {
        if wakeup >= 0 { webimage_gtk_wakeup_signal(wakeup) } else { g_source_set_ready_time(source, 0) }
    }

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
