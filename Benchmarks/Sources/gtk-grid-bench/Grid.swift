import BenchSupport
import CBenchGTK
import FoundationEssentials
import WebImage
import WebImageGTK

/// A window with a grid in it, and what is known of its cells.
@MainActor
final class Grid {
    let window: UnsafeMutablePointer<GtkWidget>
    /// Pixels that it is scrolled by in each frame.
    var speed = 0

    private let scrolled: UnsafeMutablePointer<GtkWidget>
    private let loader: ListImageLoader
    /// Views that have an item, and the number of that.
    private var bound: [UnsafeMutableRawPointer: Int] = [:]
    /// What was looked at last in a view.
    private var seen: [UnsafeMutableRawPointer: (number: Int, texture: UnsafeMutableRawPointer)] = [:]
    private var isForward = true

    private(set) var wrongCount = 0
    private var checkCount = 0
    private var deliveries: [ImageCacheType: Int] = [:]

    init(address: String, count: Int, manager: WebImageManager) {
        loader = ListImageLoader { _, item in
            let name = gtk_string_object_get_string(OpaquePointer(item)).map { String(cString: $0) } ?? ""
            return URL(string: "\(address)/\(name).jpg")
        }
        var context = WebImageContext()
        context.customManager = manager
        loader.context = context
        window = gtk_window_new()
        scrolled = gtk_scrolled_window_new()
        fill(count)
        loader.completed = { [unowned self] position, result in note(position, result) }
    }

    private func fill(_ count: Int) {
        guard let names = gtk_string_list_new(nil), let factory = loader.makeFactory(cellWidth: 160, cellHeight: 120)
        else {
            Measurement.stop("no list")
        }
        for number in 0..<count { gtk_string_list_append(names, "\(number)") }
        let unretained = Unmanaged.passUnretained(self).toOpaque()
        let bind: @convention(c) (OpaquePointer, OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, item, grid in
            nonisolated(unsafe) let (item, grid) = (item, grid)
            MainActor.assumeIsolated { Unmanaged<Grid>.fromOpaque(grid).takeUnretainedValue().didBind(item) }
        }
        let unbind: @convention(c) (OpaquePointer, OpaquePointer, UnsafeMutableRawPointer) -> Void = { _, item, grid in
            nonisolated(unsafe) let (item, grid) = (item, grid)
            MainActor.assumeIsolated { Unmanaged<Grid>.fromOpaque(grid).takeUnretainedValue().didUnbind(item) }
        }
        let object = UnsafeMutableRawPointer(factory)
        g_signal_connect_data(
            object,
            "bind",
            unsafeBitCast(bind, to: GCallback.self),
            unretained,
            nil,
            GConnectFlags(rawValue: 0)
        )
        g_signal_connect_data(
            object,
            "unbind",
            unsafeBitCast(unbind, to: GCallback.self),
            unretained,
            nil,
            GConnectFlags(rawValue: 0)
        )
        let selection = gtk_no_selection_new(names)
        guard let view = gtk_grid_view_new(selection, factory) else { Measurement.stop("no grid") }
        gtk_grid_view_set_min_columns(OpaquePointer(view), 5)
        gtk_grid_view_set_max_columns(OpaquePointer(view), 5)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
        let top = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(top, 900, 760)
        gtk_window_set_child(top, scrolled)
        gtk_window_present(top)
        gtk_widget_add_tick_callback(
            scrolled,
            { _, _, grid in
                guard let grid else { return 0 }
                nonisolated(unsafe) let gridPointer = grid
                MainActor.assumeIsolated { Unmanaged<Grid>.fromOpaque(gridPointer).takeUnretainedValue().scroll() }
                return 1
            },
            unretained,
            nil
        )
    }

    private func scroll() {
        guard speed > 0, let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled)) else { return }
        let end = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment)
        let value = gtk_adjustment_get_value(adjustment)
        if value >= end { isForward = false } else if value <= 0 { isForward = true }
        gtk_adjustment_set_value(adjustment, value + Double(isForward ? speed : -speed))
    }

    // MARK: What the factory and the loads tell

    private func didBind(_ item: OpaquePointer) {
        guard let view = gtk_list_item_get_child(item) else { return }
        bound[UnsafeMutableRawPointer(view)] = Int(gtk_list_item_get_position(item))
    }

    private func didUnbind(_ item: OpaquePointer) {
        guard let view = gtk_list_item_get_child(item) else { return }
        bound[UnsafeMutableRawPointer(view)] = nil
    }

    private func note(_ position: Int, _ result: Result<WebImageResult, WebImageError>) {
        switch result {
        case .success(let loaded):
            deliveries[loaded.cacheType, default: 0] += 1
            if PictureNumber.of(loaded.image) != position { wrongCount += 1 }
        case .failure(let error):
            if error.code != .cancelled { Measurement.stop("picture \(position): \(error)") }
        }
    }

    // MARK: What is shown

    /// Whether every cell shows a picture.
    var isLoaded: Bool { bound.keys.allSatisfy { texture(in: $0) != nil } }

    func checkVisible() {
        for (view, number) in bound where gtk_widget_get_mapped(view.assumingMemoryBound(to: GtkWidget.self)) != 0 {
            check(view, number)
        }
    }

    func checkAll() {
        seen = [:]
        for (view, number) in bound { check(view, number) }
    }

    private func check(_ view: UnsafeMutableRawPointer, _ number: Int) {
        guard let texture = texture(in: view) else { return }
        if let known = seen[view] {
            if known.number == number, known.texture == texture { return }
            g_object_unref(known.texture)
        }
        // Kept, so that no other takes its address.
        seen[view] = (number, g_object_ref(texture))
        checkCount += 1
        if PictureNumber.of(texture: OpaquePointer(texture)) != number { wrongCount += 1 }
    }

    /// The texture that a view shows; nil as long as it shows nothing.
    private func texture(in view: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard let paintable = gtk_picture_get_paintable(OpaquePointer(view)),
            let image = gdk_paintable_get_current_image(paintable)
        else { return nil }
        let pointer = UnsafeMutableRawPointer(image)
        // The paintable keeps it.
        g_object_unref(pointer)
        guard
            g_type_check_instance_is_a(pointer.assumingMemoryBound(to: GTypeInstance.self), gdk_texture_get_type()) != 0
        else {
            return nil
        }
        return pointer
    }

    /// Destroys the window, and with it the cells.
    func close() {
        gtk_window_destroy(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self))
    }

    func report(isQuiet: Bool) {
        if !isQuiet { Measurement.stop("some cells never showed a picture") }
        Measurement.report("wrong", Double(wrongCount), "pictures")
        Measurement.report("checked", Double(checkCount), "pictures")
        Measurement.report("deliveries", Double(deliveries.values.reduce(0, +)), "pictures")
        Measurement.report("remote", Double(deliveries[.none] ?? 0), "pictures")
        Measurement.report("disk", Double(deliveries[.disk] ?? 0), "pictures")
        Measurement.report("memory", Double(deliveries[.memory] ?? 0), "pictures")
    }
}
