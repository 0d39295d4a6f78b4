import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Completions hear the end of a load once, whatever else happens to the view, and nothing after it.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct LastWordTests {
    let bench: ViewBench
    let told = Told()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func set(_ view: OpaquePointer, _ url: URL, _ options: WebImageOptions = [], _ told: Told) {
        view.setImage(with: url, options: options, context: bench.context) { told.results.append($0) }
    }

    /// A view whose picture is being refreshed, while a long transition leads to the one from the cache.
    private func refreshing() async throws -> (view: OpaquePointer, window: TestWindow, paintable: ImagePaintable) {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        try await bench.begin(view, a)
        try await bench.end(view, a)
        view.imageTransition = .fade(duration: 60)
        set(view, a, [.refreshCached, .waitTransition, .forceTransition], told)
        try #require(await bench.loader.request(of: a))
        let paintable = ViewState.of(UnsafeMutableRawPointer(view)).paintable
        #expect(told.codes.isEmpty && paintable.transitionProgress != nil)
        return (view, window, paintable)
    }

    @Test func `After it was told of its cancellation, it is not told of the picture that a transition led to`()
        async throws
    {
        let (view, window, paintable) = try await refreshing()
        set(view, b, [], Told())
        #expect(told.codes == [.cancelled] && paintable.transitionProgress == nil)
        window.close()
        #expect(told.codes == [.cancelled])
    }

    @Test func `That a picture could not be refreshed is told after the picture`() async throws {
        let (_, window, paintable) = try await refreshing()
        bench.loader.end(a, with: .failure(WebImageError(.timedOut, "no")))
        try #require(await MainLoopTurns.wait { bench.loader.waiting.isEmpty })
        await window.frames()
        #expect(told.codes.isEmpty)
        paintable.endTransition(finished: true)
        #expect(told.codes == [nil, .timedOut])
        window.close()
        #expect(told.codes == [nil, .timedOut])
    }

    @Test func `Loads that others did not cancel are cancelled with the view`() async throws {
        let before = ViewState.count
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let (first, second) = (Told(), Told())
        set(view, a, [], first)
        set(view, b, .avoidAutoCancelImage, second)
        for url in [a, b] { try #require(await bench.loader.request(of: url)) }
        window.close()
        #expect(first.codes == [.cancelled] && second.codes == [.cancelled])
        #expect(await MainLoopTurns.wait { Set(bench.loader.cancelled) == [a, b] && ViewState.count == before })
        #expect(first.codes.count == 1 && second.codes.count == 1)
    }

    @Test func `Cancelling a slot is about its latest load, and the one before goes on`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let (first, second) = (Told(), Told())
        set(view, a, [], first)
        set(view, b, .avoidAutoCancelImage, second)
        for url in [a, b] { try #require(await bench.loader.request(of: url)) }
        view.cancelCurrentImageLoad()
        #expect(first.codes.isEmpty && second.codes == [.cancelled])
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { first.codes == [nil] })
        #expect(ViewState.of(UnsafeMutableRawPointer(view)).slots.values.allSatisfy { $0.superseded.isEmpty })
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(view)).middle == [255, 0, 0, 255])
        window.close()
    }
}
