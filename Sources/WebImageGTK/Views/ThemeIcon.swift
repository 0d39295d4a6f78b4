import CWebImageGTK4
import CWebImageGTKShims
import WebImage

/// An icon of the user's theme for a view: looked up for the size at which it is drawn, never drawn larger than its nominal size, as in
/// `GtkImage`, and centred in a larger area.
@MainActor
final class ThemeIcon {
    /// The biggest icon size that all themes support, in points.
    static let usualSide = 48

    private let icon: ObjectReference
    private let view: WeakObject
    private let side: Int

    private static let quark = g_quark_from_static_string("webimage-icon")

    /// Returns an icon by its name.
    static func named(_ name: String, for view: UnsafeMutableRawPointer) -> PaintableContent? {
        guard let icon = g_themed_icon_new(name) else { return nil }
        return content(ObjectReference(adopting: UnsafeMutableRawPointer(icon)), for: view, side: side(of: view))
    }

    /// Returns the icon that a `GtkImage` shows, as it draws it; nil if it shows none.
    static func shown(by image: UnsafeMutableRawPointer) -> PaintableContent? {
        guard let icon = source(of: image) else { return nil }
        let isLarge = gtk_image_get_icon_size(image.opaque) == GTK_ICON_SIZE_LARGE
        return content(icon, for: image, side: pixelSize(of: image) ?? (isLarge ? 32 : 16))
    }

    /// Returns the `GIcon` that a `GtkImage` shows; nil if it shows none.
    static func source(of image: UnsafeMutableRawPointer) -> ObjectReference? {
        switch gtk_image_get_storage_type(image.opaque) {
        case GTK_IMAGE_ICON_NAME:
            guard let icon = gtk_image_get_icon_name(image.opaque).flatMap(g_themed_icon_new) else { return nil }
            return ObjectReference(adopting: UnsafeMutableRawPointer(icon))
        case GTK_IMAGE_GICON:
            return gtk_image_get_gicon(image.opaque).map { ObjectReference(retaining: UnsafeMutableRawPointer($0)) }
        default: return nil
        }
    }

    private static func side(of view: UnsafeMutableRawPointer) -> Int {
        view.isA(gtk_image_get_type()) ? pixelSize(of: view) ?? usualSide : usualSide
    }

    private static func pixelSize(of image: UnsafeMutableRawPointer) -> Int? {
        let side = gtk_image_get_pixel_size(image.opaque)
        return side > 0 ? Int(side) : nil
    }

    /// Returns a paintable that retains the icon, but not the view.
    private static func content(_ icon: ObjectReference, for view: UnsafeMutableRawPointer, side: Int)
        -> PaintableContent?
    {
        guard let pointer = webimage_gtk_paintable_new(calls) else { return nil }
        let owner = Unmanaged.passRetained(ThemeIcon(icon, view, side)).toOpaque()
        g_object_set_qdata_full(pointer.assumingMemoryBound(to: GObject.self), quark, owner) { data in
            if let data { Unmanaged<ThemeIcon>.fromOpaque(data).release() }
        }
        webimage_gtk_paintable_set_owner(pointer, owner)
        webimage_gtk_paintable_set_size(pointer, Int32(clamping: side), Int32(clamping: side), 1)
        return .paintable(ObjectReference(adopting: pointer))
    }

    private init(_ icon: ObjectReference, _ view: UnsafeMutableRawPointer, _ side: Int) {
        self.icon = icon
        self.view = WeakObject(view)
        self.side = side
    }

    // MARK: Drawing

    /// Returns the icon for a size in points. GTK caches recent lookups and drops them when the theme changes.
    private func lookUp(_ side: Int) -> ObjectReference? {
        guard let view = view.pointer else { return nil }
        let found = gtk_icon_theme_lookup_by_gicon(
            gtk_icon_theme_get_for_display(gtk_widget_get_display(view.widget)),
            icon.pointer.opaque,
            Int32(clamping: side),
            gtk_widget_get_scale_factor(view.widget),
            gtk_widget_get_direction(view.widget),
            GtkIconLookupFlags(rawValue: 0)
        )
        return found.map { ObjectReference(adopting: UnsafeMutableRawPointer($0)) }
    }

    private func draw(into snapshot: OpaquePointer, _ width: Double, _ height: Double) {
        let room = min(width, height, Double(side))
        guard room >= 1, let view = view.pointer, let found = lookUp(Int(room)) else { return }
        let side = Double(Int(room))
        gtk_snapshot_save(snapshot)
        var origin = graphene_point_t(
            x: Float(((width - side) / 2).rounded(.down)),
            y: Float(((height - side) / 2).rounded(.down))
        )
        gtk_snapshot_translate(snapshot, &origin)
        let color = ViewSettings.textColor(of: view)
        gtk_symbolic_paintable_snapshot_symbolic(found.pointer.opaque, snapshot, side, side, [color], 1)
        gtk_snapshot_restore(snapshot)
    }

    /// The address of a new reference to the icon at its nominal size.
    private var stillAddress: UInt? {
        lookUp(side).map { UInt(bitPattern: g_object_ref($0.pointer)) }
    }

    private nonisolated(unsafe) static let calls: UnsafePointer<webimage_gtk_paintable_calls> = {
        let calls = UnsafeMutablePointer<webimage_gtk_paintable_calls>.allocate(capacity: 1)
        calls.initialize(
            to: webimage_gtk_paintable_calls(
                snapshot: { owner, snapshot, width, height in
                    guard let owner, let snapshot else { return }
                    nonisolated(unsafe) let (ownerPointer, snapshotPointer) = (owner, snapshot)
                    MainActor.assumeIsolated {
                        Unmanaged<ThemeIcon>.fromOpaque(ownerPointer).takeUnretainedValue()
                            .draw(into: snapshotPointer.opaque, width, height)
                    }
                },
                current_image: { owner in
                    guard let owner else { return nil }
                    nonisolated(unsafe) let ownerPointer = owner
                    let address = MainActor.assumeIsolated { () -> UInt? in
                        Unmanaged<ThemeIcon>.fromOpaque(ownerPointer).takeUnretainedValue().stillAddress
                    }
                    return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
                }
            )
        )
        return UnsafePointer(calls)
    }()
}
