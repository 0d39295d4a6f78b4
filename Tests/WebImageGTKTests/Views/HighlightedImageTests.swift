import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct HighlightedImageTests {
    let bench: ViewBench
    let told = Told()
    private let a = ViewBench.url("a.bmp")
    private let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func finish(_ url: URL, _ data: Data, _ view: OpaquePointer, _ slot: ImageSlot) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { view.imageLoadState(in: slot)?.result != nil })
    }

    private func middle(_ window: TestWindow, _ view: OpaquePointer) async throws -> [UInt8] {
        await window.frames()
        return try window.pixels(of: UnsafeMutableRawPointer(view)).middle
    }

    private func setFlag(_ flag: GtkStateFlags, _ isSet: Bool, _ view: OpaquePointer) {
        let widget = UnsafeMutableRawPointer(view).widget
        isSet ? gtk_widget_set_state_flags(widget, flag, 0) : gtk_widget_unset_state_flags(widget, flag)
    }

    @Test(arguments: [false, true])
    func `The highlighted image is shown while the view is hovered, pressed, selected, or highlighted by the program`(
        isImage: Bool
    )
        async throws
    {
        let view = isImage ? OpaquePointer(try #require(gtk_image_new())) : ViewBench.makeImage()
        if isImage { gtk_image_set_pixel_size(view, 40) }
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        view.setImage(with: a, context: bench.context, completed: nil)
        try await finish(a, ViewBench.red, view, .image)
        let told = told
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: { told.results.append($0) })
        #expect(view.imageURL(in: .highlighted) == b && view.latestImageSlot == .highlighted)
        try await finish(b, ViewBench.blue, view, .highlighted)
        #expect(told.codes == [nil])
        #expect(try await middle(window, view) == [255, 0, 0, 255])
        for flag in [GTK_STATE_FLAG_PRELIGHT, GTK_STATE_FLAG_ACTIVE, GTK_STATE_FLAG_SELECTED] {
            setFlag(flag, true, view)
            #expect(view.isHighlighted)
            #expect(try await middle(window, view) == [0, 0, 255, 255])
            setFlag(flag, false, view)
            #expect(!view.isHighlighted)
            #expect(try await middle(window, view) == [255, 0, 0, 255])
        }
        view.isHighlighted = true
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        view.isHighlighted = false
        #expect(try await middle(window, view) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `The highlighted image has its own slot, is cancelled separately, and has no placeholder`() async throws
    {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        #expect(view.imageURL(in: .highlighted) == nil && !view.isHighlighted)
        view.cancelCurrentImageLoad(in: .highlighted)
        var context = bench.context
        context.setImageOperationKey = "mine"
        let told = told
        let first = view.setImage(with: a, context: bench.context, completed: nil)
        let second = view.setImage(
            with: b,
            in: .highlighted,
            context: context,
            progress: { told.progress.append($0) },
            completed: { told.results.append($0) }
        )
        #expect(view.imageLoadOperation(in: .image) === first)
        #expect(view.imageLoadOperation(in: .highlighted) === second)
        view.isHighlighted = true
        try #require(await bench.loader.request(of: b))
        bench.loader.report(1, of: 2, b)
        #expect(await MainLoopTurns.wait { told.progress.count == 1 })
        view.cancelCurrentImageLoad(in: .highlighted)
        #expect(told.codes == [.cancelled] && first?.isCancelled == false)
        try await finish(a, ViewBench.red, view, .image)
        #expect(try await middle(window, view) == [255, 0, 0, 255], "without one the image is shown")
        #expect(view.setImage(with: nil, in: .highlighted, completed: { told.results.append($0) }) == nil)
        #expect(told.codes.last == .invalidURL && view.imageURL(in: .highlighted) == nil)
        window.close()
    }

    @Test func `A given placeholder is shown instead while the view is highlighted`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        view.setImage(with: a, context: bench.context)
        try await finish(a, ViewBench.red, view, .image)
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        view.setImage(with: b, in: .highlighted, placeholder: .image(green), context: bench.context)
        #expect(try await middle(window, view) == [255, 0, 0, 255])
        view.isHighlighted = true
        #expect(try await middle(window, view) == [0, 255, 0, 255])
        try await finish(b, ViewBench.blue, view, .highlighted)
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        window.close()
    }

    @Test func `The async form returns the image or throws the error`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let (context, a, b) = (bench.context, a, b)
        let first = Task { try await view.setImage(awaiting: a, in: .highlighted, context: context) }
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(try await first.value.image.pixelWidth == 40)
        let second = Task { () -> WebImageError.Code? in
            do throws(WebImageError) {
                try await view.setImage(awaiting: b, in: .highlighted, context: context)
                return nil
            } catch { return error.code }
        }
        try #require(await bench.loader.request(of: b))
        second.cancel()
        #expect(await second.value == .cancelled)
        window.close()
    }

    @Test func `The program's content is shown again afterwards`() async throws {
        let view = ViewBench.makeImage()
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        let texture = try #require(Texture.of(green))
        gtk_picture_set_paintable(view, texture.pointer)
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: nil)
        try await finish(b, ViewBench.blue, view, .highlighted)
        #expect(try await middle(window, view) == [0, 255, 0, 255])
        view.isHighlighted = true
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        view.isHighlighted = false
        #expect(try await middle(window, view) == [0, 255, 0, 255])
        window.close()
    }

    @Test func `The icon of a GtkImage is shown again afterwards`() async throws {
        let view = OpaquePointer(try #require(gtk_image_new_from_icon_name("image-missing")))
        gtk_image_set_pixel_size(view, 40)
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        await window.frames()
        func sum() throws -> Int {
            let pixels = try window.pixels(of: UnsafeMutableRawPointer(view))
            return (0..<pixels.height).reduce(0) { sum, y in
                sum + (0..<pixels.width).reduce(0) { $0 + (pixels.rgba($1, y)[3] > 0 ? 1 : 0) }
            }
        }
        let before = try sum()
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: nil)
        try await finish(b, ViewBench.blue, view, .highlighted)
        await window.frames()
        let after = try sum()
        #expect(before > 0 && after == before)
        for _ in 0..<2 {
            view.isHighlighted = true
            #expect(try await middle(window, view) == [0, 0, 255, 255])
            view.isHighlighted = false
            await window.frames()
            #expect(try sum() == before)
        }
        view.isHighlighted = true
        view.setImage(with: a, context: bench.context, completed: nil)
        try await finish(a, ViewBench.red, view, .image)
        view.isHighlighted = false
        #expect(try await middle(window, view) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `The highlighted image keeps its aspect ratio in the image's box, and the box stays`() async throws {
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 120, 80)
        view.setImage(with: a, context: bench.context, completed: nil)
        try await finish(a, ViewBench.picture(120, 80, 255, 0, 0), view, .image)
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: nil)
        try await finish(b, ViewBench.picture(40, 80, 0, 0, 255), view, .highlighted)
        var sizes = 0
        Signal("invalidate-size", of: ViewState.of(UnsafeMutableRawPointer(view)).paintable.pointer) { sizes += 1 }
        view.isHighlighted = true
        await window.frames()
        let pixels = try window.pixels(of: UnsafeMutableRawPointer(view))
        #expect(pixels.middle == [0, 0, 255, 255] && pixels.rgba(42, 2) == [0, 0, 255, 255])
        #expect(pixels.rgba(36, 40)[3] == 0 && pixels.rgba(84, 40)[3] == 0 && sizes == 0)
        window.close()
    }

    @Test func `An animated image is shown instead of the highlighted one`() async throws {
        let stage = try await AnimationStage()
        stage.picture.setImage(with: b, in: .highlighted, context: bench.context, completed: nil)
        try await finish(b, ViewBench.blue, stage.picture, .highlighted)
        stage.picture.isHighlighted = true
        #expect(try await stage.middle() == [0, 0, 255, 255])
        stage.show(try ColorFrames([ColorFrames.red, ColorFrames.green]).image())
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        #expect(try await stage.middle() == ColorFrames.green)
        stage.show(nil)
        #expect(try await stage.middle() == [0, 0, 255, 255])
        stage.window.close()
    }

    @Test func `A destroyed view releases its highlighted image`() async throws {
        let before = ViewState.count
        let view = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(view))
        let told = told
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: { told.results.append($0) })
        try #require(await bench.loader.request(of: b))
        view.isHighlighted = true
        window.close()
        #expect(told.codes == [.cancelled])
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }

    @Test func `The highlighted image is decoded again when it is drawn bigger`() async throws {
        let view = ViewBench.makeImage()
        gtk_widget_set_size_request(UnsafeMutableRawPointer(view).widget, 20, 15)
        let window = try await TestWindow(UnsafeMutableRawPointer(view), 20, 15)
        view.setImage(with: b, in: .highlighted, context: bench.context, completed: nil)
        try await finish(b, ViewBench.picture(400, 300, 0, 0, 255), view, .highlighted)
        let state = ViewState.of(UnsafeMutableRawPointer(view))
        #expect(state.highlight?.content?.image?.pixelWidth ?? 400 < 100)
        gtk_widget_set_size_request(UnsafeMutableRawPointer(view).widget, 200, 150)
        view.isHighlighted = true
        #expect(await MainLoopTurns.wait { state.highlight?.content?.image?.pixelWidth ?? 0 >= 200 })
        #expect(try await middle(window, view) == [0, 0, 255, 255])
        window.close()
    }
}
