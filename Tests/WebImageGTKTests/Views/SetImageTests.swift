import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageGTK
@testable import WebImageLoading

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct SetImageTests {
    let bench: ViewBench
    let told = Told()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func set(
        _ view: any GObjectPointer,
        _ url: URL?,
        placeholder: ViewPlaceholder? = nil,
        _ options: WebImageOptions = [],
        context: WebImageContext? = nil
    ) -> WebImageLoadOperation? {
        let told = told
        return view.setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: context ?? bench.context,
            progress: { told.progress.append($0) },
            completed: { told.results.append($0) }
        )
    }

    private func finish(_ url: URL, _ result: Result<Data, WebImageError>, results: Int = 1) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: result)
        try #require(await MainLoopTurns.wait { told.results.count >= results })
    }

    private func color(_ window: TestWindow, _ view: OpaquePointer) async throws -> [UInt8] {
        await window.frames()
        return try window.pixels(of: UnsafeMutableRawPointer(view)).middle
    }

    /// As in a binding of GTK.
    private struct Wrapper: GObjectPointer {
        let gobjectPointer: UnsafeMutableRawPointer
    }

    @Test(arguments: ["typed", "opaque", "raw", "wrapper"])
    func `An image is shown with any kind of pointer to the view`(kind: String) async throws {
        let picture = ViewBench.makeImage()
        let raw = UnsafeMutableRawPointer(picture)
        let window = try await TestWindow(raw)
        let pointer: any GObjectPointer =
            switch kind {
            case "typed": raw.widget
            case "raw": raw
            case "wrapper": Wrapper(gobjectPointer: raw)
            default: picture
            }
        #expect(set(pointer, a) != nil)
        try await finish(a, .success(ViewBench.red))
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        #expect(told.codes == [nil] && picture.imageURL == a)
        #expect(picture.latestLoadState?.result?.cacheType == ImageCacheType.none)
        window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `An image in memory is set before the call returns`(kind: ViewKind) async throws {
        let view = try kind.make()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        _ = set(view, a)
        try await finish(a, .success(ViewBench.red))
        _ = set(view, nil)
        let paintable = kind.paintable(of: view)
        #expect(paintable.content == nil)
        _ = set(view, a)
        #expect(told.codes == [nil, .invalidURL, nil])
        let result = try #require(view.latestLoadState?.result)
        #expect(result.cacheType == .memory && paintable.content?.image === result.image)
        #expect(bench.loader.requests == [a])
        let picture = view.buttonPicture ?? view
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `A new load cancels the previous one, and its image never shows`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        _ = set(picture, a)
        try #require(await bench.loader.request(of: a))
        _ = set(picture, b)
        #expect(told.codes == [.cancelled], "called before the call returns")
        // The thread that started the load may learn of the cancellation only now.
        #expect(await MainLoopTurns.wait { bench.loader.cancelled == [a] })
        try await finish(b, .success(ViewBench.blue), results: 2)
        #expect(try await color(window, picture) == [0, 0, 255, 255])
        #expect(told.codes == [.cancelled, nil])
        window.close()
    }

    @Test func `An undelivered image of a previous load is not shown after a new load`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        _ = set(picture, a)
        try #require(await bench.loader.request(of: a))
        // Ends on another thread while this one does not return to its loop.
        let decoded = Lock(false)
        var context = bench.context
        context.callbackQueue = .inline
        bench.manager.loadImage(with: a, context: thumbnailContext(of: picture, context)) { _ in
            decoded.withLock { $0 = true }
        }
        let (loader, url, data) = (bench.loader, a, ViewBench.red)
        startThread { loader.end(url, with: .success(data)) }
        let end = g_get_monotonic_time() + 20_000_000
        while !decoded.withLock({ $0 }), g_get_monotonic_time() < end {}
        try #require(decoded.withLock { $0 })
        #expect(told.results.isEmpty)
        _ = set(picture, b)
        #expect(told.codes == [.cancelled])
        try await finish(b, .success(ViewBench.blue), results: 2)
        #expect(told.codes == [.cancelled, nil])
        #expect(try await color(window, picture) == [0, 0, 255, 255])
        window.close()
    }

    private func thumbnailContext(of view: OpaquePointer, _ context: WebImageContext) -> WebImageContext {
        var context = context
        context.customManager = nil
        context.thumbnailPixelSize = ViewGeometry.pixelSize(of: UnsafeMutableRawPointer(view))
        return context
    }

    @Test func `avoidAutoCancelImage lets the first load show its image, but not after the second one's`()
        async throws
    {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        for (first, second, color) in [(a, b, [0, 0, 255, 255]), (b, a, [0, 0, 255, 255])] as [(URL, URL, [UInt8])] {
            await bench.cache.clear(.all)
            told.results = []
            _ = set(picture, a)
            _ = set(picture, b, .avoidAutoCancelImage)
            try await finish(first, .success(first == a ? ViewBench.red : ViewBench.blue))
            try await finish(second, .success(second == a ? ViewBench.red : ViewBench.blue), results: 2)
            #expect(told.codes == [nil, nil])
            #expect(try await self.color(window, picture) == color)
        }
        window.close()
    }

    @Test func `The placeholder is shown at once, and a nil placeholder clears the view`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        _ = set(picture, a, placeholder: .image(green))
        #expect(try await color(window, picture) == [0, 255, 0, 255])
        _ = set(picture, b)
        let background = try await color(window, picture)
        #expect(background != [0, 255, 0, 255])
        try await finish(b, .failure(WebImageError(.invalidDownloadStatusCode, "no")), results: 2)
        #expect(try await color(window, picture) == background)
        window.close()
    }

    @Test(arguments: ViewKind.allCases)
    func `A failed load leaves its placeholder, which was shown all the time`(kind: ViewKind) async throws {
        let view = try kind.make()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        _ = set(view, a, placeholder: .image(green))
        let paintable = kind.paintable(of: view)
        #expect(paintable.content?.image === green)
        var changes = 0
        paintable.contentHandler = { changes += 1 }
        try await finish(a, .failure(WebImageError(.invalidDownloadStatusCode, "no")))
        #expect(told.codes == [.invalidDownloadStatusCode])
        #expect(paintable.content?.image === green && changes == 0)
        #expect(try await color(window, view.buttonPicture ?? view) == [0, 255, 0, 255])
        window.close()
    }

    @Test func `delayPlaceholder leaves the current content until the load fails`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        _ = set(picture, a)
        try await finish(a, .success(ViewBench.red))
        _ = set(picture, b, placeholder: .image(green), .delayPlaceholder)
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        try await finish(b, .failure(WebImageError(.invalidDownloadStatusCode, "no")), results: 2)
        #expect(told.codes == [nil, .invalidDownloadStatusCode])
        #expect(try await color(window, picture) == [0, 255, 0, 255])
        window.close()
    }

    /// A view that shows red, and waits for an image with `delayPlaceholder` and a green placeholder.
    private func waiting(_ view: OpaquePointer, placeholder: Image) async throws -> WebImageLoadOperation? {
        _ = set(view, a)
        try await finish(a, .success(ViewBench.red))
        let load = set(view, b, placeholder: .image(placeholder), .delayPlaceholder)
        try #require(await bench.loader.request(of: b))
        return load
    }

    @Test(arguments: ["view", "operation"])
    func `A cancelled load with delayPlaceholder shows its placeholder once`(by: String) async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let load = try await waiting(picture, placeholder: green)
        let paintable = ViewState.of(UnsafeMutableRawPointer(picture)).paintable
        var changes = 0
        paintable.contentHandler = { changes += 1 }
        if by == "view" { picture.cancelCurrentImageLoad() } else { load?.cancel() }
        #expect(await MainLoopTurns.wait { told.codes == [nil, .cancelled] })
        picture.cancelCurrentImageLoad()
        load?.cancel()
        await window.frames()
        #expect(changes == 1 && paintable.content?.image === green)
        #expect(try await color(window, picture) == [0, 255, 0, 255])
        window.close()
        #expect(changes == 1 && told.codes == [nil, .cancelled])
    }

    @Test(arguments: [WebImageOptions.delayPlaceholder, []])
    func `A load that replaces it shows its own placeholder or keeps the content`(options: WebImageOptions)
        async throws
    {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let blue = try ImageCodersManager.shared.decode(ViewBench.blue, options: ImageDecodeOptions())
        _ = try await waiting(picture, placeholder: green)
        let paintable = ViewState.of(UnsafeMutableRawPointer(picture)).paintable
        var seen: [Image?] = []
        paintable.contentHandler = { seen.append(paintable.content?.image) }
        _ = set(picture, ViewBench.url("c.bmp"), placeholder: .image(blue), options)
        #expect(told.codes == [nil, .cancelled] && !seen.contains { $0 === green })
        #expect(seen.count == (options.isEmpty ? 1 : 0))
        let expected: [UInt8] = options.isEmpty ? [0, 0, 255, 255] : [255, 0, 0, 255]
        #expect(try await color(window, picture) == expected)
        window.close()
    }

    @Test func `An image on disk is set before the call returns, if requested`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        bench.cache.storeDataToDisk(ViewBench.red, forKey: a.absoluteString)
        #expect(bench.cache.memoryImage(forKey: a.absoluteString) == nil)
        _ = set(picture, a, .queryDiskDataSync)
        #expect(told.codes == [nil] && picture.latestLoadState?.result?.cacheType == .disk)
        #expect(ViewState.of(UnsafeMutableRawPointer(picture)).paintable.content?.image?.pixelWidth == 40)
        #expect(bench.loader.requests.isEmpty)
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `A view that starts with an image shows it until there is another`() async throws {
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let texture = try #require(Texture.of(green))
        let picture = OpaquePointer(try #require(gtk_picture_new_for_paintable(texture.pointer)))
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        #expect(try await color(window, picture) == [0, 255, 0, 255])
        _ = set(picture, a, .delayPlaceholder)
        #expect(try await color(window, picture) == [0, 255, 0, 255])
        try await finish(a, .success(ViewBench.red))
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `avoidAutoSetImage leaves setting the image to the caller`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let background = try await color(window, picture)
        _ = set(picture, a, .avoidAutoSetImage)
        try await finish(a, .success(ViewBench.red))
        #expect(told.codes == [nil])
        #expect(try await color(window, picture) == background)
        window.close()
    }

    @Test func `A nil URL shows the placeholder, and is an error reported at once`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        for options in [[], .delayPlaceholder] as [WebImageOptions] {
            told.results = []
            #expect(set(picture, nil, placeholder: .image(green), options) == nil)
            #expect(told.codes == [.invalidURL])
            #expect(try await color(window, picture) == [0, 255, 0, 255])
            #expect(picture.imageURL == nil && picture.latestLoadState?.error?.code == .invalidURL)
        }
        window.close()
    }

    @Test func `Progress is reported on the main thread, the latest reading for many`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        var context = bench.context
        // All readings reach the view within one turn of the main loop, however busy other threads are.
        context.customManager = WebImageManager(
            cache: bench.cache,
            loader: bench.loader,
            pipeline: Pipeline(progressQueue: .inline)
        )
        _ = set(picture, a, context: context)
        try #require(await bench.loader.request(of: a))
        for received in 1...100 { bench.loader.report(Int64(received), of: 100, a) }
        #expect(told.progress.isEmpty)
        try #require(await MainLoopTurns.wait { !told.progress.isEmpty })
        #expect(told.progress.count == 1 && told.progress.last?.fraction == 1)
        try await finish(a, .success(ViewBench.red))
        window.close()
    }

    @Test func `Progress is known without a listener, and is complete for images without bytes`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        picture.setImage(with: a, context: bench.context, completed: nil)
        try #require(await bench.loader.request(of: a))
        bench.loader.report(30, of: 100, a)
        #expect(await MainLoopTurns.wait { picture.imageProgress.fraction == 0.3 })
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { picture.latestLoadState?.result != nil })
        #expect(picture.imageProgress.receivedByteCount == 30)
        _ = set(picture, a)
        #expect(told.codes == [nil] && picture.imageProgress.fraction == 1 && told.progress.isEmpty)
        window.close()
    }

    @Test func `An image whose refresh fails stays, and the placeholder does not replace it`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        _ = set(picture, a)
        try await finish(a, .success(ViewBench.red))
        _ = set(picture, a, placeholder: .image(green), [.delayPlaceholder, .refreshCached])
        try await finish(a, .failure(WebImageError(.timedOut, "no")), results: 3)
        #expect(told.codes == [nil, nil, .timedOut])
        #expect(picture.latestLoadState?.result != nil)
        #expect(try await color(window, picture) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `An unchanged refresh ends the load, and does not affect the next one`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        _ = set(picture, a)
        try await finish(a, .success(ViewBench.red))
        let refresh = set(picture, a, placeholder: nil, .refreshCached)
        #expect(told.codes == [nil, nil] && picture.imageLoadOperation(in: .image) === refresh)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .failure(WebImageError(.cacheNotModified, "nothing newer")))
        #expect(await MainLoopTurns.wait { picture.imageLoadOperation(in: .image) == nil })
        #expect(picture.latestLoadState?.result != nil)
        _ = set(picture, b)
        try await finish(b, .success(ViewBench.green), results: 3)
        #expect(told.codes == [nil, nil, nil])
        window.close()
    }

    @Test func `The async form returns the image, throws the error, and is cancelled with its task`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let (context, a, b) = (bench.context, a, b)
        let first = Task { try await picture.setImage(awaiting: a, context: context) }
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(try await first.value.image.pixelWidth == 40)
        let second = Task { () -> WebImageError.Code? in
            do throws(WebImageError) {
                try await picture.setImage(awaiting: b, context: context)
                return nil
            } catch { return error.code }
        }
        try #require(await bench.loader.request(of: b))
        second.cancel()
        #expect(await second.value == .cancelled)
        #expect(await MainLoopTurns.wait { bench.loader.cancelled == [b] })
        window.close()
    }

    @Test func `A destroyed view cancels its loads, completes them, and leaves nothing behind`() async throws {
        let before = ViewState.count
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        _ = set(picture, a)
        try #require(await bench.loader.request(of: a))
        #expect(ViewState.count == before + 1)
        window.close()
        #expect(told.codes == [.cancelled])
        #expect(await MainLoopTurns.wait { ViewState.count == before })
        #expect(await MainLoopTurns.wait { bench.loader.cancelled == [a] })
    }

    @Test func `GtkImage shows images, decoded for its size`() async throws {
        let view = OpaquePointer(try #require(gtk_image_new()))
        gtk_image_set_pixel_size(view, 20)
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        _ = set(view, a)
        try await finish(a, .success(ViewBench.red))
        #expect(try await color(window, view) == [255, 0, 0, 255])
        #expect(try told.results.last?.get().image.pixelWidth == 20)
        window.close()
    }

    @Test func `Any other widget loads images without showing them`() async throws {
        let label = OpaquePointer(try #require(gtk_label_new("A label")))
        let window = try await TestWindow(UnsafeMutableRawPointer(label))
        _ = set(label, a)
        try await finish(a, .success(ViewBench.red))
        #expect(told.codes == [nil] && label.latestLoadState?.result?.url == a)
        window.close()
    }

    @Test func `A trailing closure is the completion, also where it could be called with progress`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        var count = 0
        picture.setImage(with: a, context: bench.context) { _ in count += 1 }
        try #require(await bench.loader.request(of: a))
        bench.loader.report(1, of: 2, a)
        #expect(await MainLoopTurns.wait { picture.imageProgress.fraction == 0.5 })
        await window.frames()
        #expect(count == 0)
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { picture.latestLoadState?.result != nil })
        #expect(count == 1)
        window.close()
    }

    @Test func `Slots have their own loads, and can hold custom operations`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        var other = bench.context
        other.setImageOperationKey = "other"
        let first = set(picture, a)
        let second = set(picture, b, context: other)
        #expect(picture.latestImageSlot == .named("other") && picture.imageURL == b)
        #expect(picture.imageLoadOperation(in: .image) === first)
        #expect(picture.imageLoadOperation(in: .named("other")) === second)
        #expect(told.results.isEmpty)
        picture.cancelLatestImageLoad()
        #expect(told.codes == [.cancelled] && second?.isCancelled == true && first?.isCancelled == false)
        picture.cancelCurrentImageLoad()
        #expect(told.codes == [.cancelled, .cancelled])
        #expect(picture.imageLoadState(in: .image)?.error?.code == .cancelled)
        let own = bench.manager.loadImage(with: a) { _ in }
        picture.setImageLoadOperation(own, in: .named("own"))
        picture.setImageLoadOperation(nil, in: .named("own"))
        #expect(picture.imageLoadOperation(in: .named("own")) === own && !own.isCancelled)
        picture.cancelCurrentImageLoad(in: .named("own"))
        #expect(own.isCancelled && picture.imageLoadOperation(in: .named("own")) == nil)
        window.close()
    }

    @Test func `The alternative text for screen readers stays`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        gtk_picture_set_alternative_text(picture, "A red field")
        _ = set(picture, a)
        try await finish(a, .success(ViewBench.red))
        #expect(gtk_picture_get_alternative_text(picture).map { String(cString: $0) } == "A red field")
        window.close()
    }
}
