import CWebImageGTK4
import WebImage

/// Shows another image while a view is highlighted.
@MainActor
final class HighlightController: ViewFeature {
    /// True if the program has set the highlight.
    var isForced = false { didSet { update() } }
    var content: PaintableContent? { didSet { update() } }
    private weak var state: ViewState?
    /// The program's icon in a `GtkImage`, to restore after the highlight.
    private var icon: ObjectReference?

    init(_ state: ViewState) {
        self.state = state
        Signal("state-flags-changed", of: state.view) { [weak self] in self?.update() }
    }

    func viewWillGo() { content = nil }

    /// True if the view is pressed, pointed at or selected, or highlighted by the program.
    var isHighlighted: Bool { isForced || state.map { Self.isHighlighted($0.view) } == true }

    /// Returns whether a view is pressed, pointed at or selected.
    static func isHighlighted(_ view: UnsafeMutableRawPointer) -> Bool {
        let flags = [GTK_STATE_FLAG_PRELIGHT, GTK_STATE_FLAG_ACTIVE, GTK_STATE_FLAG_SELECTED]
        let set = gtk_widget_get_state_flags(view.widget).rawValue
        return flags.contains { set & $0.rawValue != 0 }
    }

    /// Updates the visible content. An animated image is not replaced.
    func update() {
        guard let state, !state.isEnded else { return }
        let shown = isHighlighted && state.animation?.player == nil ? content : nil
        guard shown != nil || state.paintable.substitute != nil else { return }
        if shown != nil, state.paintable.substitute == nil { takePlace(in: state) }
        state.paintable.substitute = shown
        if shown == nil { giveBack(state) }
    }

    /// Sets the paintable on the view, whatever the view shows now.
    private func takePlace(in state: ViewState) {
        icon = nil
        if !state.isPaintableInstalled { adopt(in: state) }
        state.installPaintable()
    }

    /// Adopts the content that the program has set: it determines the size during the highlight and is shown again after it.
    private func adopt(in state: ViewState) {
        var other: OpaquePointer?
        if state.view.isA(gtk_picture_get_type()) {
            other = gtk_picture_get_paintable(state.view.opaque)
        } else if state.view.isA(gtk_image_get_type()) {
            other = gtk_image_get_paintable(state.view.opaque)
            // `GtkImage` knows best how to draw icons.
            icon = ThemeIcon.source(of: state.view)
        } else {
            return
        }
        // The image loaded before is not visible any more.
        state.shown = nil
        state.paintable.show(other.map { .paintable(ObjectReference(retaining: UnsafeMutableRawPointer($0))) })
    }

    private func giveBack(_ state: ViewState) {
        guard let icon else { return }
        self.icon = nil
        // Unless another image was set in the meantime.
        guard state.paintable.content == nil,
            gtk_image_get_paintable(state.view.opaque) == state.paintable.pointer.opaque
        else { return }
        gtk_image_set_from_gicon(state.view.opaque, OpaquePointer(icon.pointer))
    }
}

extension ViewState {
    private static let highlightKey = "highlight"

    var highlight: HighlightController? { parts[Self.highlightKey] as? HighlightController }

    func makeHighlight() -> HighlightController {
        if let highlight { return highlight }
        let part = HighlightController(self)
        parts[Self.highlightKey] = part
        return part
    }
}
