import CGTKTestSupport
import CWebImageGTK4

/// Counts warnings and criticals of GLib, GObject and GTK.
@MainActor
enum Criticals {
    private static let domains = ["GLib", "GLib-GObject", "Gtk", "Gdk"]
    private nonisolated(unsafe) static var count = 0

    /// Returns the number of warnings that a closure causes.
    static func count(_ body: () async throws -> Void) async rethrows -> Int {
        count = 0
        let levels = GLogLevelFlags(rawValue: cgtktest_complaint_levels())
        let handlers = domains.map { domain in
            (domain, g_log_set_handler(domain, levels, { _, _, _, _ in Criticals.count += 1 }, nil))
        }
        defer { for (domain, handler) in handlers { g_log_remove_handler(domain, handler) } }
        try await body()
        return count
    }
}
