import CWebImageGTK4
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// The gallery's window on the display, with loads that wait for the test, and the system's keys and pointer.
@MainActor
final class GalleryBench {
    let bench: ViewBench
    let window: GalleryWindow
    private let application: UnsafeMutablePointer<GtkApplication>

    /// - Parameter width: The window's width, in points.
    init(width: Int = 800, height: Int = 600, manager: WebImageManager? = nil) async throws {
        bench = try ViewBench()
        application = try #require(
            gtk_application_new("org.webimage.GalleryTests", webimage_gtk_application_non_unique)
        )
        let base = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        try #require(g_application_register(base, nil, nil) != 0)
        window = GalleryWindow(
            application: application,
            manager: manager ?? bench.manager,
            cache: bench.cache,
            Arguments(["--size", "\(width)x\(height)"])
        )
        gtk_window_present(window.widget.cast())
        try #require(await MainLoopTurns.wait { gtk_widget_get_width(self.window.grid.widget.parent) > 0 })
        try await input(["windowfocus", "--sync", "\(try surfaceNumber())"])
    }

    isolated deinit {
        if !window.isClosed { gtk_window_destroy(window.widget.cast()) }
        g_object_unref(application)
    }

    // MARK: Images

    static func url(_ name: String) -> URL { ViewBench.url(name) }

    /// Shows images with these names.
    func show(_ names: [String]) { window.show(names.map { ImageItem(Self.url($0)) }) }

    /// Ends an image's running and later loads: grid, page and preloading may all request it.
    func serve(_ name: String, _ data: Data = ViewBench.red) async throws {
        let url = Self.url(name)
        try #require(await bench.loader.request(of: url), "\(name) was not requested")
        bench.loader.answer(url, with: .success(data))
    }

    /// Opens an image on a page, which is then available at once everywhere, and waits until it is shown.
    func open(_ index: Int, _ data: Data) async throws {
        window.open(index)
        bench.loader.answer(window.items[index].url, with: .success(data))
        try #require(await MainLoopTurns.wait { self.window.viewer.isSettled })
        await frames()
    }

    // MARK: User input

    /// Runs xdotool with these arguments.
    func input(_ words: [String]) async throws {
        let run = try await withCheckedThrowingContinuation { continuation in
            startThread {
                continuation.resume(
                    with: Result { try ProgramRun("/usr/bin/timeout", ["20", "xdotool"] + words) }
                )
            }
        }
        try #require(run.status == 0, "xdotool \(words): \(run.errors)")
    }

    func key(_ names: String...) async throws {
        try await input(["key", "--delay", "20"] + names)
        await frames()
    }

    /// Moves the pointer to a place in a widget, which may be the middle.
    func point(at widget: Widget, _ x: Double? = nil, _ y: Double? = nil) async throws {
        // A text that has changed may yet move the widget.
        await frames()
        let (width, height) = (gtk_widget_get_width(widget), gtk_widget_get_height(widget))
        let place = try place(x ?? Double(width) / 2, y ?? Double(height) / 2, of: widget)
        try await input(["mousemove", "--window", "\(try surfaceNumber())", "\(Int(place.x))", "\(Int(place.y))"])
        await frames()
    }

    func click(_ widget: Widget) async throws {
        try await point(at: widget)
        try await input(["click", "1"])
        await frames()
    }

    private func place(_ x: Double, _ y: Double, of widget: Widget) throws -> ImagePoint {
        var (point, place) = (graphene_point_t(x: Float(x), y: Float(y)), graphene_point_t())
        try #require(gtk_widget_compute_point(widget, window.widget, &point, &place) != 0)
        // A window's surface has a frame of shadow.
        var frame = (x: 0.0, y: 0.0)
        gtk_native_get_surface_transform(gtk_widget_get_native(window.widget), &frame.x, &frame.y)
        return ImagePoint(x: Double(place.x) + frame.x, y: Double(place.y) + frame.y)
    }

    private func surfaceNumber() throws -> UInt {
        let surface = try #require(gtk_native_get_surface(gtk_widget_get_native(window.widget)))
        // From GDK's X11 backend, whose header Swift does not import.
        typealias Call = @convention(c) (OpaquePointer) -> UInt
        let call = try #require(dlsym(try #require(dlopen(nil, RTLD_NOW)), "gdk_x11_surface_get_xid"))
        return unsafeBitCast(call, to: Call.self)(surface)
    }

    /// Waits until the changes are drawn.
    func frames(_ count: Int = 3) async {
        let clock = FrameClock(widget: UnsafeMutableRawPointer(window.widget))
        var seen = 0
        let id = clock.add { _ in seen += 1 }
        _ = await MainLoopTurns.wait { seen >= count }
        clock.remove(id)
    }

    // MARK: Display

    /// The zoom of the opened image.
    var zoom: ZoomController { ViewState.of(UnsafeMutableRawPointer(window.viewer.picture)).makeZoom() }

    var focus: Widget? { gtk_window_get_focus(window.widget.cast()) }

    /// The texts of visible labels, in order.
    func texts(in widget: Widget? = nil) -> [String] {
        let widget = widget ?? window.widget
        guard gtk_widget_get_mapped(widget) != 0 else { return [] }
        var texts: [String] = []
        if UnsafeMutableRawPointer(widget).isA(gtk_label_get_type()) {
            texts.append(String(cString: gtk_label_get_text(widget.opaque)))
        }
        var child = gtk_widget_get_first_child(widget)
        while let current = child {
            texts += self.texts(in: current)
            child = gtk_widget_get_next_sibling(current)
        }
        return texts
    }

    /// The first button or similar whose tooltip has this prefix.
    func button(_ tip: String, in widget: Widget? = nil) -> Widget? {
        let widget = widget ?? window.widget
        if let text = gtk_widget_get_tooltip_text(widget), String(cString: text).hasPrefix(tip) { return widget }
        var child = gtk_widget_get_first_child(widget)
        while let current = child {
            if let found = button(tip, in: current) { return found }
            child = gtk_widget_get_next_sibling(current)
        }
        return nil
    }

    var scroll: Double {
        gtk_adjustment_get_value(gtk_scrolled_window_get_vadjustment(window.grid.widget.opaque))
    }
}

extension Widget {
    /// The widget's parent, or the widget itself.
    var parent: Widget { gtk_widget_get_parent(self) ?? self }
}
