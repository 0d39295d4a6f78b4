import BenchSupport
import CBenchGTK
import FoundationEssentials
import WebImage
import WebImageGTK

/// A window of animations, and which frames they have shown.
@MainActor
final class Wall {
    private static let frameCount = 60

    private var pictures: [UnsafeMutableRawPointer] = []
    /// The frame that each showed last.
    private var last: [Int?] = []
    private var isCounting = false
    private var start = 0.0
    private var seconds = 0.0
    private var paints = 0
    private var shown = 0
    private var lost = 0
    private var repeated = 0

    init(_ files: [URL]) {
        let window: UnsafeMutablePointer<GtkWidget> = gtk_window_new()
        let top = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        let grid: UnsafeMutablePointer<GtkWidget> = gtk_grid_new()
        for (index, file) in files.enumerated() {
            let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
            gtk_widget_set_size_request(picture, 320, 240)
            let cells = UnsafeMutableRawPointer(grid).assumingMemoryBound(to: GtkGrid.self)
            gtk_grid_attach(cells, picture, gint(index % 3), gint(index / 3), 1, 1)
            picture.setImage(
                with: file,
                completed: { if case .failure(let error) = $0 { Measurement.stop("\(file.path): \(error)") } }
            )
            pictures.append(UnsafeMutableRawPointer(picture))
        }
        last = Array(repeating: nil, count: pictures.count)
        gtk_window_set_decorated(top, 0)
        gtk_window_set_child(top, grid)
        gtk_window_present(top)
        guard let clock = gtk_widget_get_frame_clock(window) else { Measurement.stop("the window is not shown") }
        let after: @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, wall in
            nonisolated(unsafe) let wall = wall
            MainActor.assumeIsolated { Unmanaged<Wall>.fromOpaque(wall).takeUnretainedValue().look() }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(clock),
            "after-paint",
            unsafeBitCast(after, to: GCallback.self),
            Unmanaged.passRetained(self).toOpaque(),
            nil,
            G_CONNECT_AFTER
        )
    }

    func beginCounting() {
        start = Measurement.now()
        isCounting = true
    }

    func endCounting() {
        seconds = Measurement.now() - start
        isCounting = false
    }

    private func look() {
        guard isCounting else { return }
        paints += 1
        for (index, picture) in pictures.enumerated() {
            guard let frame = frame(in: picture) else { continue }
            if let before = last[index] {
                let step = (frame - before + Self.frameCount) % Self.frameCount
                if step == 0 { repeated += 1 } else { shown += 1 }
                lost += max(step - 1, 0)
            }
            last[index] = frame
        }
    }

    /// The number of the frame that a view shows.
    private func frame(in picture: UnsafeMutableRawPointer) -> Int? {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(picture)),
            let image = gdk_paintable_get_current_image(paintable)
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(image)) }
        let instance = UnsafeMutableRawPointer(image).assumingMemoryBound(to: GTypeInstance.self)
        guard g_type_check_instance_is_a(instance, gdk_texture_get_type()) != 0 else { return nil }
        let (width, height) = (Int(gdk_texture_get_width(image)), Int(gdk_texture_get_height(image)))
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * height * 4) { bytes in
            gdk_texture_download(image, bytes.baseAddress, gsize(width * 4))
            let pixel = (height / 2 * width + width / 2) * 4
            // Eight steps of red, and as many of green.
            return Int(bytes[pixel + 2]) / 32 + Int(bytes[pixel + 1]) / 32 * 8
        }
    }

    func report() {
        Measurement.report("fps", Double(paints) / seconds, "frames/s")
        Measurement.report("shown", Double(shown), "frames")
        Measurement.report("lost", Double(lost), "frames")
        Measurement.report("repeated", Double(repeated), "frames")
    }
}
