import BenchSupport
import CBenchGTK
import FoundationEssentials
import WebImage
import WebImageGTK

/// A large picture that is dragged over the screen.
///
/// Shows FILE in a window, waits until the whole picture is there, zooms to its pixels, waits for WAIT seconds, and pans for SECONDS, 24
/// pixels per frame. After each frame, the picture is drawn once more without a renderer: that is the library's part of the frame.
@MainActor enum ZoomBench {
    private static let (width, height) = (1200, 800)

    static func run(_ arguments: [String]) {
        guard arguments.count == 3, let wait = Double(arguments[1]), let seconds = Double(arguments[2]) else {
            Measurement.stop("usage: gtk-grid-bench zoom FILE WAIT SECONDS")
        }
        guard gtk_init_check() != 0, let window = gtk_window_new(), let scroller = gtk_scrolled_window_new(),
            let picture = gtk_picture_new()
        else { Measurement.stop("there is no display") }
        let base = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(base, gint(width), gint(height))
        gtk_window_set_child(base, scroller)
        gtk_scrolled_window_set_child(OpaquePointer(scroller), picture)
        gtk_window_present(base)
        turn(for: 1)
        let folder = FileManager.default.temporaryDirectory.appending(path: "gtk-zoom-bench-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var context = WebImageContext()
        context.customManager = WebImageManager(cache: ImageCache(directory: folder.path))
        let start = Measurement.now()
        var failure: WebImageError?
        var isShown = false
        picture.setZoomableImage(with: URL(filePath: arguments[0]), context: context) { result in
            if case .failure(let error) = result { failure = error }
            isShown = true
        }
        turn(for: 120) { isShown }
        if let failure { Measurement.stop("\(failure)") }
        Measurement.report("first", (Measurement.now() - start) * 1000, "ms")
        ZoomableImageView(picture).setZoom(1)
        turn(for: wait)
        let frames = FrameMeter(of: window)
        var drawing: [Double] = []
        frames.afterFrame = { drawing.append(drawnAgain(picture)) }
        frames.begin("pan")
        pan(scroller, until: Measurement.now() + seconds)
        frames.end()
        frames.report()
        drawing.sort()
        guard let worst = drawing.last else { Measurement.stop("no frame came") }
        Measurement.report("drawing-median", drawing[drawing.count / 2], "ms")
        Measurement.report("drawing-p99", drawing[drawing.count * 99 / 100], "ms")
        Measurement.report("drawing-max", worst, "ms")
        Measurement.report("rss", Measurement.residentMegabytes(), "MB")
        gtk_window_destroy(base)
    }

    /// Milliseconds to draw a view's picture into a snapshot.
    private static func drawnAgain(_ picture: UnsafeMutablePointer<GtkWidget>) -> Double {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(picture)), let snapshot = gtk_snapshot_new()
        else {
            return 0
        }
        let start = Measurement.now()
        let (width, height) = (gtk_widget_get_width(picture), gtk_widget_get_height(picture))
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        let time = Measurement.now() - start
        g_object_unref(UnsafeMutableRawPointer(snapshot))
        return time * 1000
    }

    /// Moves the picture a little in each frame, to and fro.
    private static func pan(_ scroller: UnsafeMutablePointer<GtkWidget>, until end: Double) {
        let tick = gtk_widget_add_tick_callback(
            scroller,
            { scroller, _, _ in
                guard let scroller else { return 0 }
                for (adjustment, step) in [
                    (gtk_scrolled_window_get_hadjustment(OpaquePointer(scroller)), 24.0),
                    (gtk_scrolled_window_get_vadjustment(OpaquePointer(scroller)), 7.0),
                ] {
                    gtk_adjustment_set_value(adjustment, gtk_adjustment_get_value(adjustment) + step)
                }
                return 1
            },
            nil,
            nil
        )
        defer { gtk_widget_remove_tick_callback(scroller, tick) }
        turn(for: end - Measurement.now())
    }

    /// Lets the main loop run.
    private static func turn(for seconds: Double, until condition: () -> Bool = { false }) {
        let end = Measurement.now() + seconds
        let timer = g_timeout_add(10, { _ in 1 }, nil)
        defer { g_source_remove(timer) }
        while Measurement.now() < end, !condition() { g_main_context_iteration(nil, 1) }
    }
}
