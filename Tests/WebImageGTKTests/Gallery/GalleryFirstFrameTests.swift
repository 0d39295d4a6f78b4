import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// What the viewer shows in the frame of the click that opens it.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct GalleryFirstFrameTests {
    private let url = GalleryBench.url("a.bmp")
    private let data = ViewBench.picture(1600, 1200, 10, 200, 30)

    @Test func `The viewer has its first pixels in the frame of the click, before its image is loaded`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp"])
        let loader = bench.bench.loader
        try #require(await loader.request(of: url))
        loader.end(url, with: .success(data))
        let grid = bench.window.grid
        #expect(await MainLoopTurns.wait { grid.pendingCount == 0 && grid.thumbnail(at: 0) != nil })
        let cell = try #require(grid.cells[0])
        let thumbnail = try #require(grid.thumbnail(at: 0))
        // The viewer's image has to be loaded again, and that load waits for the test.
        await bench.bench.cache.flush()
        await bench.bench.cache.clear(.disk)
        let (viewer, window) = (bench.window.viewer, bench.window)
        let picture = UnsafeMutableRawPointer(viewer.picture)
        /// What the view has in each frame from the one of the click on; nil for nothing.
        var frames: [Image?] = []
        let clock = FrameClock(widget: UnsafeMutableRawPointer(window.widget))
        let id = clock.add { _ in
            guard viewer.item != nil else { return }
            frames.append(ViewState.existing(picture)?.paintable.content?.image)
        }
        try await bench.click(cell)
        #expect(await MainLoopTurns.wait { frames.count > 2 })
        clock.remove(id)
        let first = try #require(frames.first ?? nil)
        #expect(first.metadata.isIncremental && first.bitmap.storage === thumbnail.bitmap.storage)
        #expect(frames.allSatisfy { $0 === first } && !viewer.isSettled && loader.requests.count == 2)
        // A widget can be read once it has been drawn where it stays, after the page has turned.
        #expect(await MainLoopTurns.wait { (try? WidgetPixels(picture).middle) == [10, 200, 30, 255] })
        #expect(!viewer.isSettled)
        // It takes as much space as the image will: nothing moves when that arrives.
        let paintable = try #require(gtk_picture_get_paintable(viewer.picture.opaque))
        #expect(gdk_paintable_get_intrinsic_width(paintable) == 1600)
        loader.end(url, with: .success(data))
        #expect(await MainLoopTurns.wait { viewer.isSettled })
        #expect(ViewState.existing(picture)?.paintable.content?.image?.metadata.isIncremental == false)
    }
}
