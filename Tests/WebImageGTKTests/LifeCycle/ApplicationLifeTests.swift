import CGTKTestSupport
import CWebImageGTK4
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import WebImageHTTP

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ApplicationLifeTests {
    private let directory = TemporaryDirectory()

    init() throws { try Display.open() }

    private func cache(_ configure: (inout ImageCacheConfig) -> Void = { _ in }) -> ImageCache {
        var config = ImageCacheConfig()
        configure(&config)
        return ImageCache(directory: directory.path("cache"), config: config)
    }

    private func image() throws -> Image {
        try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
    }

    @Test func `An application ended by SIGTERM during loads has written its stores, and trimmed`() throws {
        // The process has only one end.
        let run = try ProgramRun(ProgramRun.product("gtk-program"), ["terminated", directory.path])
        #expect(run.status == 0)
        #expect(
            run.lines == ["status 0", "stored 1, left 0", "loads []", "loads [\"cancelled\"]"],
            "\(run.output) \(run.errors)"
        )
    }

    @Test func `An application whose cache hangs ends nevertheless, after its time limit`() throws {
        let run = try ProgramRun(ProgramRun.product("gtk-program"), ["quit-stuck"])
        #expect(run.status == 0 && run.lines == ["quits", "has ended"], "\(run.status) \(run.errors)")
    }

    @Test func `A warning of the system's memory monitor empties caches`() throws {
        let application = try #require(g_application_new("test.webimage.Memory", webimage_gtk_application_non_unique))
        WebImageLifecycle.connect(to: application)
        defer { g_object_unref(application) }
        let cache = cache()
        cache.storeToMemory(try image(), forKey: "k")
        let monitor = try #require(MemoryWarnings.monitor)
        var values = [GValue(), GValue()]
        g_value_init(&values[0], g_memory_monitor_get_type())
        g_value_set_object(&values[0], monitor.pointer)
        g_value_init(&values[1], g_memory_monitor_warning_level_get_type())
        g_value_set_enum(&values[1], gint(G_MEMORY_MONITOR_WARNING_LEVEL_LOW.rawValue))
        g_signal_emitv(&values, g_signal_lookup("low-memory-warning", g_memory_monitor_get_type()), 0, nil)
        for index in values.indices { g_value_unset(&values[index]) }
        #expect(cache.memoryImage(forKey: "k") == nil)
    }

    @Test func `The caches shrink when the last window is hidden, and not before`() async throws {
        let watches = Watches()
        let windows = try await [makeWindow(), makeWindow()]
        for window in windows { watches.list.add(UnsafeMutableRawPointer(window.window)) }
        for _ in 0..<3 { await MainLoopTurns.one() }
        gtk_widget_set_visible(windows[0].window, 0)
        for _ in 0..<3 { await MainLoopTurns.one() }
        #expect(watches.count == 0)
        gtk_widget_set_visible(windows[1].window, 0)
        #expect(await MainLoopTurns.wait { watches.count == 1 })
        gtk_widget_set_visible(windows[1].window, 1)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(windows[1].window) != 0 })
        for _ in 0..<3 { await MainLoopTurns.one() }
        gtk_widget_set_visible(windows[1].window, 0)
        #expect(await MainLoopTurns.wait { watches.count == 2 }, "each time again")
        for window in windows { window.close() }
        #expect(watches.list.count == 0)
    }

    @Test func `The caches shrink when the only window is minimized`() async throws {
        let watches = Watches()
        let window = try await makeWindow()
        watches.list.add(UnsafeMutableRawPointer(window.window))
        watches.list.add(UnsafeMutableRawPointer(window.window))
        for _ in 0..<3 { await MainLoopTurns.one() }
        let manager = try WindowManager(of: window)
        manager.setHidden(true)
        #expect(await MainLoopTurns.wait(seconds: 5) { watches.count == 1 })
        manager.setHidden(false)
        for _ in 0..<10 { await MainLoopTurns.one() }
        manager.setHidden(true)
        #expect(await MainLoopTurns.wait(seconds: 5) { watches.count == 2 })
        window.close()
        #expect(watches.list.count == 0)
    }

    @Test func `A window with a new surface is still noticed when it is minimized`() async throws {
        let watches = Watches()
        let window = try await makeWindow()
        watches.list.add(UnsafeMutableRawPointer(window.window))
        gtk_widget_set_visible(window.window, 0)
        gtk_widget_unrealize(window.window)
        gtk_widget_set_visible(window.window, 1)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(window.window) != 0 })
        for _ in 0..<3 { await MainLoopTurns.one() }
        #expect(watches.count == 0)
        try WindowManager(of: window).setHidden(true)
        #expect(await MainLoopTurns.wait(seconds: 5) { watches.count == 1 })
        window.close()
        #expect(watches.list.count == 0)
    }

    @Test func `The caches shrink when the only window is suspended`() async throws {
        let watches = Watches()
        let pointer = try #require(cgtktest_suspendable_window_new())
        let window = pointer.assumingMemoryBound(to: GtkWindow.self)
        watches.list.add(pointer)
        gtk_window_present(window)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(pointer.widget) != 0 })
        for _ in 0..<3 { await MainLoopTurns.one() }
        cgtktest_suspend_window(pointer, true)
        #expect(await MainLoopTurns.wait { watches.count == 1 })
        cgtktest_suspend_window(pointer, false)
        for _ in 0..<3 { await MainLoopTurns.one() }
        cgtktest_suspend_window(pointer, true)
        #expect(await MainLoopTurns.wait { watches.count == 2 }, "each time again")
        gtk_window_destroy(window)
        #expect(watches.list.count == 0)
    }

    @Test func `An observed window notifies the caches of the program`() async throws {
        let cache = cache { config in
            config.maxMemoryCost = 1 << 20
            config.backgroundMemoryShare = 0
        }
        let window = try await makeWindow()
        WebImageLifecycle.observeWindow(window.window)
        for _ in 0..<3 { await MainLoopTurns.one() }
        cache.storeToMemory(try image(), forKey: "k")
        gtk_widget_set_visible(window.window, 0)
        #expect(await MainLoopTurns.wait { cache.memoryImage(forKey: "k") == nil })
        window.close()
    }

    private func makeWindow() async throws -> TestWindow {
        try await TestWindow(UnsafeMutableRawPointer(try #require(gtk_label_new("text"))))
    }

    @MainActor
    private final class Watches {
        private(set) var count = 0
        private(set) lazy var list = WindowWatches { [unowned self] in count += 1 }
    }
}

/// Does what a window manager does when a window is minimized: sets a property of the window.
@MainActor
private struct WindowManager {
    private let display: OpaquePointer
    private let window: UInt
    private let library: UnsafeMutableRawPointer

    init(of shown: TestWindow) throws {
        library = try #require(dlopen(nil, RTLD_NOW))
        let surface = try #require(gtk_native_get_surface(OpaquePointer(shown.window)))
        let getWindow = try Self.function(
            "gdk_x11_surface_get_xid",
            library,
            as: (@convention(c) (OpaquePointer) -> UInt).self
        )
        let getDisplay = try Self.function(
            "gdk_x11_display_get_xdisplay",
            library,
            as: (@convention(c) (OpaquePointer) -> OpaquePointer?).self
        )
        window = getWindow(surface)
        let opened = try #require(gdk_surface_get_display(surface))
        display = try #require(getDisplay(opened))
    }

    private static func function<Function>(
        _ name: String,
        _ library: UnsafeMutableRawPointer,
        as type: Function.Type
    ) throws -> Function { unsafeBitCast(try #require(dlsym(library, name)), to: type) }

    func setHidden(_ isHidden: Bool) {
        typealias Change =
            @convention(c) (OpaquePointer, UInt, UInt, UInt, Int32, Int32, UnsafePointer<UInt>, Int32) -> Int32
        typealias Flush = @convention(c) (OpaquePointer) -> Int32
        guard let change = try? Self.function("XChangeProperty", library, as: Change.self),
            let flush = try? Self.function("XFlush", library, as: Flush.self)
        else { return }
        var atoms = isHidden ? [atom("_NET_WM_STATE_HIDDEN")] : []
        let count = Int32(atoms.count)
        if atoms.isEmpty { atoms = [0] }
        // Of the type ATOM, in units of 32 bits, which Xlib takes as longs; replaces the old value.
        _ = change(display, window, atom("_NET_WM_STATE"), 4, 32, 0, atoms, count)
        _ = flush(display)
    }

    private func atom(_ name: String) -> UInt {
        typealias Intern = @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32) -> UInt
        guard let intern = try? Self.function("XInternAtom", library, as: Intern.self) else { return 0 }
        return intern(display, name, 0)
    }
}
