import CWebImageGTK4
import WebImageGTK

typealias Widget = UnsafeMutablePointer<GtkWidget>

/// Short forms of what a program in C would write with macros.
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

    /// A button with an icon, and what it does for those who do not see it.
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

    /// GTK's constructors of widgets end the program when there is no memory; they return nothing only by their type.
    static func required(_ widget: Widget?) -> Widget {
        guard let widget else { preconditionFailure("GTK made no widget") }
        return widget
    }
}

extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// The same object as one of a class that is known to be its.
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
