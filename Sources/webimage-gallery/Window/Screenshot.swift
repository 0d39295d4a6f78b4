import CWebImageGTK4
import WebImage
import WebImageGTK

/// Writes a window as PNG after its images have been loaded.
@MainActor
enum Screenshot {
    /// Waits until no load is in progress, at most a minute.
    ///
    /// - Returns: true if all loads have ended; false after a timeout or if the window was closed.
    static func settle(_ window: GalleryWindow) async -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        var quietFrames = 0
        while quietFrames < 6 {
            guard clock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(25))
            guard !window.isClosed else { return false }
            let isBusy =
                gtk_widget_get_width(window.widget) == 0 || !window.grid.isComplete || !window.viewer.isSettled
            quietFrames = isBusy ? 0 : quietFrames + 1
        }
        return true
    }

    /// - Returns: true if the file was written.
    static func write(_ window: Widget, to path: String) -> Bool {
        guard let paintable = gtk_widget_paintable_new(window), let snapshot = gtk_snapshot_new() else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        // The size with the window's frame, which the widget's size excludes; any other size would scale the window.
        let (width, height) = (
            gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)
        )
        guard width > 0, height > 0 else { return false }
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return false }
        defer { gsk_render_node_unref(node) }
        guard let renderer = gtk_native_get_renderer(gtk_widget_get_native(window)) else { return false }
        var area = graphene_rect_t(
            origin: graphene_point_t(x: 0, y: 0),
            size: graphene_size_t(width: Float(width), height: Float(height))
        )
        guard let texture = gsk_renderer_render_texture(renderer, node, &area) else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return gdk_texture_save_to_png(texture, path) != 0
    }
}
