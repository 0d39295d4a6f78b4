import CWebImageGTK4
import WebImage

/// The pictures of a button, by state.
@MainActor
final class ButtonPart: ViewPart {
    private struct Entry {
        let content: PaintableContent
        /// Another one for each content.
        let version: Int
        let slot: ImageSlot
        /// What brought it; nil for a placeholder.
        let load: ViewLoad?

        /// Whether it is the animation of another one, more of it or with more pixels.
        @MainActor
        func continues(_ former: Entry?) -> Bool {
            guard let former, let load, let number = former.load?.number, load.number == number else { return false }
            return load.request.isUpgrade || former.content.image?.metadata.isIncremental == true
        }
    }

    private let widgets = ButtonWidgets()
    private var entries: [ButtonPlace: Entry] = [:]
    private var lastVersion = 0
    /// The load whose picture comes next.
    var delivery: ViewLoad?
    /// What the pictures show.
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

    /// The `GtkPicture` of a role; nil before a picture was set.
    func picture(_ role: ButtonRole) -> UnsafeMutableRawPointer? { widgets.picture(role) }

    // MARK: Loading

    /// Shows the image of a URL in a slot.
    func load(_ request: ViewLoad.Request, in slot: ImageSlot) -> WebImageLoadOperation? {
        guard let state else { return nil }
        let role = slot.place.role
        // A completion that loads again when the button goes must not put into it what nobody takes out.
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
        // What is seen is of the button's own state, and else of the normal one.
        let current = ButtonPlace(role: place.role, state: .of(state.view))
        guard place == current || (place.state == .normal && entries[current] == nil) else { return nil }
        // A state without a picture gives way to that of the normal one, which has nothing to do with the load.
        let normal = ButtonPlace(role: place.role, state: .normal)
        guard content != nil || place == normal || entries[normal] == nil else { return nil }
        store(content, slot)
        shown[place.role] = entries[place]
        return paintable
    }

    /// What is to be seen now.
    private func entry(_ role: ButtonRole) -> Entry? {
        guard let state else { return nil }
        return entries[ButtonPlace(role: role, state: .of(state.view))]
            ?? entries[ButtonPlace(role: role, state: .normal)]
    }

    private func refresh(_ role: ButtonRole) {
        let entry = entry(role)
        // What is shown may be playing, or a transition may lead to it.
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

    var button: ButtonPart? { parts[Self.buttonKey] as? ButtonPart }

    /// That of the view in which pictures are seen: for a button one of those in it.
    var stateOfPicture: ViewState {
        guard let button, let picture = button.picture(.image) ?? button.picture(.background) else { return self }
        return ViewState.of(picture)
    }

    func makeButton() -> ButtonPart {
        precondition(view.isA(gtk_button_get_type()), "not a GtkButton")
        if let button { return button }
        let part = ButtonPart(self)
        parts[Self.buttonKey] = part
        return part
    }
}
