import CWebImageGTK4
import Testing
import WebImage

@testable import WebImageGTK

/// Natural sizes of images.
@Suite(.serialized, .needsDisplay) @MainActor struct NaturalSizeTests {
    /// An image of few pixels that was derived from one of very many.
    private func thumbnail(of width: Int, _ height: Int, _ shown: (Int, Int)) throws -> Image {
        var metadata = ImageMetadata()
        (metadata.sourceWidth, metadata.sourceHeight, metadata.isThumbnail) = (width, height, true)
        return Image(
            bitmap: try .allocate(width: shown.0, height: shown.1, pixelFormat: .rgb8),
            metadata: metadata
        )
    }

    private func view(showing image: Image) -> UnsafeMutableRawPointer {
        let view = UnsafeMutableRawPointer(ViewBench.makeImage())
        let state = ViewState.of(view)
        state.installPaintable()
        state.paintable.show(PaintableContent(image))
        return view
    }

    @Test(arguments: [GTK_ORIENTATION_HORIZONTAL.rawValue, GTK_ORIENTATION_VERTICAL.rawValue])
    func `Images of enormous natural size fit into one box`(orientation: UInt32) async throws {
        try Display.open()
        let orientation = GtkOrientation(rawValue: orientation)
        let box = UnsafeMutableRawPointer(try #require(gtk_box_new(orientation, 0)))
        for _ in 0..<3 {
            let view = view(showing: try thumbnail(of: 1_000_000_000, 750_000_000, (40, 30)))
            gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), view.widget)
        }
        let holder = ObjectReference(retaining: box)
        var natural: gint = 0
        gtk_widget_measure(box.widget, orientation, -1, nil, &natural, nil, nil)
        #expect(natural > 1_000_000)
        withExtendedLifetime(holder) {}
    }

    @Test func `Images keep their aspect ratio`() async throws {
        try Display.open()
        let view = view(showing: try thumbnail(of: 1_000_000_000, 750_000_000, (40, 30)))
        let holder = ObjectReference(retaining: view)
        let paintable = ViewState.of(view).paintable.pointer.opaque
        let (width, height) = (
            gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)
        )
        #expect(width > 0 && Int(width) * 3 == Int(height) * 4)
        ViewState.of(view).paintable.show(PaintableContent(try thumbnail(of: 1_000_000_000, 1, (4000, 1))))
        #expect(gdk_paintable_get_intrinsic_width(paintable) == width)
        #expect(gdk_paintable_get_intrinsic_height(paintable) > 0)
        ViewState.of(view).paintable.show(PaintableContent(try thumbnail(of: 60_000, 45_000, (40, 30))))
        #expect(gdk_paintable_get_intrinsic_width(paintable) == 60_000)
        withExtendedLifetime(holder) {}
    }
}
