import CWebImageGTK4
import Testing
import WebImage

@testable import WebImageGTK

/// A window with one widget in it, on the screen.
@MainActor
final class TestWindow {
    let window: UnsafeMutablePointer<GtkWidget>

    /// Shows a window, and waits until its widget is drawn.
    ///
    /// - Parameters:
    ///   - child: The window's widget.
    ///   - width: The window's width, in points.
    ///   - height: The window's height, in points.
    init(_ child: UnsafeMutableRawPointer, _ width: Int = 120, _ height: Int = 80) async throws {
        window = gtk_window_new()
        let pointer = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_decorated(pointer, 0)
        gtk_window_set_default_size(pointer, gint(width), gint(height))
        gtk_window_set_child(pointer, child.widget)
        gtk_window_present(pointer)
        let isShown = await MainLoopTurns.wait {
            gtk_widget_get_mapped(child.widget) != 0 && gtk_widget_get_width(self.window) > 0
        }
        try #require(isShown)
    }

    /// Destroys the window, and releases its contents.
    func close() { gtk_window_destroy(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)) }

    /// Waits until the frame after the next one has been drawn.
    func frames(_ count: Int = 2) async {
        let clock = FrameClock(widget: UnsafeMutableRawPointer(window))
        var seen = 0
        let id = clock.add { _ in seen += 1 }
        _ = await MainLoopTurns.wait { seen >= count }
        clock.remove(id)
    }

    /// A widget's drawing: premultiplied BGRA.
    func pixels(of widget: UnsafeMutableRawPointer) throws -> WidgetPixels { try WidgetPixels(widget) }
}

/// An image of a widget.
@MainActor
struct WidgetPixels: Equatable {
    let width: Int
    let height: Int
    private let bytes: [UInt8]

    init(_ widget: UnsafeMutableRawPointer) throws {
        let (width, height) = (Int(gtk_widget_get_width(widget.widget)), Int(gtk_widget_get_height(widget.widget)))
        let paintable = try #require(gtk_widget_paintable_new(widget.widget))
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        try self.init(paintable: paintable, width, height, widget)
    }

    /// Draws a paintable with the renderer of a widget's window.
    init(paintable: OpaquePointer, _ width: Int, _ height: Int, _ widget: UnsafeMutableRawPointer) throws {
        let snapshot = try #require(gtk_snapshot_new())
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        self.width = width
        self.height = height
        guard let node = gtk_snapshot_free_to_node(snapshot) else {
            bytes = [UInt8](repeating: 0, count: width * height * 4)
            return
        }
        defer { gsk_render_node_unref(node) }
        let native = try #require(gtk_widget_get_native(widget.widget))
        let renderer = try #require(gtk_native_get_renderer(native))
        var area = graphene_rect_t(
            origin: graphene_point_t(x: 0, y: 0),
            size: graphene_size_t(width: Float(width), height: Float(height))
        )
        let texture = try #require(gsk_renderer_render_texture(renderer, node, &area))
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        bytes.withUnsafeMutableBufferPointer { gdk_texture_download(texture, $0.baseAddress, gsize(width * 4)) }
        self.bytes = bytes
    }

    /// Red, green, blue and alpha of a pixel.
    func rgba(_ x: Int, _ y: Int) -> [UInt8] {
        let pixel = (y * width + x) * 4
        return [bytes[pixel + 2], bytes[pixel + 1], bytes[pixel], bytes[pixel + 3]]
    }

    /// The pixel in the middle.
    var middle: [UInt8] { rgba(width / 2, height / 2) }
}
