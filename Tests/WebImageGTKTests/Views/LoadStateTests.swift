import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// A view's state of the loads in its slots.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct LoadStateTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    @Test func `The state of a slot has the URL, the progress and the end of its last load`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        #expect(picture.imageLoadState(in: .image) == nil && picture.latestLoadState == nil)
        picture.setImage(with: a, context: bench.context)
        #expect(picture.imageLoadState(in: .image)?.url == a && picture.imageLoadState(in: .image)?.isLoading == true)
        #expect(picture.imageLoadState(in: .image)?.progress.receivedByteCount == 0)
        try #require(await bench.loader.request(of: a))
        bench.loader.report(30, of: 100, a)
        #expect(await MainLoopTurns.wait { picture.imageLoadState(in: .image)?.progress.fraction == 0.3 })
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { picture.imageLoadState(in: .image)?.isLoading == false })
        #expect(picture.imageLoadState(in: .image)?.result?.image.pixelWidth == 40)
        #expect(picture.imageLoadState(in: .image)?.error == nil && picture.imageURL(in: .image) == a)
        picture.setImage(with: b, context: bench.context)
        #expect(picture.imageLoadState(in: .image)?.url == b && picture.imageLoadState(in: .image)?.result == nil)
        try #require(await bench.loader.request(of: b))
        bench.loader.end(b, with: .failure(WebImageError(.timedOut, "no")))
        #expect(await MainLoopTurns.wait { picture.imageLoadState(in: .image)?.error?.code == .timedOut })
        #expect(picture.imageLoadState(in: .image)?.url == b && picture.imageLoadState(in: .image)?.result == nil)
        window.close()
    }

    @Test func `Concurrent slots have separate states`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        picture.setImage(with: a, context: bench.context)
        picture.setImage(with: b, in: .highlighted, context: bench.context)
        try #require(await bench.loader.request(of: a))
        try #require(await bench.loader.request(of: b))
        bench.loader.report(30, of: 100, a)
        bench.loader.report(60, of: 100, b)
        #expect(
            await MainLoopTurns.wait {
                picture.imageLoadState(in: .image)?.progress.fraction == 0.3
                    && picture.imageLoadState(in: .highlighted)?.progress.fraction == 0.6
            }
        )
        #expect(picture.latestImageSlot == .highlighted && picture.latestLoadState?.url == b)
        bench.loader.end(b, with: .failure(WebImageError(.timedOut, "no")))
        #expect(await MainLoopTurns.wait { picture.imageLoadState(in: .highlighted)?.error?.code == .timedOut })
        #expect(picture.imageLoadState(in: .image)?.isLoading == true && picture.imageURL(in: .image) == a)
        window.close()
    }
}
