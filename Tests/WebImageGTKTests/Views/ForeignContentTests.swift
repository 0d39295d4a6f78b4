import CWebImageGTK4
import FoundationEssentials
import Testing
import WebImage

@testable import WebImageGTK

/// Views that the program had show something of its own after a picture was loaded.
@Suite(.serialized, .needsDisplay) @MainActor struct ForeignContentTests {
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

    @Test func `What an indicator is drawn over is not replaced by more pixels of the picture of before`() async throws
    {
        let view = ViewBench.makePicture()
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
