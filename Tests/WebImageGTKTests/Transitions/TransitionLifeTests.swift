import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Start and end of transitions on real widgets.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct TransitionLifeTests {
    let bench: ViewBench
    let told = Told()
    let record = Record()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    @MainActor final class Record {
        var events: [String] = []
    }

    init() throws { bench = try ViewBench() }

    private func transition(_ duration: Double, _ name: String = "") -> WebImageTransition {
        let record = record
        var transition = WebImageTransition.fade(duration: duration)
        transition.prepares = { _, result in
            record.events.append("\(name)prepares \(result == nil ? "nothing" : "picture")")
        }
        transition.completion = { record.events.append("\(name)completion \($0)") }
        return transition
    }

    private func set(
        _ picture: OpaquePointer,
        _ url: URL?,
        _ options: WebImageOptions = [],
        placeholder: ViewPlaceholder? = nil
    ) {
        let (told, record) = (told, record)
        picture.setImage(
            with: url,
            placeholder: placeholder,
            options: options,
            context: bench.context,
            completed: {
                told.results.append($0)
                record.events.append("told")
            }
        )
    }

    private func finish(_ url: URL, _ data: Data = ViewBench.red) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(data))
    }

    private func shown() async throws -> (picture: OpaquePointer, window: TestWindow, paintable: ImagePaintable) {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        return (picture, window, ViewState.of(UnsafeMutableRawPointer(picture)).paintable)
    }

    @Test func `A transition prepares, runs by the frames' time, and ends at the new image`() async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(0.1)
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { record.events.last == "completion true" })
        #expect(record.events == ["prepares picture", "told", "completion true"])
        #expect(paintable.transitionProgress == nil && !paintable.clock.isRunning)
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).middle == [255, 0, 0, 255])
        window.close()
    }

    @Test func `With waitTransition the caller is notified at the end`() async throws {
        let (picture, window, _) = try await shown()
        picture.imageTransition = transition(0.1)
        set(picture, a, .waitTransition)
        try await finish(a)
        #expect(await MainLoopTurns.wait { record.events.count == 3 })
        #expect(record.events == ["prepares picture", "completion true", "told"])
        window.close()
    }

    @Test(arguments: [WebImageOptions.waitTransition, []])
    func `The next content cuts a transition short`(options: WebImageOptions) async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(60)
        set(picture, a, options)
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        record.events = []
        set(picture, b)
        #expect(record.events == (options.isEmpty ? ["completion false"] : ["completion false", "told"]))
        #expect(paintable.transitionProgress == nil && told.codes == [nil])
        try await finish(b, ViewBench.blue)
        #expect(await MainLoopTurns.wait { told.codes.count == 2 })
        #expect(record.events.suffix(2) == ["prepares picture", "told"])
        window.close()
    }

    @Test func `With delayPlaceholder a transition continues until the next image arrives`() async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(60, "a ")
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        record.events = []
        picture.imageTransition = transition(60, "b ")
        set(picture, b, .delayPlaceholder)
        #expect(record.events.isEmpty && paintable.transitionProgress != nil)
        try await finish(b, ViewBench.blue)
        #expect(await MainLoopTurns.wait { !record.events.isEmpty })
        #expect(record.events == ["a completion false", "b prepares picture", "told"])
        window.close()
    }

    @Test func `A failure with delayPlaceholder leads to the placeholder by a transition`() async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(60)
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        set(picture, a, .delayPlaceholder, placeholder: .image(green))
        try #require(await bench.loader.request(of: a))
        bench.loader.end(a, with: .failure(WebImageError(.invalidDownloadStatusCode, "no")))
        #expect(await MainLoopTurns.wait { told.codes == [.invalidDownloadStatusCode] })
        #expect(record.events == ["prepares nothing", "told"] && paintable.transitionProgress != nil)
        #expect(paintable.content?.image === green)
        window.close()
    }

    @Test func `The end of the view cuts a transition short, and all callers complete`() async throws {
        let before = ViewState.count
        do {
            let (picture, window, _) = try await shown()
            picture.imageTransition = transition(60)
            set(picture, a, .waitTransition)
            try await finish(a)
            #expect(await MainLoopTurns.wait { record.events == ["prepares picture"] })
            window.close()
        }
        #expect(record.events == ["prepares picture", "completion false", "told"] && told.codes == [nil])
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }

    @Test func `Leaving the screen ends a transition, and off screen none begins`() async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(60)
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        gtk_widget_set_visible(UnsafeMutableRawPointer(picture).widget, 0)
        #expect(record.events == ["prepares picture", "told", "completion false"])
        #expect(paintable.transitionProgress == nil && !paintable.clock.isRunning)
        record.events = []
        set(picture, b, .waitTransition)
        try await finish(b, ViewBench.blue)
        #expect(await MainLoopTurns.wait { record.events.count == 3 })
        #expect(record.events == ["prepares picture", "completion true", "told"])
        #expect(paintable.content?.image?.pixelWidth == 40)
        gtk_widget_set_visible(UnsafeMutableRawPointer(picture).widget, 1)
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).middle == [0, 0, 255, 255])
        window.close()
    }

    @Test func `With animations turned off a transition is over at once`() async throws {
        let (picture, window, paintable) = try await shown()
        let setting = AnimationSetting()
        setting.turn(false)
        defer { setting.turn(true) }
        picture.imageTransition = transition(60)
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { record.events.count == 3 })
        #expect(record.events == ["prepares picture", "completion true", "told"])
        #expect(paintable.transitionProgress == nil)
        window.close()
    }

    @Test(arguments: [0, -1, .nan, .infinity]) func `Without a duration a transition is over at once`(duration: Double)
        async throws
    {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(duration)
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { record.events.count == 3 })
        #expect(record.events == ["prepares picture", "completion true", "told"])
        #expect(paintable.transitionProgress == nil && paintable.content != nil)
        window.close()
    }

    @Test func `The transition's avoidAutoSetImage draws the image meanwhile, and leaves setting it to the caller`()
        async throws
    {
        let (picture, window, paintable) = try await shown()
        let green = try ImageCodersManager.shared.decode(ViewBench.green, options: ImageDecodeOptions())
        var effect = transition(0.05)
        effect.avoidAutoSetImage = true
        picture.imageTransition = effect
        set(picture, a, placeholder: .image(green))
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        #expect(paintable.content?.image !== green)
        #expect(await MainLoopTurns.wait { record.events.last == "completion true" })
        #expect(paintable.content?.image === green)
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).middle == [0, 255, 0, 255])
        #expect(ViewState.of(UnsafeMutableRawPointer(picture)).shown == nil)
        window.close()
    }

    @Test func `More pixels of the same image do not end a transition`() async throws {
        let (picture, window, paintable) = try await shown()
        picture.imageTransition = transition(60)
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        let more = try #require(PaintableContent(try Quarters.new(400, 300)))
        paintable.exchange(more)
        #expect(paintable.transitionProgress != nil && paintable.content?.image === more.image)
        window.close()
    }

    @Test func `A load started while a transition is cut short is shown`() async throws {
        let (picture, window, paintable) = try await shown()
        var effect = transition(60)
        let (context, b) = (bench.context, b)
        set(picture, b)
        try await finish(b, ViewBench.blue)
        #expect(await MainLoopTurns.wait { told.codes == [nil] })
        // From memory, and so at once.
        effect.completion = { _ in picture.setImage(with: b, context: context, completed: nil) }
        picture.imageTransition = effect
        set(picture, a)
        try await finish(a)
        #expect(await MainLoopTurns.wait { paintable.transitionProgress != nil })
        paintable.endTransition(finished: false)
        #expect(picture.imageURL == b && paintable.transitionProgress == nil)
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).middle == [0, 0, 255, 255])
        window.close()
    }

    @Test func `Without frames a transition ends by the clock`() async throws {
        let (picture, window, _) = try await shown()
        // Never on the screen, and so never drawn.
        let other = ObjectReference(retaining: UnsafeMutableRawPointer(ViewBench.makeImage()))
        let paintable = ImagePaintable(view: UnsafeMutableRawPointer(picture), clock: FrameClock(widget: other.pointer))
        paintable.grace = 0.01
        var ends: [Bool] = []
        paintable.show(PaintableContent(try Quarters.new()), by: .fade(duration: 0.01)) { ends.append($0) }
        #expect(ends.isEmpty && paintable.transitionProgress == 0)
        var changes = 0
        paintable.contentHandler = { changes += 1 }
        #expect(await MainLoopTurns.wait { !ends.isEmpty })
        #expect(ends == [true] && paintable.transitionProgress == nil)
        #expect(changes == 1, "an animation waits for that")
        window.close()
    }

    @Test func `On widgets transitions look as they do without`() async throws {
        try Display.open()
        // Four by three of 60 by 40, in which images are shown whole: 60 by 30, and 20 by 40.
        let grid = UnsafeMutableRawPointer(try #require(gtk_grid_new()))
        let pictures = Effects.names.enumerated().map { index, _ in
            let picture = ViewBench.makeImage()
            gtk_widget_set_hexpand(UnsafeMutableRawPointer(picture).widget, 1)
            gtk_widget_set_vexpand(UnsafeMutableRawPointer(picture).widget, 1)
            let (column, row) = (Int32(index % 4), Int32(index / 4))
            gtk_grid_attach(
                grid.assumingMemoryBound(to: GtkGrid.self),
                UnsafeMutableRawPointer(picture).widget,
                column,
                row,
                1,
                1
            )
            return picture
        }
        gtk_grid_set_row_homogeneous(grid.assumingMemoryBound(to: GtkGrid.self), 1)
        gtk_grid_set_column_homogeneous(grid.assumingMemoryBound(to: GtkGrid.self), 1)
        let window = try await TestWindow(grid, 240, 120)
        let background = try window.pixels(of: grid).middle
        let (old, new) = (try Quarters.old(40, 20), try Quarters.new(20, 40))
        for progress in [0, 0.25, 0.5, 0.75, 1] {
            for (name, picture) in zip(Effects.names, pictures) {
                let state = ViewState.of(UnsafeMutableRawPointer(picture))
                state.installPaintable()
                state.paintable.show(PaintableContent(old))
                state.paintable.show(PaintableContent(new), by: Effects.held(name, at: progress)) { _ in }
            }
            await window.frames()
            for (name, picture) in zip(Effects.names, pictures) {
                let expected = try TransitionMoment.draw(
                    Effects.named(name),
                    progress,
                    in: ImageSize(width: 60, height: 40),
                    old: (old, ImageRect(x: 0, y: 5, width: 60, height: 30)),
                    new: (new, ImageRect(x: 20, y: 0, width: 20, height: 40))
                )
                let pixels = try window.pixels(of: UnsafeMutableRawPointer(picture))
                #expect(pixels.differences(from: expected, background: background) == 0, "\(name) at \(progress)")
            }
        }
        window.close()
    }
}

/// GTK's setting that enables animations.
@MainActor
struct AnimationSetting {
    func turn(_ isOn: Bool) {
        guard let settings = gtk_settings_get_default() else { return }
        var value = GValue()
        // G_TYPE_BOOLEAN, which is a macro.
        g_value_init(&value, GType(5 << 2))
        g_value_set_boolean(&value, isOn ? 1 : 0)
        g_object_set_property(UnsafeMutableRawPointer(settings).object, "gtk-enable-animations", &value)
        g_value_unset(&value)
    }
}
