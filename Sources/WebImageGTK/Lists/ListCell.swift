import CWebImageGTK4
import FoundationEssentials
import WebImage

/// A cell of a list: what GTK calls its list item, the view in it that shows the picture, and the load of that.
@MainActor
final class ListCell {
    /// Valid until ``itemHasGone()``.
    nonisolated(unsafe) let item: UnsafeMutableRawPointer
    private let viewReference: WeakObject
    /// What it shows or waits for; nil while it is bound to nothing.
    private(set) var url: URL?
    /// The load, as long as it runs.
    private(set) var operation: WebImageLoadOperation?
    var isBound = false { didSet { if isBound { hasContent = true } } }
    /// Whether its view may show something of the last item.
    var hasContent = false
    private var mapping: [Signal] = []
    private var isItemAlive = true
    // Retained until the item tells that it goes, or is not asked for that any more.
    private nonisolated(unsafe) let watch: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - changed: called when the view comes onto the screen or leaves it.
    ///   - ended: called when the list item has gone.
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

    /// The view that shows the picture; nil when it has gone.
    var view: UnsafeMutableRawPointer? { viewReference.pointer }

    /// The position in the model now: it changes when others before it come and go; nil when it has none.
    var position: Int? {
        guard isItemAlive, case let position = gtk_list_item_get_position(item.opaque), position < .max else {
            return nil
        }
        return Int(position)
    }

    /// Whether it is on the screen. Lists keep many cells that are not.
    var isMapped: Bool { view.map { gtk_widget_get_mapped($0.widget) != 0 } ?? false }

    var priority: LoadPriority { isMapped ? .high : .low }

    // MARK: Loading

    /// The cell is to show a URL, which is being loaded unless it was there at once.
    func begin(_ url: URL?, _ operation: WebImageLoadOperation?) {
        self.url = url
        self.operation = operation.flatMap { $0.isFinished ? nil : $0 }
        // It may have come onto the screen between the two.
        updatePriority()
    }

    /// Whether the picture is still to come.
    var isLoading: Bool { operation.map { !$0.isFinished } ?? false }

    /// The cell shows nothing any more.
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

    // MARK: The end

    /// Lets go of list item and view.
    func end() {
        for signal in mapping { signal.disconnect() }
        mapping = []
        guard isItemAlive else { return }
        isItemAlive = false
        g_object_weak_unref(item.object, Self.notify, watch)
        Unmanaged<Watch>.fromOpaque(watch).release()
    }

    /// The list item is no more.
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
