import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// What views keep of pictures that they do not show any more.
@Suite(.serialized, .needsDisplay) @MainActor struct ViewMemoryTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")
    let big = ViewBench.picture(400, 300, 10, 200, 30)

    init() throws { bench = try ViewBench() }

    /// Loads a picture into a view, and tells no more of it than a weak reference does.
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
    func `A picture that came whole goes when the view shows it small`(isButton: Bool) async throws {
        let view = isButton ? OpaquePointer(try #require(gtk_button_new())) : ViewBench.makePicture()
        let holder = ObjectReference(retaining: UnsafeMutableRawPointer(view))
        let whole = try await load(view, url, big)
        #expect(whole.image.image?.pixelWidth == 400)
        if isButton { gtk_picture_set_content_fit(view.buttonPicture, GTK_CONTENT_FIT_CONTAIN) }
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 80, 60)
        let state = ViewState.of(UnsafeMutableRawPointer(view)).stateOfPicture
        #expect(await MainLoopTurns.wait { state.paintable.content?.image?.pixelWidth ?? 400 < 400 })
        await bench.cache.clear(.memory)
        #expect(await MainLoopTurns.wait { whole.image.image == nil })
        #expect(view.latestLoadState?.result?.image === state.paintable.content?.image)
        #expect(view.latestLoadState?.result?.cacheType == ImageCacheType.none, "of the load that was asked for")
        window.close()
        withExtendedLifetime(holder) {}
    }

    @Test func `The encoded bytes are the completion's, and no view keeps them`() async throws {
        let view = ViewBench.makePicture()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let told = try await load(view, url, ViewBench.red)
        #expect(told.byteCount == ViewBench.red.count)
        #expect(view.latestLoadState?.result != nil && view.latestLoadState?.result?.data == nil)
        window.close()
    }
}
