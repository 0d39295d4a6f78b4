import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Widgets whose caller shows the images.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct OwnSetterTests {
    let bench: ViewBench
    let told = Told()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    /// A box with a GtkPicture that the test fills, like a custom widget.
    @MainActor private final class Stage {
        let box: UnsafeMutableRawPointer
        let picture: OpaquePointer
        let window: TestWindow
        /// The values set: nothing, a placeholder, a preview or an image.
        var events: [String] = []

        init(_ width: Int = 120, _ height: Int = 80) async throws {
            box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)))
            picture = ViewBench.makeImage()
            gtk_widget_set_vexpand(UnsafeMutableRawPointer(picture).widget, 1)
            gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), UnsafeMutableRawPointer(picture).widget)
            window = try await TestWindow(box, width, height)
        }

        func set(_ paintable: OpaquePointer?, _ result: WebImageResult?) {
            gtk_picture_set_paintable(picture, paintable)
            guard let paintable else { return events.append("nothing") }
            let isTexture = UnsafeMutableRawPointer(paintable).isA(gdk_texture_get_type())
            events.append(result == nil ? "placeholder" : isTexture ? "picture" : "another paintable")
        }

        func middle() async throws -> [UInt8] {
            await window.frames()
            return try window.pixels(of: UnsafeMutableRawPointer(picture)).middle
        }
    }

    init() throws { bench = try ViewBench() }

    @discardableResult
    private func set(
        _ stage: Stage,
        _ url: URL?,
        _ options: WebImageOptions = [],
        placeholder: ViewPlaceholder? = nil
    ) -> WebImageLoadOperation? {
        let told = told
        return stage.box.setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: bench.context,
            progress: { told.progress.append($0) },
            setter: { stage.set($0, $1) },
            completed: {
                told.results.append($0)
                stage.events.append("told")
            }
        )
    }

    private func finish(_ url: URL, _ result: Result<Data, WebImageError>, results: Int = 1) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: result)
        try #require(await MainLoopTurns.wait { told.results.count >= results })
    }

    private func green() throws -> ViewPlaceholder {
        .image(try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions()))
    }

    @Test func `The setter gets the placeholder and then the image, decoded for the size of the widget`() async throws {
        let stage = try await Stage(120, 80)
        let operation = set(stage, a, placeholder: try green())
        #expect(stage.events == ["placeholder"], "before the call returns")
        #expect(try await stage.middle() == [0, 255, 0, 255])
        #expect(operation != nil && stage.box.imageLoadOperation(in: .image) === operation)
        try #require(await bench.loader.request(of: a))
        bench.loader.report(1, of: 2, a)
        #expect(await MainLoopTurns.wait { told.progress.last?.fraction == 0.5 })
        try await finish(a, .success(ViewBench.picture(400, 300, 255, 0, 0)))
        #expect(stage.events == ["placeholder", "picture", "told"] && told.codes == [nil])
        #expect(try await stage.middle() == [255, 0, 0, 255])
        #expect(stage.box.imageURL == a && stage.box.imageProgress.fraction == 0.5)
        #expect(stage.box.latestLoadState?.result?.image.pixelWidth == 107, "107 by 80 fit into it")
        stage.window.close()
    }

    @Test func `An image in memory, or only in the widget, is set before the call returns`() async throws {
        bench.cache.config.shouldUseWeakMemoryCache = true
        let stage = try await Stage()
        set(stage, a)
        try await finish(a, .success(ViewBench.red))
        for isForgotten in [false, true] {
            // Only the widget has it then.
            told.results = []
            if isForgotten { bench.cache.memoryCache.didReceiveMemoryWarning() }
            stage.events = []
            set(stage, a)
            #expect(stage.events == ["nothing", "picture", "told"])
            #expect(stage.box.latestLoadState?.result?.cacheType == .memory)
        }
        #expect(bench.loader.requests == [a])
        stage.window.close()
    }

    @Test func `A newer load cancels the first, whose image is not set`() async throws {
        let stage = try await Stage()
        set(stage, a)
        try #require(await bench.loader.request(of: a))
        set(stage, b)
        #expect(told.codes == [.cancelled] && stage.events == ["nothing", "told", "nothing"])
        #expect(await MainLoopTurns.wait { bench.loader.cancelled == [a] })
        try await finish(b, .success(ViewBench.blue), results: 2)
        #expect(stage.events == ["nothing", "told", "nothing", "picture", "told"])
        #expect(try await stage.middle() == [0, 0, 255, 255])
        set(stage, b, .fromLoaderOnly)
        stage.box.cancelCurrentImageLoad()
        #expect(told.codes == [.cancelled, nil, .cancelled])
        stage.window.close()
    }

    @Test func `View options apply to the setter`() async throws {
        let stage = try await Stage()
        set(stage, a, .avoidAutoSetImage)
        try await finish(a, .success(ViewBench.red))
        #expect(stage.events == ["nothing", "told"])
        stage.events = []
        set(stage, b, .delayPlaceholder, placeholder: try green())
        #expect(stage.events.isEmpty)
        try await finish(b, .failure(WebImageError(.invalidDownloadStatusCode, "no")), results: 2)
        #expect(stage.events == ["placeholder", "told"])
        stage.events = []
        #expect(set(stage, nil, placeholder: try green()) == nil)
        #expect(stage.events == ["placeholder", "told"] && told.codes.last == .invalidURL)
        stage.window.close()
    }

    @Test func `A transition of the widget does not apply to the setter`() async throws {
        let stage = try await Stage()
        var prepared = 0
        stage.box.imageTransition = .fade
        stage.box.imageTransition?.prepares = { _, _ in prepared += 1 }
        set(stage, a, .waitTransition)
        try await finish(a, .success(ViewBench.red))
        #expect(prepared == 0 && stage.events == ["nothing", "picture", "told"])
        stage.window.close()
    }

    @Test func `In a button the setter uses the slot of the normal state`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        var shown: [Bool] = []
        let operation = button.setImage(
            with: a,
            context: bench.context,
            setter: { paintable, _ in
                shown.append(paintable != nil)
            }
        )
        #expect(button.imageLoadOperation(in: .image) === operation)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { shown == [false, true] })
        #expect(button.buttonPicture == nil, "the caller shows it")
        window.close()
    }

    @Test(arguments: [ImageSlot.highlighted, .background, .image(.active), .named("mine")])
    func `Any widget can use any slot, and shows nothing there itself`(slot: ImageSlot) async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        var shown: [Bool] = []
        let operation = view.setImage(
            with: a,
            in: slot,
            context: bench.context,
            setter: { paintable, _ in shown.append(paintable != nil) }
        )
        #expect(view.imageLoadOperation(in: slot) === operation && view.latestImageSlot == slot)
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { shown == [false, true] })
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        #expect(state.highlight == nil && state.button == nil && gtk_picture_get_paintable(view) == nil)
        window.close()
    }

    @Test func `The end of the widget cancels the load, and sets nothing`() async throws {
        let before = ViewState.count
        let stage = try await Stage()
        set(stage, a)
        try #require(await bench.loader.request(of: a))
        stage.window.close()
        #expect(stage.events == ["nothing", "told"] && told.codes == [.cancelled])
        #expect(await MainLoopTurns.wait { ViewState.count == before && bench.loader.cancelled == [a] })
    }

    @Test(arguments: [true, false]) func `The closure's captures are released when the load has ended`(succeeds: Bool)
        async throws
    {
        final class Kept: Sendable {}
        weak var kept: Kept?
        let stage = try await Stage()
        do {
            let object = Kept()
            kept = object
            let told = told
            stage.box.setImage(
                with: a,
                context: bench.context,
                setter: { _, _ in withExtendedLifetime(object) {} },
                completed: { told.results.append($0) }
            )
        }
        #expect(kept != nil)
        try await finish(a, succeeds ? .success(ViewBench.red) : .failure(WebImageError(.timedOut, "no")))
        #expect(await MainLoopTurns.wait { kept == nil })
        stage.window.close()
    }

    @Test func `The async form returns the image once it was set`() async throws {
        let stage = try await Stage()
        let (context, a) = (bench.context, a)
        let task = Task {
            try await stage.box.setImage(awaiting: a, context: context, setter: { stage.set($0, $1) })
        }
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(try await task.value.url == a && stage.events == ["nothing", "picture"])
        stage.window.close()
    }
}
