import CWebImageGTK4
import CWebImageGTKShims

/// What points at an object of GTK.
///
/// Swift's bindings of GTK hand out pointers of different types: `UnsafeMutablePointer<GtkWidget>`, `OpaquePointer`,
/// `UnsafeMutableRawPointer`. All of them conform, so an image view is whatever pointer there is to a `GtkPicture`; what class the object
/// really has is looked up when it is used. A wrapper class of a binding conforms in one line, by returning its pointer.
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
    /// As functions of GTK on widgets want it.
    var widget: UnsafeMutablePointer<GtkWidget> { assumingMemoryBound(to: GtkWidget.self) }
    /// As functions on objects whose struct is public want it.
    var object: UnsafeMutablePointer<GObject> { assumingMemoryBound(to: GObject.self) }
    /// As functions on objects whose struct is private want it.
    var opaque: OpaquePointer { OpaquePointer(self) }

    /// Whether the object is of a class, or has an interface.
    func isA(_ type: GType) -> Bool { webimage_gtk_is_a(self, Int(bitPattern: type)) }
}
