import CWebImageGTK4
import WebImage

/// Shows another picture while a view is highlighted.
@MainActor
final class HighlightPart: ViewPart {
    /// Whether the program says that it is.
    var isForced = false { didSet { update() } }
    var content: PaintableContent? { didSet { update() } }
    private weak var state: ViewState?

    init(_ state: ViewState) {
        self.state = state
        Signal("state-flags-changed", of: state.view) { [weak self] in self?.update() }
    }

    func viewWillGo() { content = nil }

    /// Whether the view is highlighted: pressed, pointed at, selected, or by the program.
    var isHighlighted: Bool { isForced || state.map { Self.isHighlighted($0.view) } == true }

    /// Whether a view is pressed, pointed at or selected.
    static func isHighlighted(_ view: UnsafeMutableRawPointer) -> Bool {
        let flags = [GTK_STATE_FLAG_PRELIGHT, GTK_STATE_FLAG_ACTIVE, GTK_STATE_FLAG_SELECTED]
        let set = gtk_widget_get_state_flags(view.widget).rawValue
        return flags.contains { set & $0.rawValue != 0 }
    }

    /// Looks at what is to be shown. A picture that moves is not replaced.
    func update() {
        guard let state, !state.isEnded else { return }
        let shown = isHighlighted && state.animation?.player == nil ? content : nil
        if shown == nil, state.paintable.substitute == nil { return }
        state.paintable.substitute = shown
    }
}

extension ViewState {
    /// The slot of the highlighted image.
    static let highlightedKey = "highlightedImage"

    var highlight: HighlightPart? { parts[Self.highlightedKey] as? HighlightPart }

    func makeHighlight() -> HighlightPart {
        if let highlight { return highlight }
        let part = HighlightPart(self)
        parts[Self.highlightedKey] = part
        return part
    }

    /// Shows the picture of a URL while the view is highlighted.
    func loadHighlighted(_ request: ViewLoad.Request) -> WebImageLoadOperation? {
        let part = makeHighlight()
        var request = request
        request.context = request.context ?? WebImageContext()
        request.context?.setImageOperationKey = Self.highlightedKey
        return load(request, key: Self.highlightedKey) { [weak self, weak part] content, _ in
            if content != nil {
                self?.adoptPicture()
                self?.installPaintable()
            }
            part?.content = content
        }
    }

    /// Takes over what the program had the view show, so that it is there when the highlight ends.
    private func adoptPicture() {
        guard paintable.content == nil else { return }
        if view.isA(gtk_picture_get_type()) {
            adopt(gtk_picture_get_paintable(view.opaque))
        } else if view.isA(gtk_image_get_type()) {
            if gtk_image_get_storage_type(view.opaque) == GTK_IMAGE_ICON_NAME,
                let name = gtk_image_get_icon_name(view.opaque)
            {
                paintable.show(ViewPlaceholder.icon(name: String(cString: name)).content(for: view))
            } else {
                adopt(gtk_image_get_paintable(view.opaque))
            }
        }
    }

    private func adopt(_ other: OpaquePointer?) {
        guard let other, other != paintable.pointer.opaque else { return }
        paintable.show(.paintable(ObjectReference(retaining: UnsafeMutableRawPointer(other))))
    }
}
