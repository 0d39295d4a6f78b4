import CWebImageGTK4
import Glibc
import WebImage

/// Observes a `GApplication`. Attached to the application, and released with it.
@MainActor
final class ApplicationWatch {
    private let application: WeakObject
    private var sources: [guint] = []

    private static let quark = g_quark_from_static_string("webimage-application")
    /// The signals that GLib supports as sources.
    private static let possible: Set<Int32> = [SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2]

    static func install(on application: UnsafeMutableRawPointer, quitSignals: [Int32], exitSeconds: Double) {
        guard g_object_get_qdata(application.object, quark) == nil else { return }
        let watch = ApplicationWatch(application, quitSignals, exitSeconds)
        g_object_set_qdata_full(application.object, quark, Unmanaged.passRetained(watch).toOpaque()) { data in
            guard let data else { return }
            nonisolated(unsafe) let dataPointer = data
            MainActor.assumeIsolated { Unmanaged<ApplicationWatch>.fromOpaque(dataPointer).takeRetainedValue().end() }
        }
    }

    private init(_ application: UnsafeMutableRawPointer, _ quitSignals: [Int32], _ exitSeconds: Double) {
        self.application = WeakObject(application)
        Signal("shutdown", of: application) { WebImageLifecycle.willTerminate(within: exitSeconds) }
        for signal in Set(quitSignals).intersection(Self.possible) { sources.append(quit(on: signal)) }
        guard application.isA(gtk_application_get_type()) else { return }
        let pointer = application.assumingMemoryBound(to: GtkApplication.self)
        var window = gtk_application_get_windows(pointer)
        while let entry = window {
            if let data = entry.pointee.data { WindowWatches.shared.add(data) }
            window = entry.pointee.next
        }
        ObjectSignal("window-added", of: application) { WindowWatches.shared.add($0) }
        ObjectSignal("window-removed", of: application) { WindowWatches.shared.remove($0) }
    }

    private func quit(on signal: Int32) -> guint {
        g_unix_signal_add_full(
            G_PRIORITY_DEFAULT,
            signal,
            { data in
                guard let data else { return 0 }
                nonisolated(unsafe) let dataPointer = data
                MainActor.assumeIsolated {
                    let application = Unmanaged<WeakObject>.fromOpaque(dataPointer).takeUnretainedValue().pointer
                    if let application { g_application_quit(application.assumingMemoryBound(to: GApplication.self)) }
                }
                return 1
            },
            Unmanaged.passRetained(application).toOpaque(),
            { if let data = $0 { Unmanaged<WeakObject>.fromOpaque(data).release() } }
        )
    }

    private func end() {
        for source in sources { g_source_remove(source) }
        sources = []
    }
}
