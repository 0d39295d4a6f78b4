import CWebImageGTK4
import WebImage

/// The images of a button, by state.
@MainActor
final class ButtonSlot: ViewFeature {
    private struct Entry {
        let content: PaintableContent
        /// A number that is unique to each content.
        let version: Int
        let slot: ImageSlot
        /// The load that delivered the content; nil for a placeholder.
        let load: ViewLoad?

        /// Returns whether the content is the same animation as another one, with more frames or more pixels.
        @MainActor
        func continues(_ former: Entry?) -> Bool {
            guard let former, let load, let number = former.load?.number, load.number == number else { return false }
            return load.request.isUpgrade || former.content.image?.metadata.isIncremental == true
        }
    }

    private let widgets = ButtonWidgets()
    private var entries: [ButtonPlace: Entry] = [:]
    private var lastVersion = 0
    /// The load whose image is set next.
    var delivery: ViewLoad?
    /// The entries that are visible now.
    private var shown: [ButtonRole: Entry] = [:]
    private weak var state: ViewState?

    init(_ state: ViewState) {
        self.state = state
        Signal("state-flags-changed", of: state.view) { [weak self] in
            for role in ButtonRole.allCases { self?.refresh(role) }
        }
    }

    func viewWillGo() {
        entries = [:]
        for role in ButtonRole.allCases { refresh(role) }
    }

    /// The `GtkPicture` of a role; nil before an image was set.
    func picture(_ role: ButtonRole) -> UnsafeMutableRawPointer? { widgets.picture(role) }

    // MARK: Loading

    /// Loads an image into a slot.
    func load(_ request: ViewLoad.Request, in slot: ImageSlot) -> WebImageLoadOperation? {
        guard let state else { return nil }
        let role = slot.place.role
        // When the button is being destroyed, a completion may start another load. It must not add a child then: nothing would remove it.
        if gtk_widget_in_destruction(state.view.widget) == 0 {
            widgets.install(role, in: state.view)
            connect(role)
        }
        return state.begin(
            request,
            in: slot,
            setter: { [weak self] content, _ in self?.set(content, slot) },
            transitionTarget: { [weak self] in self?.transitionTarget($0, slot) }
        )
    }

    private func connect(_ role: ButtonRole) {
        guard let picture = widgets.picture(role) else { return }
        let inner = ViewState.of(picture)
        inner.installPaintable()
        inner.paintable.sizeHandler = { [weak self] width, height in
            guard let self, let slot = shown[role]?.slot else { return }
            state?.noteDrawn(state?.slots[slot]?.shown, width, height)
        }
    }

    private func paintable(_ role: ButtonRole) -> ImagePaintable? {
        widgets.picture(role).map { ViewState.of($0).paintable }
    }

    // MARK: Showing

    private func set(_ content: PaintableContent?, _ slot: ImageSlot) {
        store(content, slot)
        refresh(slot.place.role)
    }

    private func store(_ content: PaintableContent?, _ slot: ImageSlot) {
        lastVersion += 1
        let load = delivery.take()
        entries[slot.place] = content.map { Entry(content: $0, version: lastVersion, slot: slot, load: load) }
    }

    private func transitionTarget(_ content: PaintableContent?, _ slot: ImageSlot) -> ImagePaintable? {
        let place = slot.place
        guard let state, let paintable = paintable(place.role) else { return nil }
        // Visible is the image of the button's current state, or else the one of the normal state.
        let current = ButtonPlace(role: place.role, state: .of(state.view))
        guard place == current || (place.state == .normal && entries[current] == nil) else { return nil }
        // A state whose image is removed shows the normal state's image, which belongs to another load.
        let normal = ButtonPlace(role: place.role, state: .normal)
        guard content != nil || place == normal || entries[normal] == nil else { return nil }
        store(content, slot)
        shown[place.role] = entries[place]
        return paintable
    }

    /// The entry to show now.
    private func entry(_ role: ButtonRole) -> Entry? {
        guard let state else { return nil }
        return entries[ButtonPlace(role: role, state: .of(state.view))]
            ?? entries[ButtonPlace(role: role, state: .normal)]
    }

    private func refresh(_ role: ButtonRole) {
        let entry = entry(role)
        // Unchanged content must not be set again: it may be playing, or a transition to it may be running.
        guard entry?.version != shown[role]?.version else { return }
        let former = shown[role]
        shown[role] = entry
        guard let inner = widgets.picture(role).map({ ViewState.of($0) }) else { return }
        inner.animation?.continues = entry?.continues(former) == true
        inner.paintable.show(entry?.content)
        inner.animation?.continues = false
    }
}

extension ViewState {
    private static let buttonKey = "button"

    var button: ButtonSlot? { parts[Self.buttonKey] as? ButtonSlot }

    /// The state of the widget that shows the image: for a button, one of the `GtkPicture`s in it.
    var imageState: ViewState {
        guard let button, let picture = button.picture(.image) ?? button.picture(.background) else { return self }
        return ViewState.of(picture)
    }

    func makeButton() -> ButtonSlot {
        precondition(view.isA(gtk_button_get_type()), "not a GtkButton")
        if let button { return button }
        let part = ButtonSlot(self)
        parts[Self.buttonKey] = part
        return part
    }
}
