import CWebImageGTK4

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
