import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Memory of images that views do not show any more.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ViewMemoryTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")
    let big = ViewBench.picture(400, 300, 10, 200, 30)

    init() throws { bench = try ViewBench() }

    /// Loads an image into a view, and returns only a weak reference.
    private func load(
        _ view: OpaquePointer,
        _ url: URL,
        _ data: Data,
        context: WebImageContext? = nil
    ) async throws -> (image: WeakImage, byteCount: Int?) {
        var told: (image: WeakImage, byteCount: Int?)?
        view.setImage(with: url, context: context ?? bench.context) { result in
            guard case .success(let loaded) = result else { return }
            told = (WeakImage(loaded.image), loaded.data?.count)
        }
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { told != nil })
        return try #require(told)
    }

    private final class WeakImage {
        weak var image: Image?
        init(_ image: Image) { self.image = image }
    }

    @Test(arguments: [false, true])
    func `An image decoded whole is released when the view shows it small`(isButton: Bool) async throws {
        let view = isButton ? OpaquePointer(try #require(gtk_button_new())) : ViewBench.makeImage()
        let holder = ObjectReference(retaining: UnsafeMutableRawPointer(view))
        let whole = try await load(view, url, big)
        #expect(whole.image.image?.pixelWidth == 400)
        if isButton { gtk_picture_set_content_fit(view.buttonPicture, GTK_CONTENT_FIT_CONTAIN) }
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 80, 60)
        let state = ViewState.of(UnsafeMutableRawPointer(view)).imageState
        #expect(await MainLoopTurns.wait { state.paintable.content?.image?.pixelWidth ?? 400 < 400 })
        await bench.cache.clear(.memory)
        #expect(await MainLoopTurns.wait { whole.image.image == nil })
        #expect(view.latestLoadState?.result?.image === state.paintable.content?.image)
        #expect(view.latestLoadState?.result?.cacheType == ImageCacheType.none, "of the requested load")
        window.close()
        withExtendedLifetime(holder) {}
    }

    @Test func `The encoded bytes are passed to the completion, and no view retains them`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let told = try await load(view, url, ViewBench.red)
        #expect(told.byteCount == ViewBench.red.count)
        #expect(view.latestLoadState?.result != nil && view.latestLoadState?.result?.data == nil)
        window.close()
    }

    @Test func `A slot for each URL leaves nothing of the previous ones in the view`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        var first: WeakImage?
        for number in 0..<20 {
            var context = bench.context
            context.setImageOperationKey = "slot \(number)"
            let told = try await load(view, ViewBench.url("\(number).bmp"), ViewBench.red, context: context)
            first = first ?? told.image
        }
        await bench.cache.clear(.memory)
        #expect(await MainLoopTurns.wait { first?.image == nil })
        #expect(view.imageLoadState(in: .named("slot 0")) == nil && view.imageLoadState(in: .named("slot 18")) == nil)
        #expect(view.imageLoadState(in: .named("slot 19"))?.result != nil)
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        #expect(Array(state.slots.keys) == [.named("slot 19")])
        window.close()
    }

    @Test func `Another slot's load is known while it runs, and the highlighted image stays`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let highlighted = ViewBench.url("highlighted.bmp")
        view.setImage(with: highlighted, in: .highlighted, context: bench.context)
        try #require(await bench.loader.request(of: highlighted))
        bench.loader.end(highlighted, with: .failure(WebImageError(.timedOut, "no")))
        #expect(await MainLoopTurns.wait { view.latestLoadState?.error != nil })
        var context = bench.context
        context.setImageOperationKey = "running"
        view.setImage(with: url, context: context)
        _ = try await load(view, ViewBench.url("a.bmp"), ViewBench.red)
        #expect(view.imageLoadState(in: .named("running"))?.isLoading == true)
        #expect(view.imageURL(in: .highlighted) == highlighted)
        window.close()
    }

    @Test func `Slots of buttons are known, but not hundreds of them`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        for number in 0..<45 {
            var context = bench.context
            context.setImageOperationKey = "slot \(number)"
            _ = try await load(button, ViewBench.url("\(number % 2).bmp"), ViewBench.red, context: context)
            await bench.cache.clear(.all)
        }
        let state = ViewState.of(UnsafeMutableRawPointer(button))
        #expect(state.slots.count <= 33)
        #expect(button.imageLoadState(in: .named("slot 44"))?.result != nil)
        window.close()
    }
}
