import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Images drawn in several places, or in views without a size.
@Suite(.serialized, .needsDisplay) @MainActor struct DrawnSizesTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")
    let big = ViewBench.picture(400, 300, 10, 200, 30)

    init() throws { bench = try ViewBench() }

    private func shown(_ view: OpaquePointer) -> Image? {
        ViewState.existing(UnsafeMutableRawPointer(view))?.paintable.content?.image
    }

    private func load(_ view: OpaquePointer) async throws {
        try await bench.begin(view, url)
        try await bench.end(view, url, with: .success(big))
    }

    /// A window in which one paintable is shown at two sizes.
    private func twice(_ size: (Int, Int), other: (Int, Int)) async throws -> (
        view: OpaquePointer, state: ViewState, window: TestWindow
    ) {
        let (view, copy) = (ViewBench.makeImage(), ViewBench.makeImage())
        let box = UnsafeMutableRawPointer(try #require(gtk_fixed_new()))
        gtk_picture_set_can_shrink(view, 1)
        for (picture, size, x) in [(view, size, 0.0), (copy, other, 400.0)] {
            gtk_widget_set_size_request(UnsafeMutableRawPointer(picture).widget, gint(size.0), gint(size.1))
            gtk_fixed_put(
                box.assumingMemoryBound(to: GtkFixed.self),
                UnsafeMutableRawPointer(picture).widget,
                x,
                0
            )
        }
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        state.keepRequestedSize()
        state.installPaintable()
        gtk_picture_set_paintable(copy, state.paintable.pointer.opaque)
        let window = try await TestWindow(box, 800, 300)
        return (view, state, window)
    }

    @Test(arguments: [(400, 48), (48, 400)])
    func `An image drawn small in one place and big in another is not loaded forever`(sizes: (Int, Int))
        async throws
    {
        let (view, state, window) = try await twice(
            (sizes.0, sizes.0 * 3 / 4),
            other: (sizes.1, sizes.1 * 3 / 4)
        )
        try await load(view)
        #expect(await MainLoopTurns.wait { shown(view)?.pixelWidth ?? 0 >= 400 && !state.isResizing })
        var changes = 0
        var former = shown(view)
        for _ in 0..<12 {
            state.paintable.invalidate()
            await window.frames()
            if shown(view) !== former { changes += 1 }
            former = shown(view)
        }
        #expect(await MainLoopTurns.wait { state.loads.isEmpty })
        #expect(changes <= 1 && former?.pixelWidth ?? 0 >= 400, "\(changes)")
        window.close()
    }

    @Test func `A view that shrinks, grows and shrinks gets the needed pixels each time`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 400, 300)
        try await load(view)
        for (size, isSmall) in [(60, true), (300, false), (60, true)] {
            gtk_window_set_default_size(
                UnsafeMutableRawPointer(window.window).assumingMemoryBound(to: GtkWindow.self),
                gint(size),
                gint(size * 3 / 4)
            )
            #expect(
                await MainLoopTurns.wait {
                    let width = shown(view)?.pixelWidth ?? 0
                    return isSmall ? width == 64 : width >= 300
                }
            )
        }
        window.close()
    }

    @Test
    func `A view loads for its requested size, and gets more pixels when it is drawn bigger`() async throws {
        let view = ViewBench.makeImage()
        let holder = ObjectReference(retaining: UnsafeMutableRawPointer(view))
        view.preferredPixelSize = ImageSize(width: 80, height: 60)
        #expect(view.preferredPixelSize == ImageSize(width: 80, height: 60))
        try await load(view)
        #expect(shown(view)?.pixelWidth == 80)
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 300, 225)
        #expect(await MainLoopTurns.wait { shown(view)?.pixelWidth ?? 0 >= 300 })
        // Its own size counts once no other is requested.
        for (preferred, width) in [(ImageSize(width: 320, height: 240), 320), (nil, 300)] {
            await bench.cache.clear(.all)
            view.preferredPixelSize = preferred
            try await load(view)
            #expect(shown(view)?.pixelWidth == width)
        }
        window.close()
        withExtendedLifetime(holder) {}
    }
}
