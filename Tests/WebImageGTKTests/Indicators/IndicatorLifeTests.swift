import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// When indicators are shown.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct IndicatorLifeTests {
    let bench: ViewBench
    let time = HeldTime()
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func shown() async throws -> (picture: OpaquePointer, window: TestWindow, state: ViewState) {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        return (picture, window, ViewState.of(UnsafeMutableRawPointer(picture)))
    }

    private func activity(_ size: ActivityIndicator.Size = .medium) -> ActivityIndicator {
        let indicator = ActivityIndicator(size: size)
        indicator.driver.delay.later = time.later
        return indicator
    }

    private func progress() -> ProgressIndicator {
        let indicator = ProgressIndicator()
        indicator.driver.delay.later = time.later
        return indicator
    }

    @Test func `An indicator is shown when a load takes longer than the delay, moves, and is removed with the load`()
        async throws
    {
        let (picture, window, state) = try await shown()
        let indicator = activity()
        #expect(indicator.delay == 0.15)
        picture.imageIndicator = indicator
        #expect(!indicator.isVisible && time.count == 0)
        try await bench.begin(picture, a)
        time.pass(0.14)
        #expect(!indicator.isVisible && state.paintable.overlay == nil && !state.clock.isRunning)
        time.pass(0.02)
        #expect(indicator.isVisible && state.paintable.overlay != nil && state.clock.isRunning)
        try await bench.end(picture, a)
        #expect(!indicator.isVisible && state.paintable.overlay == nil && !state.clock.isRunning)
        window.close()
    }

    @Test(arguments: [false, true])
    func `A button's indicator is drawn in its GtkPicture`(isBackground: Bool) async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let state = ViewState.of(UnsafeMutableRawPointer(button))
        let (indicator, told) = (activity(), Told())
        button.imageIndicator = indicator
        button.setImage(with: a, in: isBackground ? .background : .image, context: bench.context) {
            told.results.append($0)
        }
        try #require(await bench.loader.request(of: a))
        time.pass(0.2)
        let inner = ViewState.of(try #require(state.button?.picture(isBackground ? .background : .image)))
        #expect(
            indicator.isVisible && inner.paintable.overlay != nil && inner.clock.isRunning && !state.clock.isRunning
        )
        #expect(gtk_picture_get_paintable(inner.view.opaque) == inner.paintable.pointer.opaque, "what is seen")
        bench.loader.end(a, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { told.codes == [nil] })
        #expect(!indicator.isVisible && inner.paintable.overlay == nil && !inner.clock.isRunning)
        window.close()
    }

    @Test func `A load that ends before the delay, or from memory, never shows the indicator`() async throws {
        let (picture, window, state) = try await shown()
        let indicator = activity()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        #expect(time.count == 1)
        try await bench.end(picture, a)
        #expect(time.count == 0)
        time.pass(1)
        #expect(!indicator.isVisible)
        // Without a delay too.
        indicator.delay = 0
        _ = picture.setImage(with: a, context: bench.context, completed: nil)
        #expect(picture.latestLoadState?.result?.cacheType == .memory)
        #expect(!indicator.isVisible && state.paintable.overlay == nil && time.count == 0)
        window.close()
    }

    @Test(arguments: [WebImageError.Code.invalidDownloadStatusCode, .cancelled])
    func `Failed and cancelled loads remove the indicator`(code: WebImageError.Code) async throws {
        let (picture, window, _) = try await shown()
        let indicator = activity()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        time.pass(1)
        #expect(indicator.isVisible)
        if code == .cancelled {
            picture.cancelCurrentImageLoad()
        } else {
            try await bench.end(picture, a, with: .failure(WebImageError(code, "no")))
        }
        #expect(!indicator.isVisible)
        window.close()
    }

    @Test func `The next load of a view has its own delay`() async throws {
        let (picture, window, _) = try await shown()
        let indicator = activity()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        time.pass(1)
        try await bench.begin(picture, b)
        #expect(!indicator.isVisible && time.count == 1)
        time.pass(0.2)
        #expect(indicator.isVisible)
        try await bench.end(picture, b)
        #expect(!indicator.isVisible)
        window.close()
    }

    @Test func `Of several loads of a view the last one removes the indicator`() async throws {
        let (picture, window, state) = try await shown()
        let indicator = activity()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        var other = bench.context
        other.setImageOperationKey = "other"
        _ = picture.setImage(with: b, context: other, completed: nil)
        try #require(await bench.loader.request(of: b))
        #expect(state.indicatorLoads == 2 && time.count == 1)
        time.pass(0.2)
        bench.loader.end(a, with: .success(ViewBench.red))
        #expect(await MainLoopTurns.wait { state.indicatorLoads == 1 })
        #expect(indicator.isVisible)
        try await bench.end(picture, b)
        #expect(!indicator.isVisible && state.indicatorLoads == 0)
        window.close()
    }

    @Test func `Another indicator set during a load replaces the first, with the current progress`() async throws {
        let (picture, window, state) = try await shown()
        let (first, second) = (activity(), progress())
        picture.imageIndicator = first
        try await bench.begin(picture, a)
        bench.loader.report(30, of: 100, a)
        #expect(await MainLoopTurns.wait { picture.imageProgress.receivedByteCount == 30 })
        time.pass(1)
        picture.imageIndicator = second
        #expect(!first.isVisible && second.isVisible && second.progress == 0.3, "the first was seen")
        let third = activity()
        picture.imageIndicator = nil
        #expect(!second.isVisible && state.paintable.overlay == nil)
        picture.imageIndicator = third
        #expect(!third.isVisible && time.count == 1, "nothing was seen")
        time.pass(1)
        #expect(third.isVisible)
        picture.imageIndicator = third
        #expect(third.isVisible, "it is itself")
        try await bench.end(picture, a)
        #expect(!third.isVisible && state.paintable.overlay == nil)
        window.close()
    }

    @Test func `A custom indicator is notified of start, progress and end`() async throws {
        let (picture, window, _) = try await shown()
        let indicator = RecordingIndicator()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        bench.loader.report(50, of: 100, a)
        #expect(await MainLoopTurns.wait { indicator.events.count == 2 })
        bench.loader.report(60, of: nil, a)
        #expect(await MainLoopTurns.wait { indicator.events.count == 3 })
        try await bench.end(picture, a)
        #expect(indicator.events == ["start", "progress 0.5", "progress 0.0", "stop"])
        window.close()
    }

    @Test func `The bar pulses until the length is known, and then needs no frames`() async throws {
        let (picture, window, state) = try await shown()
        let indicator = progress()
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        time.pass(1)
        #expect(indicator.progress == 0 && state.clock.isRunning)
        bench.loader.report(500, of: nil, a)
        #expect(await MainLoopTurns.wait { picture.imageProgress.receivedByteCount == 500 })
        #expect(indicator.progress == 0 && state.clock.isRunning)
        bench.loader.report(500, of: 1000, a)
        #expect(await MainLoopTurns.wait { indicator.progress == 0.5 })
        #expect(!state.clock.isRunning)
        for (told, seen) in [(1.5, 1), (-1, 0), (.nan, 0), (.infinity, 0)] as [(Double, Double)] {
            indicator.updateProgress(told)
            #expect(indicator.progress == seen)
        }
        try await bench.end(picture, a)
        window.close()
    }

    @Test func `Each view has its own indicator`() async throws {
        let (first, firstWindow, _) = try await shown()
        let (second, secondWindow, _) = try await shown()
        let indicators = [activity(), activity()]
        (first.imageIndicator, second.imageIndicator) = (indicators[0], indicators[1])
        try await bench.begin(first, a)
        try await bench.begin(second, b)
        time.pass(1)
        #expect(indicators.allSatisfy { $0.isVisible })
        try await bench.end(first, a)
        #expect(!indicators[0].isVisible && indicators[1].isVisible)
        try await bench.end(second, b)
        firstWindow.close()
        secondWindow.close()
    }

    @Test func `The end of the view removes the indicator, and nothing stays behind`() async throws {
        let before = ViewState.count
        weak var driver: OverlayDriver?
        do {
            let (picture, window, _) = try await shown()
            let indicator = activity()
            driver = indicator.driver
            picture.imageIndicator = indicator
            try await bench.begin(picture, a)
            time.pass(1)
            #expect(indicator.isVisible)
            window.close()
            #expect(!indicator.isVisible)
        }
        #expect(await MainLoopTurns.wait { ViewState.count == before && driver == nil })
    }

    @Test func `Off screen an indicator requests no frames`() async throws {
        let (picture, window, state) = try await shown()
        picture.imageIndicator = activity()
        try await bench.begin(picture, a)
        gtk_widget_set_visible(UnsafeMutableRawPointer(picture).widget, 0)
        time.pass(1)
        #expect(!state.clock.isRunning)
        gtk_widget_set_visible(UnsafeMutableRawPointer(picture).widget, 1)
        #expect(state.clock.isRunning)
        try await bench.end(picture, a)
        #expect(!state.clock.isRunning)
        window.close()
    }

    @Test func `With animations turned off the indicator is shown, and does not move`() async throws {
        let setting = AnimationSetting()
        setting.turn(false)
        defer { setting.turn(true) }
        for indicator in [activity(), progress()] as [any WebImageIndicator] {
            await bench.cache.clear(.all)
            let (picture, window, state) = try await shown()
            picture.imageIndicator = indicator
            try await bench.begin(picture, a)
            time.pass(1)
            #expect(state.paintable.overlay != nil && !state.clock.isRunning)
            let color = ViewSettings.textColor(of: UnsafeMutableRawPointer(picture))
            await window.frames()
            let pixels = try window.pixels(of: UnsafeMutableRawPointer(picture))
            let text = [color.red, color.green, color.blue].map { UInt8(($0 * 255).rounded()) } + [255]
            // The beginning of the ring right of the top, and the middle of the bar.
            let place = indicator is ActivityIndicator ? (61, 26) : (60, 70)
            #expect(pixels.rgba(place.0, place.1).isClose(to: text, by: 60), "\(pixels.rgba(place.0, place.1)) \(text)")
            try await bench.end(picture, a)
            window.close()
        }
    }

    @Test func `The real delay passes, too`() async throws {
        let (picture, window, _) = try await shown()
        let indicator = ActivityIndicator(delay: 0.01)
        picture.imageIndicator = indicator
        try await bench.begin(picture, a)
        #expect(await MainLoopTurns.wait { indicator.isVisible })
        try await bench.end(picture, a)
        #expect(!indicator.isVisible)
        window.close()
    }

    @Test func `With delayPlaceholder the indicator is drawn over the previous content`() async throws {
        let (picture, window, state) = try await shown()
        let own = try #require(Texture.of(try Quarters.old()))
        gtk_picture_set_paintable(picture, own.pointer)
        picture.imageIndicator = activity()
        try await bench.begin(picture, a, .delayPlaceholder)
        #expect(gtk_picture_get_paintable(picture) == own.pointer, "nothing is touched before the delay")
        time.pass(1)
        #expect(gtk_picture_get_paintable(picture) == state.paintable.pointer.opaque)
        await window.frames()
        // 120 by 60 at 10.
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).rgba(5, 15) == [255, 0, 0, 255])
        try await bench.end(picture, a, with: .failure(WebImageError(.invalidDownloadStatusCode, "no")))
        window.close()
    }

    @Test func `An icon that was shown before stays below the indicator`() async throws {
        let named = UnsafeMutableRawPointer(try #require(gtk_image_new_from_icon_name("image-missing")))
        let icon = try #require(g_themed_icon_new("image-missing"))
        let general = UnsafeMutableRawPointer(try #require(gtk_image_new_from_gicon(icon)))
        g_object_unref(UnsafeMutableRawPointer(icon))
        for (view, url) in [(named, a), (general, b)] {
            gtk_image_set_pixel_size(view.opaque, 48)
            let window = try await TestWindow(view)
            let indicator = activity(.small)
            view.imageIndicator = indicator
            try await bench.begin(view.opaque, url, .delayPlaceholder)
            time.pass(1)
            let state = ViewState.of(view)
            #expect(gtk_image_get_paintable(view.opaque) == state.paintable.pointer.opaque)
            #expect(state.paintable.content?.isPaintable == true && indicator.isVisible)
            try await bench.end(view.opaque, url)
            #expect(state.paintable.content?.image?.pixelWidth == 40)
            window.close()
        }
    }
}
