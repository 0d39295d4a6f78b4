import CWebImageGTK4
public import FoundationEssentials
import WebImage

/// The child widgets of a button: its image, or a background behind the image or the program's own child.
@MainActor
final class ButtonWidgets {
    private var pictures: [ButtonRole: ObjectReference] = [:]
    private var overlay: ObjectReference?
    /// The widget in front of the background.
    private var content: ObjectReference?

    /// The `GtkPicture` of a role; nil if it has not been needed yet.
    func picture(_ role: ButtonRole) -> UnsafeMutableRawPointer? { pictures[role]?.pointer }

    /// Puts the `GtkPicture` of a role into the button.
    func install(_ role: ButtonRole, in button: UnsafeMutableRawPointer) {
        if pictures[role] == nil, let made = gtk_picture_new() {
            let picture = UnsafeMutableRawPointer(made)
            pictures[role] = ObjectReference(retaining: picture)
            gtk_picture_set_content_fit(
                picture.opaque,
                role == .image ? GTK_CONTENT_FIT_SCALE_DOWN : GTK_CONTENT_FIT_COVER
            )
        }
        arrange(button, after: role)
    }

    private func arrange(_ button: UnsafeMutableRawPointer, after role: ButtonRole) {
        let pointer = button.assumingMemoryBound(to: GtkButton.self)
        let child = gtk_button_get_child(pointer).map { UnsafeMutableRawPointer($0) }
        // The program may have set another child since the last call.
        let present = child == overlay?.pointer ? content : child.map { ObjectReference(retaining: $0) }
        let wanted = role == .image ? pictures[.image] : present
        keepName(of: pointer)
        guard let background = pictures[.background] else {
            if let wanted, child != wanted.pointer { gtk_button_set_child(pointer, wanted.pointer.widget) }
            return
        }
        guard
            let overlay = overlay ?? gtk_overlay_new().map({ ObjectReference(retaining: UnsafeMutableRawPointer($0)) })
        else { return }
        self.overlay = overlay
        if child != overlay.pointer { replaceChild(of: pointer, by: overlay) }
        put(background, on: overlay, at: 0)
        if let content, content.pointer != wanted?.pointer, isChild(content, of: overlay) {
            gtk_overlay_remove_overlay(overlay.pointer.opaque, content.pointer.widget)
        }
        content = wanted
        if let wanted { put(wanted, on: overlay, at: 1) }
        if role == .image { for style in Self.contentStyles { gtk_widget_remove_css_class(button.widget, style) } }
        // The widget in front determines the button's size.
        gtk_overlay_set_measure_overlay(overlay.pointer.opaque, background.pointer.widget, wanted == nil ? 1 : 0)
    }

    /// CSS classes that GTK sets on a button for its kind of child.
    private static let contentStyles = ["text-button", "image-button"]

    /// Replaces the button's child, but keeps its CSS classes: the former child stays visible on top of the background.
    private func replaceChild(of button: UnsafeMutablePointer<GtkButton>, by child: ObjectReference) {
        let widget = UnsafeMutableRawPointer(button).widget
        let styles = Self.contentStyles.filter { gtk_widget_has_css_class(widget, $0) != 0 }
        gtk_button_set_child(button, child.pointer.widget)
        for style in styles { gtk_widget_add_css_class(widget, style) }
    }

    private func put(_ child: ObjectReference, on overlay: ObjectReference, at place: Int) {
        guard !isChild(child, of: overlay) else { return }
        gtk_overlay_add_overlay(overlay.pointer.opaque, child.pointer.widget)
        if place == 1 { gtk_overlay_set_measure_overlay(overlay.pointer.opaque, child.pointer.widget, 1) }
    }

    private func isChild(_ child: ObjectReference, of overlay: ObjectReference) -> Bool {
        gtk_widget_get_parent(child.pointer.widget).map { UnsafeMutableRawPointer($0) } == overlay.pointer
    }

    /// Keeps the label's text as the accessible name of a button whose label is replaced by an image.
    private func keepName(of button: UnsafeMutablePointer<GtkButton>) {
        guard let text = gtk_button_get_label(button) else { return }
        // The text as displayed, without the underscore that marks the mnemonic.
        let child = gtk_button_get_child(button).map { UnsafeMutableRawPointer($0) }
        let shown = child.flatMap { $0.isA(gtk_label_get_type()) ? gtk_label_get_text($0.opaque) : nil }
        var value = GValue()
        // G_TYPE_STRING, a macro that Swift does not import.
        g_value_init(&value, GType(16 << 2))
        g_value_set_string(&value, shown ?? text)
        var property = GTK_ACCESSIBLE_PROPERTY_LABEL
        gtk_accessible_update_property_value(OpaquePointer(button), 1, &property, &value)
        g_value_unset(&value)
    }
}

/// A state of a button that can have separate images. The raw value is the corresponding `GtkStateFlags`.
///
/// If a button is in several states at once, the first of insensitive, active, checked and prelight applies. A state without an image shows
/// the image of ``normal``.
public enum ButtonState: UInt32, Sendable, Hashable, CaseIterable {
    /// None of the other states.
    case normal = 0
    /// The button is pressed.
    case active = 1
    /// The pointer is over the button.
    case prelight = 2
    /// The button is disabled.
    case insensitive = 8
    /// A `GtkToggleButton` is on.
    case checked = 2048

    /// Returns the state that a widget is in.
    @MainActor
    static func of(_ view: UnsafeMutableRawPointer) -> ButtonState {
        let flags = gtk_widget_get_state_flags(view.widget).rawValue
        return [.insensitive, .active, .checked, .prelight].first { flags & $0.rawValue != 0 } ?? .normal
    }
}

/// The images that a button shows now. For the main thread.
extension GObjectPointer {
    /// The URL of the image for the button's current state, or else of ``ImageSlot/image``.
    @MainActor
    public var currentImageURL: URL? { imageURL(in: .image(.of(gobjectPointer))) ?? imageURL(in: .image) }

    /// The URL of the background for the button's current state, or else of ``ImageSlot/background``.
    @MainActor
    public var currentBackgroundImageURL: URL? {
        imageURL(in: .background(.of(gobjectPointer))) ?? imageURL(in: .background)
    }

    /// The `GtkPicture` that shows images, for changes to its layout or description; nil before an image was set. The button owns it.
    @MainActor
    public var buttonPicture: OpaquePointer? { picture(.image) }

    /// The `GtkPicture` that shows backgrounds, for changes to its layout; nil before a background was set. The button owns it.
    @MainActor
    public var buttonBackgroundPicture: OpaquePointer? { picture(.background) }

    @MainActor
    private func picture(_ role: ButtonRole) -> OpaquePointer? {
        ViewState.existing(gobjectPointer)?.button?.picture(role).map { OpaquePointer($0) }
    }
}
