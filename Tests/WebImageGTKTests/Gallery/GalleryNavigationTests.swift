import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// Navigation with keys and the pointer; keyboard focus, and what is shown.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct GalleryNavigationTests {
    private let names = (0..<200).map { "picture-\($0).bmp" }

    private func shown(_ count: Int = 200) async throws -> GalleryBench {
        let bench = try await GalleryBench()
        bench.show(Array(names.prefix(count)))
        #expect(await focuses(bench, 0))
        return bench
    }

    /// Returns whether the cell of an image gets the keyboard focus, fully visible.
    private func focuses(_ bench: GalleryBench, _ index: Int) async -> Bool {
        let grid = bench.window.grid
        return await MainLoopTurns.wait {
            guard let cell = grid.cells[index], let focus = bench.focus, gtk_widget_get_parent(cell) == focus else {
                return false
            }
            return grid.isWhole(cell)
        }
    }

    private func title(_ bench: GalleryBench) -> String {
        String(cString: gtk_window_get_title(bench.window.widget.cast()))
    }

    /// Waits for the title: input arrives when the display server has time.
    private func shows(_ bench: GalleryBench, _ name: String) async -> Bool {
        await MainLoopTurns.wait { title(bench) == name }
    }

    @Test func `Arrows and Enter open an image, arrows go on from it, and Escape returns to the current cell`()
        async throws
    {
        let bench = try await shown()
        // Within a row: at its end newer versions of GTK stay there.
        try await bench.key("Right", "Return")
        #expect(bench.focus == bench.window.viewer.scroller)
        #expect(await shows(bench, "picture-1.bmp"))
        #expect(bench.texts().contains("2 of 200"))
        try await bench.key("Right", "Page_Down", "Left")
        #expect(await shows(bench, "picture-2.bmp"))
        try await bench.key("End")
        #expect(await shows(bench, "picture-199.bmp"))
        try await bench.key("Right")
        #expect(await shows(bench, "picture-199.bmp"))
        try await bench.key("Escape")
        #expect(await shows(bench, "200 images"))
        #expect(await focuses(bench, 199))
        // Keys continue from there.
        try await bench.key("Left")
        #expect(await focuses(bench, 198))
        try await bench.key("Return")
        #expect(await shows(bench, "picture-198.bmp"))
        try await bench.key("Home", "Escape")
        #expect(await focuses(bench, 0))
        #expect(bench.scroll == 0)
    }

    @Test func `Arrows start at the keyboard focus, also while the pointer rests on a cell`() async throws {
        let bench = try await shown(3)
        try await bench.key("Right")
        #expect(await focuses(bench, 1))
        try await bench.point(at: try #require(bench.window.grid.cells[1]), 20, 20)
        try await bench.key("Right")
        #expect(await focuses(bench, 2))
    }

    @Test func `A click opens an image, on its cell and on the edge around it`() async throws {
        let bench = try await shown(3)
        let cell = try #require(bench.window.grid.cells[1])
        try await bench.click(cell)
        #expect(await shows(bench, "picture-1.bmp"))
        try await bench.key("Escape")
        #expect(await focuses(bench, 1))
        try await bench.point(at: try #require(gtk_widget_get_parent(cell)), 2, 2)
        try await bench.input(["click", "1"])
        await bench.frames()
        #expect(await shows(bench, "picture-1.bmp"))
    }

    @Test func `Buttons go to the next and previous images, if any`() async throws {
        let bench = try await shown(3)
        bench.window.open(1)
        await bench.frames()
        let (previous, next) = (
            try #require(bench.button("Previous image")), try #require(bench.button("Next image"))
        )
        try await bench.click(next)
        #expect(await shows(bench, "picture-2.bmp"))
        #expect(gtk_widget_get_sensitive(next) == 0 && gtk_widget_get_sensitive(previous) != 0)
        try await bench.click(previous)
        try await bench.click(previous)
        #expect(await shows(bench, "picture-0.bmp"))
        #expect(gtk_widget_get_sensitive(next) != 0 && gtk_widget_get_sensitive(previous) == 0)
        try await bench.click(try #require(bench.button("Back")))
        #expect(await focuses(bench, 0))
    }

    @Test func `Space presses a focused button, and arrows move in an open list`() async throws {
        let bench = try await shown(3)
        try await bench.open(0, AnimatedGIF.twoFrames)
        let viewer = bench.window.viewer
        #expect(bench.focus == viewer.scroller)
        gtk_widget_grab_focus(bench.button("Zoom in"))
        try await bench.key("space")
        #expect(bench.zoom.geometry.zoom != nil && viewer.animation.isPlaying)
        gtk_widget_grab_focus(viewer.animation.rate)
        try await bench.key("space")
        // GTK may begin at any of them.
        try await bench.key("Down", "Return")
        #expect(await MainLoopTurns.wait { gtk_drop_down_get_selected(viewer.animation.rate.opaque) != 2 })
        #expect(title(bench) == "picture-0.bmp" && viewer.animation.isPlaying)
        // From a button that does not use them arrows go on to the next image.
        gtk_widget_grab_focus(bench.button("Zoom in"))
        try await bench.key("Right")
        #expect(await shows(bench, "picture-1.bmp"))
    }

    @Test func `The keyboard reaches everything, and the image has the focus first`() async throws {
        let bench = try await shown(3)
        bench.window.open(1)
        await bench.frames()
        let viewer = bench.window.viewer
        #expect(bench.focus == viewer.scroller)
        var reached: Set<String> = []
        for _ in 0..<30 {
            try await bench.key("Tab")
            guard let focus = bench.focus, let tip = gtk_widget_get_tooltip_text(focus) else { continue }
            reached.insert(String(cString: tip))
        }
        for tip in [
            "Previous image (Left)", "Next image (Right)", "Zoom in (+)", "Zoom out (-)", "Image info (I)",
            "Fit to window (0)", "Actual size (1)", "Back (Escape)", "Caches (Ctrl+I)",
            "Open a folder (Ctrl+O)", "Toggle dark mode (Ctrl+D)",
        ] { #expect(reached.contains(tip), "\(tip) of \(reached)") }
    }

    @Test func `The page about the caches opens and closes without losing the place`() async throws {
        let bench = try await shown()
        let adjustment = gtk_scrolled_window_get_vadjustment(bench.window.grid.widget.opaque)
        gtk_adjustment_set_value(adjustment, 3000)
        await bench.frames()
        let place = bench.scroll
        #expect(place > 0)
        try await bench.key("ctrl+i")
        #expect(await shows(bench, "Caches"))
        try await bench.key("Escape")
        #expect(await shows(bench, "200 images"))
        await bench.frames(10)
        #expect(bench.scroll == place)
        // From an image one returns to it.
        bench.window.open(7)
        try await bench.key("ctrl+i", "Escape")
        #expect(await shows(bench, "picture-7.bmp"))
    }

    @Test func `Opening other images starts at the first one`() async throws {
        let bench = try await shown()
        bench.window.open(150)
        await bench.frames()
        bench.show((0..<100).map { "other-\($0).bmp" })
        #expect(await focuses(bench, 0))
        #expect(title(bench) == "100 images" && bench.scroll == 0)
        #expect(bench.window.grid.selectedIndex == 0)
        try await bench.key("Return")
        #expect(await shows(bench, "other-0.bmp"))
    }

    @Test func `Keys show and hide the facts, and switch between dark and light`() async throws {
        let bench = try await shown(1)
        bench.window.open(0)
        await bench.frames()
        try await bench.key("i")
        #expect(!bench.texts().contains("Load details"))
        try await bench.key("i")
        #expect(bench.texts().contains("Load details"))
        /// The colour behind the image, once it has been drawn.
        func brightness() async -> Int {
            let window = UnsafeMutableRawPointer(bench.window.widget)
            var color: [UInt8] = []
            _ = await MainLoopTurns.wait {
                guard let pixels = try? WidgetPixels(window) else { return false }
                color = pixels.rgba(pixels.width / 3, pixels.height / 2)
                return color.last == 255
            }
            return color.prefix(3).reduce(0) { $0 + Int($1) }
        }
        let light = await brightness()
        try await bench.key("ctrl+d")
        let dark = await brightness()
        #expect(abs(light - dark) > 300)
        try await bench.key("ctrl+d")
        #expect(await brightness() == light)
    }

    @Test func `A closed window ends its loads, and later results find no released widget`() async throws {
        let bench = try await shown(3)
        bench.window.open(1)
        #expect(await bench.bench.loader.request(of: GalleryBench.url("picture-1.bmp")))
        bench.window.showCache()
        let page = bench.window.cachePage
        try await bench.input(["key", "ctrl+q"])
        #expect(await MainLoopTurns.wait { bench.window.isClosed })
        await page.count()
        #expect(await MainLoopTurns.wait { bench.bench.loader.waiting.isEmpty })
        #expect(bench.bench.loader.cancelled.contains(GalleryBench.url("picture-1.bmp")))
    }
}
