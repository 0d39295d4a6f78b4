import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Cells that keep their size, and the drawing in them.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct CellSizeTests {
    let bench: ViewBench
    let picture: OpaquePointer
    let url = ViewBench.url("a.bmp")

    init() throws {
        bench = try ViewBench()
        picture = ViewBench.makeImage()
    }

    private var view: UnsafeMutableRawPointer { UnsafeMutableRawPointer(picture) }

    private func naturalSize() -> [gint] {
        [GTK_ORIENTATION_HORIZONTAL, GTK_ORIENTATION_VERTICAL].map { orientation in
            var natural: gint = 0
            gtk_widget_measure(view.widget, orientation, -1, nil, &natural, nil, nil)
            return natural
        }
    }

    private func load(_ data: Data) async throws {
        picture.setImage(with: url, context: bench.context)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { picture.latestLoadState?.result != nil })
    }

    @Test func `A GtkPicture with a size request keeps it for any image`() async throws {
        gtk_widget_set_size_request(view.widget, 60, 40)
        ViewState.of(view).keepRequestedSize()
        let window = try await TestWindow(view)
        try await load(ViewBench.picture(600, 200, 255, 0, 0))
        #expect(naturalSize() == [60, 40])
        window.close()
    }

    @Test func `A GtkPicture without a size request has its content's size`() async throws {
        gtk_widget_set_size_request(view.widget, 60, -1)
        ViewState.of(view).keepRequestedSize()
        let window = try await TestWindow(view)
        try await load(ViewBench.picture(600, 200, 255, 0, 0))
        #expect(naturalSize() == [600, 200])
        window.close()
    }

    @Test(arguments: [0, 1, 2, 3]) func `The content lies where GTK itself would put it`(fit: UInt32) async throws {
        for size in [(300, 100), (100, 300), (20, 10)] {
            var pictures: [WidgetPixels] = []
            for keepsSize in [true, false] {
                let view = UnsafeMutableRawPointer(ViewBench.makeImage())
                gtk_widget_set_size_request(view.widget, 60, 40)
                gtk_picture_set_content_fit(view.opaque, GtkContentFit(rawValue: fit))
                if keepsSize { ViewState.of(view).keepRequestedSize() }
                let window = try await TestWindow(view, 90, 50)
                view.setImage(with: url, options: .fromLoaderOnly, context: bench.context)
                try #require(await bench.loader.request(of: url))
                bench.loader.end(url, with: .success(ViewBench.picture(size.0, size.1, 255, 0, 0)))
                try #require(await MainLoopTurns.wait { view.latestLoadState?.result != nil })
                await window.frames()
                // It covers the middle in any case; on a busy machine another frame may be needed until it does.
                #expect(await MainLoopTurns.wait { (try? window.pixels(of: view))?.middle == [255, 0, 0, 255] })
                pictures.append(try window.pixels(of: view))
                window.close()
            }
            for (x, y) in [
                (0, 0), (45, 0), (0, 25), (45, 25), (2, 25), (45, 2), (34, 25), (36, 19), (35, 20), (89, 49),
            ] {
                #expect(pictures[0].rgba(x, y) == pictures[1].rgba(x, y), "\(size) at \(x), \(y)")
            }
        }
    }
}
