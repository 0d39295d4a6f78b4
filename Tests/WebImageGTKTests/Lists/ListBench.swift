import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

/// A list in a window, in which each item has an image of its own colour.
@MainActor
final class ListBench {
    enum Kind: CaseIterable { case grid, list, columns }

    let bench: ViewBench
    let loader: ListImageLoader
    let window: TestWindow
    let names: OpaquePointer
    /// The list.
    let view: UnsafeMutablePointer<GtkWidget>
    private let tracker = Tracker()
    private let scrolled: UnsafeMutablePointer<GtkWidget>
    private let kept: ObjectReference
    private var hasScrolled = false

    /// - Parameters:
    ///   - width: The window's width, in points.
    ///   - fillsCells: Indicates whether images are as big as their cells; otherwise they have their requested size.
    ///   - configure: Called before there are cells.
    ///   - url: Returns an item's URL, by its position and its name; nil for none.
    init(
        _ kind: Kind = .grid,
        count: Int = 400,
        width: Int = 220,
        fillsCells: Bool = false,
        configure: (ListImageLoader) -> Void = { _ in },
        url: @escaping @MainActor (_ position: Int, _ name: String) -> URL? = { ViewBench.url("\($1).bmp") }
    ) async throws {
        let bench = try ViewBench()
        self.bench = bench
        loader = ListImageLoader { position, item in url(position, Self.name(of: item)) }
        loader.context = bench.context
        names = try #require(gtk_string_list_new(nil))
        kept = ObjectReference(retaining: UnsafeMutableRawPointer(names))
        for number in 0..<count { gtk_string_list_append(names, "\(number)") }
        scrolled = gtk_scrolled_window_new()
        configure(loader)
        let factory = try #require(loader.makeFactory(cellWidth: 40, cellHeight: 30))
        let selection = gtk_no_selection_new(OpaquePointer(g_object_ref(UnsafeMutableRawPointer(names))))
        view = try #require(Self.view(kind, selection, factory))
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), view)
        let tracker = tracker
        tracker.follow(UnsafeMutableRawPointer(factory))
        if fillsCells { Self.fillCells(of: UnsafeMutableRawPointer(factory)) }
        loader.completed = { position, result in tracker.note(position, result) }
        window = try await TestWindow(UnsafeMutableRawPointer(scrolled), width, 120)
        await window.frames()
    }

    /// The events of the cells.
    @MainActor
    private final class Tracker {
        var bound: [UnsafeMutableRawPointer: String] = [:]
        var bindHandler: ((_ view: UnsafeMutableRawPointer, _ name: String) -> Void)?
        var ended: [(position: Int, code: WebImageError.Code?)] = []

        func follow(_ factory: UnsafeMutableRawPointer) {
            ObjectSignal("bind", of: factory) { [self] item in
                guard let view = gtk_list_item_get_child(item.opaque), let object = gtk_list_item_get_item(item.opaque)
                else { return }
                let name = ListBench.name(of: object)
                bound[UnsafeMutableRawPointer(view)] = name
                bindHandler?(UnsafeMutableRawPointer(view), name)
            }
            ObjectSignal("unbind", of: factory) { [self] item in
                guard let view = gtk_list_item_get_child(item.opaque) else { return }
                bound[UnsafeMutableRawPointer(view)] = nil
            }
        }

        func note(_ position: Int, _ result: Result<WebImageResult, WebImageError>) {
            let code: WebImageError.Code? = if case .failure(let error) = result { error.code } else { nil }
            ended.append((position, code))
        }
    }

    /// Called for each bound cell, once the loader has been called.
    var bindHandler: ((_ view: UnsafeMutableRawPointer, _ name: String) -> Void)? {
        get { tracker.bindHandler }
        set { tracker.bindHandler = newValue }
    }
    /// Views that have an item, and its name.
    var bound: [UnsafeMutableRawPointer: String] { tracker.bound }
    /// Positions whose loads have ended, with their results.
    var ended: [(position: Int, code: WebImageError.Code?)] { tracker.ended }

    private static func view(_ kind: Kind, _ model: OpaquePointer?, _ factory: OpaquePointer) -> UnsafeMutablePointer<
        GtkWidget
    >? {
        switch kind {
        case .grid:
            guard let view = gtk_grid_view_new(model, factory) else { return nil }
            gtk_grid_view_set_min_columns(OpaquePointer(view), 4)
            gtk_grid_view_set_max_columns(OpaquePointer(view), 4)
            return view
        case .list: return gtk_list_view_new(model, factory)
        case .columns:
            guard let view = gtk_column_view_new(model) else { return nil }
            let column = gtk_column_view_column_new("Picture", factory)
            gtk_column_view_append_column(OpaquePointer(view), column)
            g_object_unref(UnsafeMutableRawPointer(column))
            return view
        }
    }

    private static func fillCells(of factory: UnsafeMutableRawPointer) {
        ObjectSignal("setup", of: factory) { item in
            guard let view = gtk_list_item_get_child(item.opaque) else { return }
            gtk_widget_set_halign(view, GTK_ALIGN_FILL)
        }
    }

    fileprivate static func name(of item: UnsafeMutableRawPointer) -> String {
        gtk_string_object_get_string(item.opaque).map { String(cString: $0) } ?? "?"
    }

    func close() { window.close() }

    // MARK: The model

    /// Replaces the items by the same ones, so that all cells are bound again.
    func reset() {
        let count = Int(g_list_model_get_n_items(names))
        replace(0..<count, by: (0..<count).map { "\($0)" })
    }

    func replace(_ range: Range<Int>, by items: [String]) {
        let copies = items.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        var words: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
        gtk_string_list_splice(names, guint(range.lowerBound), guint(range.count), &words)
    }

    // MARK: Scrolling

    /// Scrolls to a place in the list, and waits until that is drawn.
    func scroll(to share: Double) async {
        guard let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled)) else { return }
        // GTK does not follow the first step of a list.
        if !hasScrolled {
            gtk_adjustment_set_value(adjustment, 1)
            await window.frames()
        }
        hasScrolled = true
        gtk_adjustment_set_value(adjustment, gtk_adjustment_get_upper(adjustment) * share)
        await window.frames(3)
    }

    func isMapped(_ view: UnsafeMutableRawPointer) -> Bool { gtk_widget_get_mapped(view.widget) != 0 }

    /// Numbers of the items on the screen.
    var visible: Set<Int> { Set(bound.filter { isMapped($0.key) }.compactMap { Int($0.value) }) }
    /// Numbers of the items that have cells.
    var numbers: Set<Int> { Set(bound.values.compactMap { Int($0) }) }

    // MARK: Images

    static func url(_ number: Int) -> URL { ViewBench.url("\(number).bmp") }

    nonisolated static func picture(_ number: Int) -> Data {
        ViewBench.picture(40, 30, UInt8(number & 15) << 4, UInt8(number >> 4 & 15) << 4, UInt8(number >> 8 & 15) << 4)
    }

    /// Ends all waiting loads, with their images.
    func endAll() {
        for url in bench.loader.waiting {
            let number = Int(url.lastPathComponent.dropLast(4)) ?? 0
            bench.loader.end(url, with: .success(Self.picture(number)))
        }
    }

    /// The number of the image that a view shows; nil if it shows none.
    func shown(in view: UnsafeMutableRawPointer) -> Int? {
        guard let bitmap = ViewState.existing(view)?.paintable.content?.image?.bitmap else { return nil }
        let middle = bitmap.height / 2 * bitmap.bytesPerRow + bitmap.width / 2 * 3
        return bitmap.withUnsafeBytes { pixels in
            Int(pixels[middle] >> 4) | Int(pixels[middle + 1] >> 4) << 4 | Int(pixels[middle + 2] >> 4) << 8
        }
    }

    /// Cells that show another item's image.
    var wrongCells: [String] {
        bound.compactMap { view, name in
            guard let shown = shown(in: view), "\(shown)" != name else { return nil }
            return "\(name) shows \(shown)"
        }
    }

    /// Ends loads until all cells on the screen have their images.
    func loadVisible() async -> Bool {
        await MainLoopTurns.wait {
            self.endAll()
            return self.bound.filter { self.isMapped($0.key) }.allSatisfy { self.shown(in: $0.key) != nil }
        }
    }
}
