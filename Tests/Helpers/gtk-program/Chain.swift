import CWebImageGTK4
import Dispatch
import Foundation
import Glibc
import TestSupport
import WebImage
import WebImageGTK

/// All ways to the main thread, of which each is scheduled when the previous one has run: nothing else wakes the loop.
@MainActor
final class Chain {
    /// Called at the end.
    var ended: () -> Void = { exit(0) }

    /// Call it before the library: blocks dispatched here have to run, too.
    func begin() {
        DispatchQueue.main.async {
            MainActor.assumeIsolated { self.beginTask() }
        }
    }

    private func beginTask() {
        Task {
            Self.requireMainThread()
            try await Task.sleep(for: .milliseconds(5))
            Self.requireMainThread()
            await Task.detached {}.value
            Self.requireMainThread()
            // While the loop sleeps.
            startThread { DispatchQueue.main.async { MainActor.assumeIsolated { self.ended() } } }
        }
    }

    private static func requireMainThread() {
        guard CallbackQueue.isMainThread else { exit(1) }
    }

    /// Consumes a loop's wake-up, without running the dispatched blocks.
    static func takeWakeUp() {
        typealias Handle = @convention(c) () -> Int32
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "_dispatch_get_main_queue_handle_4CF") else { exit(70) }
        // The number of wake-ups.
        var count: UInt64 = 0
        guard read(unsafeBitCast(symbol, to: Handle.self)(), &count, 8) == 8 else { exit(70) }
    }
}

/// The owner of the main loop.
@MainActor
enum Loop: String {
    case loop
    case woken
    case application
    case runLoop = "run-loop"

    /// Runs until the end of a chain, which is the end of the program.
    func run(until chain: Chain) {
        if self == .runLoop {
            _ = g_timeout_add(
                5,
                { _ in
                    _ = RunLoop.main.run(mode: .default, before: Date())
                    return 1
                },
                nil
            )
        }
        if self == .application { return Self.runApplication(chain) }
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    private static func runApplication(_ chain: Chain) {
        guard let application = gtk_application_new("test.webimage.Program", webimage_gtk_application_non_unique) else {
            exit(70)
        }
        let base = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        // It has no window that would keep it running.
        g_application_hold(base)
        Signal("activate", of: UnsafeMutableRawPointer(application)) {}
        chain.ended = { g_application_quit(base) }
        exit(g_application_run(base, 0, nil))
    }
}

/// The first call of the library in a program.
@MainActor
enum Entry: String {
    case picture, button, list, window, application, install

    func call() {
        switch self {
        case .picture: UnsafeMutableRawPointer(gtk_picture_new())?.setImage(with: nil)
        case .button: UnsafeMutableRawPointer(gtk_button_new())?.setImage(with: nil)
        case .list:
            guard let factory = gtk_signal_list_item_factory_new() else { exit(70) }
            ListImageLoader { _, _ in nil }.connect(to: factory) { _ in UnsafeMutableRawPointer(gtk_picture_new()) }
        case .window:
            guard let window = gtk_window_new() else { exit(70) }
            WebImageLifecycle.observeWindow(window)
        case .application:
            guard let application = g_application_new(nil, webimage_gtk_application_non_unique) else { exit(70) }
            WebImageLifecycle.connect(to: application)
        case .install:
            MainLoopIntegration.install()
            MainLoopIntegration.install()
        }
    }
}
