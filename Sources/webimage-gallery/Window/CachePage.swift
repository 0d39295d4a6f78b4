import CWebImageGTK4
import FoundationEssentials
import WebImage
import WebImageGTK

/// The contents of the caches, with buttons to clear them.
@MainActor
final class CachePage {
    let root: RetainedWidget
    private let cache: ImageCache
    private let grid: OpaquePointer
    private var values: [Row: OpaquePointer] = [:]

    private enum Row: String, CaseIterable {
        case memoryCount = "Images in memory"
        case memoryCost = "Memory used"
        case memoryLimit = "Memory limit"
        case diskCount = "Images on disk"
        case diskSize = "Disk space used"
        case diskPath = "Directory"
    }

    init(cache: ImageCache) {
        self.cache = cache
        let title = Make.label("Caches", classes: "title-2")
        let table = Make.required(gtk_grid_new())
        grid = table.opaque
        gtk_grid_set_row_spacing(table.cast(), 8)
        gtk_grid_set_column_spacing(table.cast(), 24)
        root = RetainedWidget(Make.box(GTK_ORIENTATION_VERTICAL, spacing: 18, title, table))
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        widget.margins(32)
        for (index, row) in Row.allCases.enumerated() {
            let name = Make.label(row.rawValue, classes: "dim-label")
            let value = Make.label()
            gtk_label_set_selectable(value.opaque, 1)
            gtk_label_set_ellipsize(value.opaque, PANGO_ELLIPSIZE_MIDDLE)
            gtk_label_set_max_width_chars(value.opaque, 60)
            gtk_grid_attach(table.cast(), name, 0, Int32(index), 1, 1)
            gtk_grid_attach(table.cast(), value, 1, Int32(index), 1, 1)
            values[row] = value.opaque
        }
        let buttons = Make.box(
            GTK_ORIENTATION_HORIZONTAL,
            spacing: 8,
            Make.button("Clear memory") { [weak self] in self?.clear(.memory) },
            Make.button("Clear disk") { [weak self] in self?.clear(.disk) },
            Make.button("Refresh") { [weak self] in self?.update() }
        )
        gtk_box_append(widget.cast(), buttons)
    }

    var widget: Widget { root.widget }

    /// Updates the values in the background.
    func update() {
        Task { await count() }
    }

    /// Updates the values, and returns when they are shown.
    func count() async {
        let (count, size) = await cache.calculateSize()
        let memory = cache.memoryCache as? MemoryCache
        set(.memoryCount, "\(memory?.count ?? 0)")
        set(.memoryCost, ByteCount.text(memory?.totalCost ?? 0))
        set(.memoryLimit, ByteCount.text(cache.config.maxMemoryCost))
        set(.diskCount, "\(count)")
        set(.diskSize, ByteCount.text(size))
        set(.diskPath, cache.diskCachePath)
    }

    private func set(_ row: Row, _ text: String) {
        if let label = values[row] { gtk_label_set_text(label, text) }
    }

    private func clear(_ kind: ImageCacheType) {
        Task {
            await cache.clear(kind)
            await count()
        }
    }
}

/// Formats byte counts.
enum ByteCount {
    static func text(_ count: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(count)
        var unit = 0
        while value >= 1024, unit + 1 < units.count {
            value /= 1024
            unit += 1
        }
        if unit == 0 { return "\(count) B" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 || value >= 100
            ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
