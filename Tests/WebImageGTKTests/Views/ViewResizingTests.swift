import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ViewResizingTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")
    let big = ViewBench.picture(400, 300, 10, 200, 30)

    init() throws { bench = try ViewBench() }

    private func shown(_ view: OpaquePointer) -> Image? {
        ViewState.existing(UnsafeMutableRawPointer(view))?.paintable.content?.image
    }

    private func load(_ view: OpaquePointer, context: WebImageContext? = nil) async throws {
        var results = 0
        view.setImage(with: url, context: context ?? bench.context) { _ in results += 1 }
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(big))
        try #require(await MainLoopTurns.wait { results == 1 })
        #expect(results == 1)
    }

    @Test func `An image is decoded for the size of its view`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        let image = try #require(shown(view))
        #expect(image.pixelWidth == 100 && image.pixelHeight == 75 && image.metadata.isThumbnail)
        // It takes no less space than the picture: 400 by 300 points.
        let paintable = try #require(gtk_picture_get_paintable(view))
        #expect(gdk_paintable_get_intrinsic_width(paintable) == 400)
        #expect(gdk_paintable_get_intrinsic_height(paintable) == 300)
        window.close()
    }

    @Test func `Before the first layout the requested size counts`() async throws {
        let view = ViewBench.makeImage()
        let holder = ObjectReference(retaining: UnsafeMutableRawPointer(view))
        gtk_widget_set_size_request(UnsafeMutablePointer(view), 40, 60)
        try await load(view)
        #expect(shown(view)?.pixelWidth == 40)
        withExtendedLifetime(holder) {}
    }

    @Test func `A view that grows gets more pixels, without a callback`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        let first = view.latestLoadState?.result
        gtk_window_set_default_size(
            UnsafeMutableRawPointer(window.window).assumingMemoryBound(to: GtkWindow.self),
            300,
            225
        )
        #expect(await MainLoopTurns.wait { (shown(view)?.pixelWidth ?? 0) >= 300 })
        let result = view.latestLoadState?.result
        #expect(result?.image === shown(view) && first?.image !== result?.image)
        #expect(result?.cacheType == first?.cacheType, "the requested load is the reported one")
        #expect(bench.loader.requests == [url], "the bytes were on disk")
        window.close()
    }

    @Test func `An image decoded whole and drawn small is decoded small`() async throws {
        let view = ViewBench.makeImage()
        let holder = ObjectReference(retaining: UnsafeMutableRawPointer(view))
        try await load(view)
        #expect(shown(view)?.pixelWidth == 400)
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 60, 45)
        #expect(await MainLoopTurns.wait { shown(view)?.pixelWidth == 64 })
        window.close()
        withExtendedLifetime(holder) {}
    }

    @Test func `A size set by the caller is kept, and all pixels are kept on request`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        var context = bench.context
        context.thumbnailPixelSize = ImageSize(width: 20, height: 20)
        try await load(view, context: context)
        await window.frames(3)
        #expect(shown(view)?.pixelWidth == 20)
        view.usesAutomaticThumbnailSize = false
        await bench.cache.clear(.all)
        try await load(view)
        await window.frames(3)
        #expect(shown(view)?.pixelWidth == 400 && !view.usesAutomaticThumbnailSize)
        window.close()
    }

    @Test func `A new load's image is not replaced by more pixels of the previous one`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        state.noteDrawn(300, 225)
        let other = ViewBench.url("other.bmp")
        view.setImage(with: other, context: bench.context)
        try #require(await bench.loader.request(of: other))
        bench.loader.end(other, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { shown(view)?.pixelWidth == 40 })
        await window.frames(4)
        #expect(shown(view)?.pixelWidth == 40)
        window.close()
    }

    @Test func `An image that stays because its replacement was cancelled gets more pixels`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        let other = ViewBench.url("other.bmp")
        view.setImage(with: other, options: .delayPlaceholder, context: bench.context)
        try #require(await bench.loader.request(of: other))
        state.noteDrawn(300, 225)
        #expect(!state.isResizing, "as long as the other one may come")
        view.cancelCurrentImageLoad()
        #expect(shown(view)?.pixelWidth == 100)
        state.noteDrawn(300, 225)
        #expect(await MainLoopTurns.wait { (shown(view)?.pixelWidth ?? 0) >= 300 })
        window.close()
    }

    @Test func `A preview of a cancelled load is not replaced by more pixels of the previous image`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        let other = ViewBench.url("other.gif")
        view.setImage(with: other, options: [.delayPlaceholder, .progressiveLoad], context: bench.context)
        try #require(await bench.loader.request(of: other))
        let former = shown(view)
        bench.loader.leave(try Fixtures.data("Animation/pillow.gif").prefix(4000), other)
        #expect(await MainLoopTurns.wait { shown(view) !== former })
        view.cancelCurrentImageLoad()
        state.noteDrawn(300, 225)
        #expect(!state.isResizing && shown(view)?.metadata.isIncremental == true)
        window.close()
    }

    @Test func `More pixels arrive too late when another slot's image is shown`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        await bench.cache.clear(.all)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        state.noteDrawn(300, 225)
        try #require(await bench.loader.request(of: url))
        let other = ViewBench.url("other.bmp")
        var context = bench.context
        context.setImageOperationKey = "other"
        view.setImage(with: other, options: .delayPlaceholder, context: context)
        try #require(await bench.loader.request(of: other))
        bench.loader.end(other, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { shown(view)?.pixelWidth == 40 })
        bench.loader.end(url, with: .success(big))
        #expect(await MainLoopTurns.wait { state.loads.isEmpty })
        #expect(shown(view)?.pixelWidth == 40)
        window.close()
    }

    @Test(arguments: [GTK_CONTENT_FIT_FILL.rawValue, GTK_CONTENT_FIT_COVER.rawValue])
    func `An image that fills its view is decoded once, with all the pixels needed`(fit: UInt32) async throws {
        let view = ViewBench.makeImage()
        gtk_picture_set_content_fit(view, GtkContentFit(rawValue: fit))
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 60, 100)
        try await load(view)
        let image = try #require(shown(view))
        #expect(image.pixelWidth == 133 && image.pixelHeight == 100 && image.metadata.isThumbnail)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        for _ in 0..<4 {
            state.paintable.invalidate()
            await window.frames()
        }
        #expect(shown(view) === image && state.loads.isEmpty && state.slots.values.allSatisfy { $0.asked == nil })
        window.close()
    }

    @Test func `An image that is later drawn stretched is loaded again once, and not again after that`() async throws {
        for fit in [GTK_CONTENT_FIT_FILL, GTK_CONTENT_FIT_COVER] {
            let view = ViewBench.makeImage()
            let window = try await TestWindow(UnsafeMutableRawPointer(view), 60, 100)
            try await load(view)
            #expect(shown(view)?.pixelHeight == 45)
            gtk_picture_set_content_fit(view, fit)
            // 400 by 300 must be 134 wide to be 100 high.
            #expect(await MainLoopTurns.wait { (shown(view)?.pixelHeight ?? 0) >= 100 })
            let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
            let image = shown(view)
            for _ in 0..<4 {
                state.paintable.invalidate()
                await window.frames()
            }
            #expect(shown(view) === image && state.loads.isEmpty)
            window.close()
            await bench.cache.clear(.all)
        }
    }

    @Test func `Unavailable pixels are requested once`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 100, 90)
        try await load(view)
        await bench.cache.clear(.all)
        let state = try #require(ViewState.existing(UnsafeMutableRawPointer(view)))
        for round in 0..<3 {
            state.noteDrawn(300, 225)
            guard round == 0 else { continue }
            try #require(await bench.loader.request(of: url))
            bench.loader.end(url, with: .failure(WebImageError(.timedOut, "no")))
            #expect(await MainLoopTurns.wait { state.loads.isEmpty })
        }
        await window.frames()
        #expect(bench.loader.requests == [url, url])
        #expect(shown(view)?.pixelWidth == 100)
        window.close()
    }

    @Test func `More pixels are loaded if they are worth a decode`() throws {
        func box(
            _ change: (inout ImageMetadata) -> Void,
            _ width: Double,
            _ height: Double,
            asked: ImageSize? = nil
        ) throws -> ImageSize? {
            var metadata = ImageMetadata()
            (metadata.sourceWidth, metadata.sourceHeight, metadata.isThumbnail) = (4000, 3000, true)
            change(&metadata)
            let image = Image(bitmap: try .allocate(width: 400, height: 300, pixelFormat: .rgb8), metadata: metadata)
            let state = ViewState.of(UnsafeMutableRawPointer(ViewBench.makeImage()))
            let load = ViewLoad(
                ViewLoad.Request(url: nil, placeholder: nil, options: [], context: nil),
                context: WebImageContext(),
                slot: .image,
                number: 1,
                state: state,
                setter: { _, _ in },
                showsInPaintable: true
            )
            return ShownLoad(load: load, image: image).betterBox(drawn: width, height, asked: asked)
        }
        #expect(try box({ _ in }, 400, 300) == nil)
        #expect(try box({ _ in }, 401, 301) == nil)
        #expect(try box({ _ in }, 402, 301) == ImageSize(width: 448, height: 320))
        #expect(try box({ $0.isThumbnail = false }, 800, 600) == nil, "there are no more")
        #expect(try box({ ($0.sourceWidth, $0.sourceHeight) = (400, 300) }, 800, 600) == nil)
        #expect(try box({ _ in }, 190, 140) == ImageSize(width: 192, height: 192))
        #expect(try box({ _ in }, 250, 180) == nil, "not so many too many")
        #expect(try box({ $0.isVector = true }, 100, 75) == nil)
        #expect(try box({ _ in }, 0, 0) == nil)
        // Drawn stretched or cut, it needs more pixels in one direction than it is drawn at.
        #expect(try box({ _ in }, 300, 600) == ImageSize(width: 832, height: 640))
        #expect(try box({ _ in }, 9000, 9000) == ImageSize(width: 4032, height: 3008), "there are no more than that")
        // A request that did not help is not repeated.
        let asked = ImageSize(width: 448, height: 320)
        #expect(try box({ _ in }, 402, 301, asked: asked) == nil)
        #expect(try box({ _ in }, 460, 345, asked: asked) == ImageSize(width: 512, height: 384))
        #expect(try box({ _ in }, 190, 140, asked: ImageSize(width: 192, height: 192)) == nil)
        #expect(try box({ _ in }, 190, 140, asked: asked) == ImageSize(width: 192, height: 192))
    }
}
