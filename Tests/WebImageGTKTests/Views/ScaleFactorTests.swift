import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Displays with several pixels per point.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ScaleFactorTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")

    init() throws { bench = try ViewBench() }

    private func image(_ view: UnsafeMutableRawPointer) -> Image? {
        ViewState.existing(view)?.paintable.content?.image
    }

    private func load(_ view: OpaquePointer) async throws {
        try await bench.begin(view, url)
        try await bench.end(view, url, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
    }

    @Test func `An image is decoded for the pixels of its view, not for its points`() async throws {
        try await DisplayScale.with(2) {
            let view = ViewBench.makeImage()
            let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 75)
            try #require(gtk_widget_get_scale_factor(UnsafeMutableRawPointer(view).widget) == 2)
            try await load(view)
            let shown = try #require(image(UnsafeMutableRawPointer(view)))
            #expect(shown.pixelWidth == 200 && shown.pixelHeight == 150)
            await window.frames(3)
            #expect(image(UnsafeMutableRawPointer(view)) === shown, "it has all pixels that it is drawn with")
            window.close()
        }
    }

    @Test func `A GtkImage's pixel size is in points`() async throws {
        try await DisplayScale.with(2) {
            let view = try #require(gtk_image_new())
            gtk_image_set_pixel_size(OpaquePointer(view), 48)
            let window = try await TestWindow(UnsafeMutableRawPointer(view))
            try await load(OpaquePointer(view))
            #expect(image(UnsafeMutableRawPointer(view))?.pixelWidth == 96)
            window.close()
        }
    }

    @Test func `An image is decoded again when its display gets more pixels per point`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 75)
        try await load(view)
        #expect(image(UnsafeMutableRawPointer(view))?.pixelWidth == 100)
        try await DisplayScale.with(2) {
            #expect(await MainLoopTurns.wait { (image(UnsafeMutableRawPointer(view))?.pixelWidth ?? 0) >= 200 })
            #expect(gtk_widget_get_width(UnsafeMutableRawPointer(view).widget) == 100)
        }
        #expect(bench.loader.requests == [url], "the bytes were on disk")
        window.close()
    }

    @Test func `A button's image is decoded again when its display gets more pixels per point`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button), 100, 75)
        button.setImage(with: url, in: .image, context: bench.context)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
        func width() -> Int {
            button.buttonPicture.flatMap { image(UnsafeMutableRawPointer($0))?.pixelWidth } ?? 0
        }
        try #require(await MainLoopTurns.wait { width() > 0 })
        await window.frames()
        let before = width()
        try await DisplayScale.with(2) {
            #expect(await MainLoopTurns.wait { width() > before * 3 / 2 }, "\(before)")
        }
        window.close()
    }
}
