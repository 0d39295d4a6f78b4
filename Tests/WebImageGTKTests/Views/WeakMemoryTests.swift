import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Images that memory caches have released and views still show.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct WeakMemoryTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")

    enum Kind: CaseIterable { case picture, image, button, background, highlighted }

    /// The results of a view's loads; the images are not retained.
    @MainActor private final class Ends {
        var cacheTypes: [ImageCacheType?] = []
    }

    init() throws {
        bench = try ViewBench()
        bench.cache.config.shouldUseWeakMemoryCache = true
    }

    private func makeView(_ kind: Kind) throws -> OpaquePointer {
        switch kind {
        case .picture, .highlighted: ViewBench.makeImage()
        case .image: OpaquePointer(try #require(gtk_image_new()))
        case .button, .background: OpaquePointer(try #require(gtk_button_new()))
        }
    }

    private func set(_ view: OpaquePointer, _ kind: Kind, _ ends: Ends, _ options: WebImageOptions = []) {
        let context = bench.context
        let completed: @MainActor (Result<WebImageResult, WebImageError>) -> Void = {
            ends.cacheTypes.append(try? $0.get().cacheType)
        }
        let slot: ImageSlot =
            switch kind {
            case .picture, .image, .button: .image
            case .background: .background
            case .highlighted: .highlighted
            }
        view.setImage(with: a, in: slot, options: options, context: context, completed: completed)
    }

    @Test(arguments: Kind.allCases, [WebImageOptions.delayPlaceholder, []])
    func `The same image is available at once, though memory knows it only because it is shown`(
        kind: Kind,
        options: WebImageOptions
    ) async throws {
        let view = try makeView(kind)
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let ends = Ends()
        set(view, kind, ends, options)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { ends.cacheTypes.count == 1 })
        await window.frames()
        bench.cache.memoryCache.didReceiveMemoryWarning()
        set(view, kind, ends, options)
        #expect(ends.cacheTypes == [ImageCacheType.none, .memory], "before the call returns")
        #expect(bench.loader.requests == [a])
        window.close()
    }

    @Test func `An image that nothing shows any more is not retained`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let ends = Ends()
        set(view, .picture, ends, .waitStoreCache)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { ends.cacheTypes.count == 1 })
        weak let image = view.latestLoadState?.result?.image
        #expect(image != nil)
        view.setImage(with: nil)
        bench.cache.memoryCache.didReceiveMemoryWarning()
        // Threads release it a moment after their delivery.
        #expect(await MainLoopTurns.wait { image == nil })
        set(view, .picture, ends)
        #expect(ends.cacheTypes.count == 1)
        #expect(await MainLoopTurns.wait { ends.cacheTypes.count == 2 })
        #expect(ends.cacheTypes.last == .disk)
        window.close()
    }

    @Test(arguments: [WebImageOptions.delayPlaceholder, []])
    func `A cell bound again to its displayed image has it at once`(options: WebImageOptions) async throws {
        let list = try await ListBench(count: 1) { $0.options = options }
        list.bench.cache.config.shouldUseWeakMemoryCache = true
        #expect(await list.loadVisible())
        list.bench.cache.memoryCache.didReceiveMemoryWarning()
        list.reset()
        await list.window.frames()
        let view = try #require(list.bound.keys.first)
        #expect(view.latestLoadState?.result?.cacheType == .memory && list.shown(in: view) == 0)
        #expect(list.bench.loader.requests == [ListBench.url(0)])
        list.close()
    }

    @Test func `A button makes no paintables besides those of its pictures`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let ends = Ends()
        set(button, .button, ends)
        #expect(ViewState.of(UnsafeMutableRawPointer(button)).existingPaintable == nil)
        window.close()
        #expect(ends.cacheTypes == [nil])
    }
}
