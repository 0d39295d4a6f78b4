import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct SizePreviewTests {
    let bench: ViewBench
    let url = ViewBench.url("big.bmp")

    init() throws { bench = try ViewBench() }

    private func shown(_ view: OpaquePointer) -> Image? {
        ViewState.existing(UnsafeMutableRawPointer(view))?.paintable.content?.image
    }

    /// Shows the image in a small view, as a grid does, and forgets the original.
    private func showSmall() async throws -> TestWindow {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 60, 45)
        var count = 0
        view.setImage(with: url, context: bench.context) { _ in count += 1 }
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
        try #require(await MainLoopTurns.wait { count == 1 })
        #expect(shown(view)?.pixelWidth == 60)
        await bench.cache.clear(.disk)
        return window
    }

    @Test func `A large view shows the image of a small one before the call returns, until its own arrives`()
        async throws
    {
        let small = try await showSmall()
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 200, 150)
        var results: [Result<WebImageResult, WebImageError>] = []
        view.setImage(with: url, context: bench.context) { results.append($0) }
        let preview = try #require(shown(view))
        #expect(preview.pixelWidth == 60 && preview.metadata.isIncremental && results.isEmpty)
        // It takes as much space as the image will.
        let paintable = try #require(gtk_picture_get_paintable(view))
        #expect(gdk_paintable_get_intrinsic_width(paintable) == 400)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
        #expect(await MainLoopTurns.wait { results.count == 1 })
        #expect(shown(view)?.pixelWidth == 200 && shown(view)?.metadata.isIncremental == false)
        window.close()
        small.close()
    }

    @Test func `A small view gets the image of a large one scaled down, without a download`() async throws {
        let small = try await showSmall()
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 30, 22)
        var results: [Result<WebImageResult, WebImageError>] = []
        view.setImage(with: url, context: bench.context) { results.append($0) }
        #expect(await MainLoopTurns.wait { results.count == 1 })
        #expect(shown(view)?.pixelHeight == 22 && bench.loader.requests == [url])
        #expect(try results.first?.get().cacheType == .memory)
        window.close()
        small.close()
    }

    @Test func `A context can turn it off, and callers that show images themselves get no previews`() async throws {
        let small = try await showSmall()
        for number in 0..<2 {
            let view = ViewBench.makeImage()
            let window = try await TestWindow(UnsafeMutableRawPointer(view), 200 + number, 150)
            var context = bench.context
            if number == 0 { context.sizeReuse = SizeReuse.none }
            var count = 0
            let options: WebImageOptions = number == 1 ? .avoidAutoSetImage : []
            view.setImage(with: url, options: options, context: context) { _ in count += 1 }
            #expect(shown(view) == nil && count == 0)
            view.cancelCurrentImageLoad()
            window.close()
        }
        small.close()
    }

    @Test(arguments: [false, true])
    func `A setter gets the placeholder and the image, and previews only if it asks for them`(_ asks: Bool) async throws
    {
        let small = try await showSmall()
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new(nil)))
        let window = try await TestWindow(label, 200, 150)
        var widths: [Int?] = []
        var context = bench.context
        context.thumbnailPixelSize = ImageSize(width: 200, height: 150)
        OpaquePointer(label).setImage(
            with: url,
            options: asks ? .progressiveLoad : [],
            context: context,
            setter: { _, result in widths.append(result?.image.pixelWidth) }
        )
        #expect(widths == (asks ? [nil, 60] : [nil]))
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.picture(400, 300, 10, 200, 30)))
        #expect(await MainLoopTurns.wait { widths.last == 200 })
        #expect(widths.compactMap(\.self) == (asks ? [60, 200] : [200]))
        window.close()
        small.close()
    }

    @Test func `A view uses the disk too if its manager does`() async throws {
        #expect(bench.context.viewSizeReuse == .memory)
        bench.manager.sizeReuse = .disk
        #expect(bench.context.viewSizeReuse == .disk)
        bench.manager.sizeReuse = .none
        #expect(bench.context.viewSizeReuse == .memory)
    }
}
