import CWebImageGTK4

/// A state of a button that can have pictures of its own. The raw value is the `GtkStateFlags` that it stands for.
///
/// When a button is in several states at once, the first of insensitive, active, checked, prelight decides. A state without a picture of
/// its own shows that of ``normal``.
public enum ButtonState: UInt32, Sendable, Hashable, CaseIterable {
    /// None of the others.
    case normal = 0
    /// Pressed.
    case active = 1
    /// Under the pointer.
    case prelight = 2
    /// It cannot be used.
    case insensitive = 8
    /// A `GtkToggleButton` that is on.
    case checked = 2048

    /// The state that a widget is in.
    @MainActor
    static func of(_ view: UnsafeMutableRawPointer) -> ButtonState {
        let flags = gtk_widget_get_state_flags(view.widget).rawValue
        return [.insensitive, .active, .checked, .prelight].first { flags & $0.rawValue != 0 } ?? .normal
    }
}
