import CWebImageGTK4
import WebImageGTK

typealias Widget = UnsafeMutablePointer<GtkWidget>

/// Helpers that replace GTK's C macros and repeated calls.
@MainActor
enum Make {
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: Widget...) -> Widget {
        let box = required(gtk_box_new(orientation, spacing))
        for child in children { gtk_box_append(box.cast(), child) }
        return box
    }

    static func label(_ text: String = "", classes: String...) -> Widget {
        let label = required(gtk_label_new(text))
        gtk_label_set_xalign(OpaquePointer(label), 0)
        for name in classes { gtk_widget_add_css_class(label, name) }
        return label
    }

    /// Makes a button with an icon; the title is its tooltip and accessible label.
    static func button(icon: String, _ title: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        let button = required(gtk_button_new_from_icon_name(icon))
        gtk_widget_set_tooltip_text(button, title)
        setAccessibleLabel(of: button, title)
        onClick(button, action)
        return button
    }

    static func button(_ title: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        let button = required(gtk_button_new_with_label(title))
        onClick(button, action)
        return button
    }

    static func onClick(_ button: Widget, _ action: @escaping @MainActor () -> Void) {
        Signal("clicked", of: UnsafeMutableRawPointer(button), action)
    }

    static func setAccessibleLabel(of widget: Widget, _ text: String) {
        var property = GTK_ACCESSIBLE_PROPERTY_LABEL
        var value = GValue()
        gtk_accessible_property_init_value(property, &value)
        g_value_set_string(&value, text)
        gtk_accessible_update_property_value(widget.opaque, 1, &property, &value)
        g_value_unset(&value)
    }

    /// Makes a label wrap at a maximum width in characters.
    static func wrap(_ label: Widget, at letters: Int32) {
        gtk_label_set_wrap(label.opaque, 1)
        // Words may be long, such as file names and URLs.
        gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_max_width_chars(label.opaque, letters)
    }

    /// Connects a closure to a signal of a factory.
    ///
    /// - Parameter body: called with a `GtkListItem`.
    static func onItem(_ name: String, of factory: OpaquePointer, _ body: @escaping @MainActor (OpaquePointer) -> Void)
    {
        typealias Call = @convention(c) (UnsafeMutableRawPointer, OpaquePointer, UnsafeMutableRawPointer) -> Void
        let call: Call = { _, item, box in
            nonisolated(unsafe) let (itemPointer, boxPointer) = (item, box)
            MainActor.assumeIsolated {
                Unmanaged<ItemBody>.fromOpaque(boxPointer).takeUnretainedValue().body(itemPointer)
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(factory),
            name,
            unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(ItemBody(body)).toOpaque(),
            { box, _ in if let box { Unmanaged<ItemBody>.fromOpaque(box).release() } },
            GConnectFlags(rawValue: 0)
        )
    }

    private final class ItemBody: Sendable {
        let body: @MainActor (OpaquePointer) -> Void
        init(_ body: @escaping @MainActor (OpaquePointer) -> Void) { self.body = body }
    }

    /// Unwraps the result of a GTK constructor, which is optional only by its type: GTK aborts if memory is exhausted.
    static func required<Pointer>(_ object: Pointer?) -> Pointer {
        guard let object else { preconditionFailure("GTK constructor returned NULL") }
        return object
    }
}

/// Keeps a widget and its children alive after their window has been destroyed.
@MainActor
final class RetainedWidget {
    let widget: Widget

    init(_ widget: Widget) {
        self.widget = widget
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }
}

extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// Returns the pointer as one to another class of the same object, unchecked.
    func cast<Class>() -> UnsafeMutablePointer<Class> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Class.self)
    }

    var opaque: OpaquePointer { OpaquePointer(self) }

    func expand() {
        gtk_widget_set_hexpand(self, 1)
        gtk_widget_set_vexpand(self, 1)
    }

    func margins(_ points: Int32) {
        gtk_widget_set_margin_top(self, points)
        gtk_widget_set_margin_bottom(self, points)
        gtk_widget_set_margin_start(self, points)
        gtk_widget_set_margin_end(self, points)
    }
}
