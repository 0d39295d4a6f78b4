import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Icons in place of images: sharp at any view size, like `GtkImage`'s.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct IconPlaceholderTests {
    let bench: ViewBench
    let url = ViewBench.url("a.bmp")
    private let names = ["image-missing", "open-menu-symbolic"]

    init() throws { bench = try ViewBench() }

    private func widget(_ pointer: OpaquePointer) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

    /// The drawing of a view in pixels of its display.
    private func pixels(_ view: UnsafeMutableRawPointer) throws -> WidgetPixels {
        let paintable = try #require(gtk_widget_paintable_new(view.widget))
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        let scale = Int(gtk_widget_get_scale_factor(view.widget))
        let (width, height) = (gtk_widget_get_width(view.widget), gtk_widget_get_height(view.widget))
        return try WidgetPixels(paintable: paintable, Int(width) * scale, Int(height) * scale, view)
    }

    /// A view with an icon as its placeholder.
    private func placeholder(_ name: String, in view: OpaquePointer, _ width: Int, _ height: Int) async throws
        -> WidgetPixels
    {
        let window = try await TestWindow(widget(view), width, height)
        _ = view.setImage(with: url, placeholder: .icon(name: name), context: bench.context, completed: nil)
        await window.frames()
        let look = try pixels(widget(view))
        window.close()
        return look
    }

    /// A `GtkImage` that shows an icon at a size in points.
    private func image(_ name: String, _ side: Int, in width: Int, _ height: Int) async throws -> WidgetPixels {
        let view = OpaquePointer(try #require(gtk_image_new_from_icon_name(name)))
        gtk_image_set_pixel_size(view, gint(side))
        let window = try await TestWindow(widget(view), width, height)
        await window.frames()
        let look = try pixels(widget(view))
        window.close()
        return look
    }

    @Test(arguments: [(32, 32, 32), (60, 40, 40), (184, 138, 48), (400, 300, 48)])
    func `An icon has its usual size in the middle of a view, and is smaller in a smaller one`(
        width: Int,
        height: Int,
        side: Int
    ) async throws {
        for name in names {
            let isSame =
                try await placeholder(name, in: ViewBench.makeImage(), width, height)
                == image(name, side, in: width, height)
            #expect(isSame, "\(name)")
        }
    }

    @Test func `An icon is neither stretched nor cut, for every content fit of the view`() async throws {
        let usual = try await image(names[0], 48, in: 184, 138)
        for fit in [GTK_CONTENT_FIT_FILL, GTK_CONTENT_FIT_COVER, GTK_CONTENT_FIT_SCALE_DOWN] {
            let view = ViewBench.makeImage()
            gtk_picture_set_content_fit(view, fit)
            let isSame = try await placeholder(names[0], in: view, 184, 138) == usual
            #expect(isSame, "\(fit)")
        }
    }

    @Test func `In a GtkImage an icon has the widget's icon size`() async throws {
        let view = OpaquePointer(try #require(gtk_image_new()))
        gtk_image_set_pixel_size(view, 96)
        let isSame = try await placeholder(names[0], in: view, 120, 120) == image(names[0], 96, in: 120, 120)
        #expect(isSame)
    }

    @Test func `An icon uses all pixels of the display`() async throws {
        try await DisplayScale.with(2) {
            let look = try await placeholder(names[1], in: ViewBench.makeImage(), 100, 80)
            #expect(look.width == 200)
            let isSame = try await look == image(names[1], 48, in: 100, 80)
            #expect(isSame)
        }
    }

    @Test(arguments: ["named", "large", "sized", "general"])
    func `A GtkImage's own icon looks the same when a load replaces it`(kind: String)
        async throws
    {
        let view = OpaquePointer(try #require(gtk_image_new_from_icon_name(names[0])))
        switch kind {
        case "large": gtk_image_set_icon_size(view, GTK_ICON_SIZE_LARGE)
        case "sized": gtk_image_set_pixel_size(view, 60)
        case "general":
            let icon = try #require(g_themed_icon_new(names[1]))
            gtk_image_set_from_gicon(view, icon)
            g_object_unref(UnsafeMutableRawPointer(icon))
        default: break
        }
        let window = try await TestWindow(widget(view), 120, 80)
        await window.frames()
        let before = try pixels(widget(view))
        ViewState.of(widget(view)).takeOverContent()
        try #require(gtk_image_get_storage_type(view) == GTK_IMAGE_PAINTABLE)
        await window.frames()
        let isSame = try pixels(widget(view)) == before
        #expect(isSame)
        window.close()
    }

    @Test func `An icon paintable's current image is an icon`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(widget(view))
        let content = try #require(ThemeIcon.named(names[0], for: widget(view)))
        guard case .paintable(let reference) = content else { return }
        let still = try #require(gdk_paintable_get_current_image(reference.pointer.opaque))
        #expect(UnsafeMutableRawPointer(still).isA(gtk_icon_paintable_get_type()))
        g_object_unref(UnsafeMutableRawPointer(still))
        window.close()
        let gone = try #require(gdk_paintable_get_current_image(reference.pointer.opaque))
        #expect(gdk_paintable_get_intrinsic_width(gone) == 48, "empty, when its view was released")
        g_object_unref(UnsafeMutableRawPointer(gone))
    }
}
