import CWebImageGTK4
import CWebImageGTKShims

/// A pointer to a GTK object.
///
/// Swift bindings of GTK use different pointer types: `UnsafeMutablePointer<GtkWidget>`, `OpaquePointer`, `UnsafeMutableRawPointer`. All of
/// them conform, so any pointer to a `GtkPicture` is an image view; the object's class is checked at run time. A wrapper class of a binding
/// conforms in one line, by returning its pointer.
public protocol GObjectPointer {
    /// The address of the object.
    var gobjectPointer: UnsafeMutableRawPointer { get }
}

extension UnsafeMutableRawPointer: GObjectPointer {
    /// The pointer itself.
    public var gobjectPointer: UnsafeMutableRawPointer { self }
}

extension OpaquePointer: GObjectPointer {
    /// The same address.
    public var gobjectPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

extension UnsafeMutablePointer: GObjectPointer {
    /// The same address.
    public var gobjectPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}

extension UnsafeMutableRawPointer {
    /// The pointer type of GTK functions on widgets.
    var widget: UnsafeMutablePointer<GtkWidget> { assumingMemoryBound(to: GtkWidget.self) }
    /// The pointer type of functions on objects whose struct is public.
    var object: UnsafeMutablePointer<GObject> { assumingMemoryBound(to: GObject.self) }
    /// The pointer type of functions on objects whose struct is private.
    var opaque: OpaquePointer { OpaquePointer(self) }

    /// Returns whether the object is an instance of a class or implements an interface.
    func isA(_ type: GType) -> Bool { webimage_gtk_is_a(self, Int(bitPattern: type)) }
}
