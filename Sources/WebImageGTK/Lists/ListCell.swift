import CWebImageGTK4
import FoundationEssentials
import WebImage

/// A cell of a list: the `GtkListItem`, the view in it that shows the image, and the load of that image.
@MainActor
final class ListCell {
    /// Valid until ``itemHasGone()``.
    nonisolated(unsafe) let item: UnsafeMutableRawPointer
    private let viewReference: WeakObject
    /// The URL that the cell shows or loads; nil while it is not bound.
    private(set) var url: URL?
    /// The load, while it is in progress.
    private(set) var operation: WebImageLoadOperation?
    var isBound = false { didSet { if isBound { hasContent = true } } }
    /// True if the view may show something of the previous item.
    var hasContent = false
    private var mapping: [Signal] = []
    private var isItemAlive = true
    // Retained until the weak notification of the item is called or removed.
    private nonisolated(unsafe) let watch: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - changed: called when the view enters or leaves the screen.
    ///   - ended: called when the list item has been finalized.
    init(
        _ item: UnsafeMutableRawPointer,
        view: UnsafeMutableRawPointer,
        changed: @escaping @MainActor () -> Void,
        ended: @escaping @MainActor () -> Void
    ) {
        self.item = item
        viewReference = WeakObject(view)
        watch = Unmanaged.passRetained(Watch(ended)).toOpaque()
        g_object_weak_ref(item.object, Self.notify, watch)
        mapping = ["map", "unmap"].map { name in
            Signal(name, of: view) { [weak self] in
                guard let self, isBound else { return }
                updatePriority()
                changed()
            }
        }
    }

    isolated deinit { end() }

    /// The view that shows the image; nil after it has been finalized.
    var view: UnsafeMutableRawPointer? { viewReference.pointer }

    /// The current position in the model, which changes when items before it are inserted or removed; nil if the cell has none.
    var position: Int? {
        guard isItemAlive, case let position = gtk_list_item_get_position(item.opaque), position < .max else {
            return nil
        }
        return Int(position)
    }

    /// True if the cell is on the screen. Lists keep many cells that are not.
    var isMapped: Bool { view.map { gtk_widget_get_mapped($0.widget) != 0 } ?? false }

    var priority: LoadPriority { isMapped ? .high : .low }

    // MARK: Loading

    /// Records that the cell shows a URL, and its load unless that has finished already.
    func begin(_ url: URL?, _ operation: WebImageLoadOperation?) {
        self.url = url
        self.operation = operation.flatMap { $0.isFinished ? nil : $0 }
        // The cell may have been mapped since the load began.
        updatePriority()
    }

    /// True if the image has not been delivered yet.
    var isLoading: Bool { operation.map { !$0.isFinished } ?? false }

    /// Records that the cell is not bound any more.
    func reset() {
        isBound = false
        url = nil
        operation = nil
    }

    private func updatePriority() {
        view.flatMap(ViewState.existing)?.resizingPriority = priority
        guard let operation else { return }
        if operation.isFinished { self.operation = nil } else { operation.setPriority(priority) }
    }

    // MARK: Teardown

    /// Stops observing the view and the list item.
    func end() {
        for signal in mapping { signal.disconnect() }
        mapping = []
        guard isItemAlive else { return }
        isItemAlive = false
        g_object_weak_unref(item.object, Self.notify, watch)
        Unmanaged<Watch>.fromOpaque(watch).release()
    }

    /// Records that the list item has been finalized.
    func itemHasGone() { isItemAlive = false }

    private final class Watch: Sendable {
        let ended: @MainActor () -> Void
        init(_ ended: @escaping @MainActor () -> Void) { self.ended = ended }
    }

    private nonisolated static let notify: GWeakNotify = { data, _ in
        guard let data else { return }
        nonisolated(unsafe) let dataPointer = data
        MainActor.assumeIsolated { Unmanaged<Watch>.fromOpaque(dataPointer).takeRetainedValue().ended() }
    }
}
