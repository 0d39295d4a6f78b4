import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Completions are called once at the end of a load, whatever else happens to the view, and never afterwards.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct LastWordTests {
    let bench: ViewBench
    let told = Told()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func set(_ view: OpaquePointer, _ url: URL, _ options: WebImageOptions = [], _ told: Told) {
        view.setImage(with: url, options: options, context: bench.context) { told.results.append($0) }
    }

    /// A view whose image is being refreshed, during a long transition to the cached one.
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

    @Test func `After its cancellation, a caller is not notified of the image of a pending transition`() async throws {
        let (view, window, paintable) = try await refreshing()
        set(view, b, [], Told())
        #expect(told.codes == [.cancelled] && paintable.transitionProgress == nil)
        window.close()
        #expect(told.codes == [.cancelled])
    }

    @Test func `A failed refresh is reported after the image`() async throws {
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

    @Test func `Loads not cancelled by others are cancelled with the view`() async throws {
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

    @Test func `Cancelling a slot cancels only its latest load, and the previous one continues`() async throws {
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
