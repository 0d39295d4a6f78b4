import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct SourceViewTests {
    let bench: ViewBench
    let small = ViewBench.url("small.bmp")
    let large = ViewBench.url("large.bmp")

    init() throws { bench = try ViewBench() }

    private var source: ImageSource {
        var source = ImageSource.candidates([(small, .width(80)), (large, .width(400))])
        source.lowData = false
        return source
    }

    private func shown(_ view: OpaquePointer) -> Image? {
        ViewState.existing(UnsafeMutableRawPointer(view))?.paintable.content?.image
    }

    @Test func `A view loads the candidate for its size, and the next one when it grows past it`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 72, 54)
        var count = 0
        view.setImage(with: source, context: bench.context) { _ in count += 1 }
        try #require(await bench.loader.request(of: small))
        bench.loader.end(small, with: .success(ViewBench.picture(80, 60, 10, 200, 30)))
        try #require(await MainLoopTurns.wait { count == 1 })
        #expect(shown(view)?.pixelWidth == 72 && view.imageURL == small)
        bench.loader.answer(large, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
        gtk_window_set_default_size(
            UnsafeMutableRawPointer(window.window).assumingMemoryBound(to: GtkWindow.self),
            300,
            225
        )
        #expect(await MainLoopTurns.wait { (shown(view)?.pixelWidth ?? 0) >= 300 })
        #expect(bench.loader.requests == [small, large] && count == 1)
        window.close()
    }

    @Test func `To save data a view loads the next smaller one, and without candidates nothing`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 200, 150)
        var (source, codes) = (source, [WebImageError.Code?]())
        source.lowData = true
        view.setImage(with: source, context: bench.context)
        #expect(await bench.loader.request(of: small))
        view.setImage(with: ImageSource.candidates([]), context: bench.context) { result in
            if case .failure(let error) = result { codes.append(error.code) }
        }
        #expect(codes == [.invalidURL])
        window.close()
    }
}
