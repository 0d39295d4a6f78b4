import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Views in which the program shows its own content after an image was loaded.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ForeignContentTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func middle(_ window: TestWindow, _ view: OpaquePointer) async throws -> [UInt8] {
        await window.frames()
        return try window.pixels(of: UnsafeMutableRawPointer(view)).middle
    }

    private func texture(_ data: Data) throws -> Texture {
        let image = try ImageCodersManager.shared.decode(data, options: ImageDecodeOptions())
        return try #require(Texture.of(image))
    }

    /// A view that shows the loaded image, red, and has a highlighted image, blue.
    private func highlightable(_ view: OpaquePointer) async throws -> TestWindow {
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        try await bench.begin(view, a)
        try await bench.end(view, a)
        view.setImage(with: b, in: .highlighted, context: bench.context)
        try #require(await bench.loader.request(of: b))
        try await bench.end(view, b, with: .success(ViewBench.blue))
        return window
    }

    @Test(arguments: [false, true])
    func `A highlight gives way to the program's content, and not to the previous image`(isImage: Bool) async throws {
        let view = isImage ? OpaquePointer(try #require(gtk_image_new())) : ViewBench.makeImage()
        if isImage { gtk_image_set_pixel_size(view, 40) }
        let window = try await highlightable(view)
        let green = try texture(ViewBench.green)
        isImage
            ? gtk_image_set_from_paintable(view, green.pointer) : gtk_picture_set_paintable(view, green.pointer)
        for _ in 0..<2 {
            #expect(try await middle(window, view) == [0, 255, 0, 255])
            view.isHighlighted = true
            #expect(try await middle(window, view) == [0, 0, 255, 255])
            view.isHighlighted = false
        }
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        #expect(state.shown == nil, "nothing can be loaded again with more pixels")
        window.close()
    }

    @Test func `A highlight gives way to the program's icon, and to nothing`() async throws {
        let view = OpaquePointer(try #require(gtk_image_new()))
        gtk_image_set_pixel_size(view, 40)
        let window = try await highlightable(view)
        gtk_image_set_from_icon_name(view, "image-missing")
        view.isHighlighted = true
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        view.isHighlighted = false
        #expect(gtk_image_get_storage_type(view) == GTK_IMAGE_GICON)
        gtk_image_clear(view)
        view.isHighlighted = true
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        view.isHighlighted = false
        #expect(try await middle(window, view)[3] == 0)
        window.close()
    }

    @Test func `Content below an indicator is not replaced by more pixels of the previous image`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await bench.begin(view, a)
        try await bench.end(view, a, with: .success(ViewBench.picture(400, 300, 255, 0, 0)))
        let green = try texture(ViewBench.green)
        gtk_picture_set_paintable(view, green.pointer)
        view.imageIndicator = ActivityIndicator(delay: 0)
        try await bench.begin(view, b, .delayPlaceholder)
        await window.frames()
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        #expect(state.paintable.content?.isPaintable == true)
        view.cancelCurrentImageLoad()
        state.noteDrawn(300, 225)
        #expect(!state.isResizing && state.shown == nil)
        #expect(try await middle(window, view) == [0, 255, 0, 255])
        window.close()
    }
}
