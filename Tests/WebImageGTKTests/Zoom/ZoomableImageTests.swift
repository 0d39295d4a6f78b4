import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Zoomable images on the display.
@Suite(.serialized, .tags(.addressSanitizer), .needsDisplay) @MainActor struct ZoomableImageTests {
    private let bench: ViewBench
    private let picture: OpaquePointer
    private let scroller: UnsafeMutableRawPointer
    private let url = ViewBench.url("large.bmp")

    init() throws {
        bench = try ViewBench()
        picture = ViewBench.makeImage()
        gtk_picture_set_can_shrink(picture, 1)
        scroller = UnsafeMutableRawPointer(try #require(gtk_scrolled_window_new()))
        gtk_scrolled_window_set_child(scroller.opaque, UnsafeMutableRawPointer(picture).widget)
    }

    private var view: UnsafeMutableRawPointer { UnsafeMutableRawPointer(picture) }
    private var state: ViewState { ViewState.of(view) }

    /// An image whose colours are coordinates: red is the distance from the left, green from the top, blue changes with every pixel.
    private static func map(_ width: Int, _ height: Int) -> Data {
        var bytes = [UInt8](ViewBench.picture(width, height, 0, 0, 0))
        let row = (width * 3 + 3) / 4 * 4
        for y in 0..<height {
            for x in 0..<width {
                let pixel = 54 + (height - 1 - y) * row + x * 3
                bytes[pixel] = UInt8((x + y) % 2 * 255)
                bytes[pixel + 1] = UInt8(y * 256 / height)
                bytes[pixel + 2] = UInt8(x * 256 / width)
            }
        }
        return Data(bytes)
    }

    private func show(_ data: Data, context: WebImageContext? = nil) async throws -> TestWindow {
        let window = try await TestWindow(scroller, 400, 300)
        var results: [Result<WebImageResult, WebImageError>] = []
        picture.setZoomableImage(with: url, context: context ?? bench.context) { results.append($0) }
        try #require(await bench.loader.request(of: url))
        bench.loader.answer(url, with: .success(data))
        try #require(await MainLoopTurns.wait { !results.isEmpty })
        _ = try #require(results.first).get()
        await window.frames()
        return window
    }

    private func hasTiles(_ layer: Int) async -> Bool {
        await MainLoopTurns.wait {
            guard let store = self.state.tiledImage?.store else { return false }
            let isIdle = store.reads.isEmpty && store.arrived.isEmpty
            return isIdle && store.tiles.keys.contains { $0.layer == layer }
        }
    }

    @Test func `An image too big for a texture is drawn in tiles when it is zoomed, with each of its pixels`()
        async throws
    {
        let window = try await show(Self.map(2600, 1800))
        let fitted = try #require(state.paintable.content?.image)
        #expect(fitted.pixelWidth == 400)
        #expect(state.tiledImage?.isWanted == true && state.tiledImage?.store == nil, "not before it is zoomed")
        let zoom = ZoomableImageView(picture)
        #expect(zoom.isFitting && abs(zoom.zoom - 400.0 / 2600) < 1e-9)
        zoom.setZoom(1, about: ImagePoint(x: 0, y: 0))
        #expect(zoom.zoom == 1 && !zoom.isFitting)
        await window.frames()
        state.zoom?.scroll = ImagePoint(x: 1000, y: 900)
        try #require(await hasTiles(1))
        await window.frames()
        let pixels = try window.pixels(of: scroller)
        for (x, y) in [(10, 10), (11, 10), (150, 200), (23, 123), (380, 270)] {
            let (column, row) = (1000 + x, 900 + y)
            let expected = [column * 256 / 2600, row * 256 / 1800, (column + row) % 2 * 255, 255].map { UInt8($0) }
            #expect(pixels.rgba(x, y).isClose(to: expected), "\(x), \(y)")
        }
        #expect(state.paintable.content?.image === fitted, "the whole image is not decoded again")
        window.close()
    }

    @Test func `An image that fits into a texture is loaded again for its zoomed size, without tiles`() async throws {
        let window = try await show(Self.map(2000, 1500))
        #expect(state.tiledImage?.isWanted == false)
        ZoomableImageView(picture).setZoom(1)
        #expect(await MainLoopTurns.wait { self.state.paintable.content?.image?.pixelWidth == 2000 })
        window.close()
    }

    @Test func `Another image releases the tiles and fits`() async throws {
        let window = try await show(Self.map(2600, 1800))
        let zoom = ZoomableImageView(picture)
        var changes = 0
        zoom.zoomHandler = { changes += 1 }
        zoom.setZoom(2)
        #expect(changes == 1)
        try #require(await hasTiles(0))
        weak let store = state.tiledImage?.store
        let other = ViewBench.url("other.bmp")
        picture.setZoomableImage(with: other, context: bench.context)
        #expect(zoom.isFitting && changes > 1)
        #expect(state.tiledImage?.isWanted == false)
        await window.frames()
        #expect(await MainLoopTurns.wait { store == nil })
        window.close()
    }

    @Test func `Tiles are released while the view is not visible, and read again when it is`() async throws {
        let window = try await show(Self.map(2600, 1800))
        ZoomableImageView(picture).setZoom(1)
        try #require(await hasTiles(1))
        gtk_widget_set_visible(scroller.widget, 0)
        #expect(state.tiledImage?.store?.tiles.isEmpty == true)
        gtk_widget_set_visible(scroller.widget, 1)
        #expect(await hasTiles(1))
        window.close()
    }

    @Test func `Transformed images and those of untrusted sources have no tiles`() async throws {
        var context = bench.context
        context.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        let window = try await show(Self.map(2600, 1800), context: context)
        #expect(state.tiledImage?.isWanted == false)
        #expect(!TileSource.suits(try #require(state.paintable.content?.image), bench.manager, context))
        window.close()
    }

    @Test func `An image that has no tiles is drawn in parts if it is too big for a texture`() async throws {
        var context = bench.context
        context.imageTransformer = .transformer(FlippingTransformer(horizontal: true, vertical: false))
        let window = try await show(Self.map(2600, 1800), context: context)
        #expect(state.tiledImage?.partStore == nil)
        ZoomableImageView(picture).setZoom(1, about: ImagePoint(x: 0, y: 0))
        #expect(await MainLoopTurns.wait { self.state.paintable.content?.image?.pixelWidth == 2600 })
        state.zoom?.scroll = ImagePoint(x: 900, y: 900)
        await window.frames()
        let store = try #require(state.tiledImage?.partStore)
        #expect(await MainLoopTurns.wait { store.tiles.count >= 2 })
        await window.frames()
        for tile in store.tiles.values {
            let texture = tile.content.pointer
            #expect(gdk_texture_get_width(texture) <= 2048 && gdk_texture_get_height(texture) <= 2048)
        }
        // On both sides of the edge of the parts at 1024.
        let pixels = try window.pixels(of: scroller)
        for (x, y) in [(10, 10), (11, 10), (122, 123), (123, 124), (124, 123), (125, 124), (380, 270)] {
            let (column, row) = (2599 - (900 + x), 900 + y)
            let expected = [column * 256 / 2600, row * 256 / 1800, (column + row) % 2 * 255, 255].map { UInt8($0) }
            #expect(pixels.rgba(x, y).isClose(to: expected), "\(x), \(y)")
        }
        window.close()
    }

    @Test func `Frames of an animation that are too big for a texture are drawn in parts`() async throws {
        let frames = ColorFrames([[200, 0, 0, 255], [0, 0, 200, 255]], size: (2400, 300))
        let data = try ImageCodersManager.shared.encode(frames, to: .gif, options: ImageEncodeOptions())
        let window = try await show(data)
        ZoomableImageView(picture).setZoom(1, about: ImagePoint(x: 0, y: 0))
        #expect(await MainLoopTurns.wait { self.state.paintable.content?.image?.pixelWidth == 2400 })
        for color: [UInt8] in [[200, 0, 0, 255], [0, 0, 200, 255], [200, 0, 0, 255]] {
            #expect(
                await MainLoopTurns.wait {
                    guard let store = self.state.tiledImage?.partStore, !store.tiles.isEmpty else { return false }
                    let textures = store.tiles.values.map(\.content.pointer)
                    guard textures.allSatisfy({ gdk_texture_get_width($0) <= 2048 }) else { return false }
                    return (try? window.pixels(of: self.scroller).rgba(100, 150).isClose(to: color)) == true
                }
            )
        }
        window.close()
    }

    @Test func `What a manager's processor selects decides about tiles`() async throws {
        bench.manager.optionsProcessor = WebImageOptionsProcessor { _, options, context in
            var context = context
            context.originalStoreCacheType = ImageCacheType.none
            return WebImageOptionsResult(options: options, context: context)
        }
        let window = try await show(Self.map(2600, 1800))
        #expect(state.tiledImage?.isWanted == true)
        let other = ViewBench.url("other.bmp")
        bench.manager.optionsProcessor = WebImageOptionsProcessor { _, options, context in
            var context = context
            context.page = 1
            return WebImageOptionsResult(options: options, context: context)
        }
        var results: [Result<WebImageResult, WebImageError>] = []
        picture.setZoomableImage(with: other, context: bench.context) { results.append($0) }
        try #require(await bench.loader.request(of: other))
        bench.loader.answer(other, with: .success(Self.map(2600, 1800)))
        try #require(await MainLoopTurns.wait { !results.isEmpty })
        #expect(state.tiledImage?.isWanted == false)
        window.close()
    }

    @Test func `Tiles of an isolated format are read in a worker`() async throws {
        var isolation = DecodeIsolation()
        (isolation.workerPath, isolation.maximumDecodeDuration) = (ProgramRun.product("webimage-decoder"), 60)
        guard FileManager.default.isExecutableFile(atPath: isolation.workerPath ?? "") else { return }
        var context = bench.context
        context.decoding = .isolated(isolation)
        let window = try await show(Self.map(2600, 1800), context: context)
        ZoomableImageView(picture).setZoom(1, about: ImagePoint(x: 0, y: 0))
        try #require(await hasTiles(1))
        await window.frames()
        let pixels = try window.pixels(of: scroller)
        for (x, y) in [(10, 10), (123, 45), (380, 270)] {
            let expected = [x * 256 / 2600, y * 256 / 1800, (x + y) % 2 * 255, 255].map { UInt8($0) }
            #expect(pixels.rgba(x, y).isClose(to: expected), "\(x), \(y)")
        }
        window.close()
    }

    @Test func `The limit of pixels is lifted only where images have tiles`() {
        func limit(_ context: WebImageContext) -> Int? {
            TileSource.context(for: context).decodeOptions?.limits.maximumPixelCount
        }
        #expect(limit(bench.context) == RegionOptions().maximumImagePixelCount)
        var risky = bench.context
        risky.decoding = .isolated(.risky)
        #expect(limit(risky) != nil)
        var isolated = bench.context
        isolated.decoding = .isolated
        #expect(limit(isolated) != nil)
        var untrusted = WebImageContext()
        untrusted.customManager = WebImageManager(policy: .untrusted)
        #expect(limit(untrusted) == nil)
        var own = bench.context
        own.decodeOptions = ImageDecodeOptions()
        #expect(limit(own) == ImageLimits().maximumPixelCount)
    }

    @Test func `A picture outside a scrolled window shows the image, and ignores the zoom`() async throws {
        let alone = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(alone), 400, 300)
        alone.setZoomableImage(with: url, context: bench.context)
        bench.loader.answer(url, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { ViewState.of(UnsafeMutableRawPointer(alone)).shown != nil })
        let zoom = ZoomableImageView(alone)
        zoom.setZoom(4)
        zoom.zoomIn()
        #expect(zoom.isFitting)
        window.close()
        zoom.fit()
        #expect(zoom.zoom == 1)
    }
}
