import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// Thumbnails, and their placeholders.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct GalleryGridTests {
    private let directory = TemporaryDirectory()

    private func cell(_ index: Int, _ bench: GalleryBench) async throws -> Widget {
        #expect(await MainLoopTurns.wait { bench.window.grid.cells[index] != nil })
        return try #require(bench.window.grid.cells[index])
    }

    @Test func `A cell shows its image's progress, then the image, faded in`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp"])
        let picture = try #require(GridPage.picture(of: try await cell(0, bench)))
        let indicator = try #require(picture.imageIndicator as? ProgressIndicator)
        #expect(await bench.bench.loader.request(of: GalleryBench.url("a.bmp")))
        #expect(await MainLoopTurns.wait { indicator.isVisible })
        bench.bench.loader.report(1, of: 4, GalleryBench.url("a.bmp"))
        #expect(await MainLoopTurns.wait { indicator.progress == 0.25 })
        #expect(bench.window.grid.pendingCount == 1)
        try await bench.serve("a.bmp", ViewBench.green)
        #expect(await MainLoopTurns.wait { !indicator.isVisible && bench.window.grid.pendingCount == 0 })
        #expect(picture.imageTransition != nil)
        let pixels = UnsafeMutableRawPointer(picture)
        #expect(await MainLoopTurns.wait { (try? WidgetPixels(pixels).middle) == [0, 255, 0, 255] })
    }

    @Test func `The grid has as many columns as fit in the window, so that it makes few cells`() async throws {
        let bench = try await GalleryBench(width: 500)
        let grid = bench.window.grid
        #expect(gtk_grid_view_get_max_columns(grid.view.opaque) == 2)
        bench.show((0..<2000).map { "\($0).bmp" })
        _ = try await cell(0, bench)
        #expect(await MainLoopTurns.wait { grid.listedCount == 2000 })
        await bench.frames()
        #expect((20...110).contains(grid.cells.count), "\(grid.cells.count)")
        gtk_window_set_default_size(bench.window.widget.cast(), 1000, 600)
        #expect(await MainLoopTurns.wait { gtk_grid_view_get_max_columns(grid.view.opaque) == 5 })
        // A row of four cells, as margins need some of the width.
        #expect(await MainLoopTurns.wait { grid.cells.values.count { grid.isWhole($0) } >= 8 })
    }

    @Test func `The list has the images of the first screen before the others`() async throws {
        let bench = try await GalleryBench(width: 500)
        let grid = bench.window.grid
        bench.show((0..<200).map { "\($0).bmp" })
        let first = grid.listedCount
        #expect((4...20).contains(first) && !grid.isComplete)
        #expect(await MainLoopTurns.wait { grid.listedCount == 200 })
        // Without an image, they follow after some frames.
        #expect(grid.ended.isEmpty && grid.cells.count > first)

        for number in 200..<220 {
            bench.bench.loader.answer(GalleryBench.url("\(number).bmp"), with: .success(ViewBench.red))
        }
        bench.show((200..<400).map { "\($0).bmp" })
        #expect(grid.listedCount <= first)
        #expect(await MainLoopTurns.wait { grid.listedCount == 200 })
        #expect(!grid.ended.isEmpty && grid.errors.isEmpty)
    }

    @Test func `An image beyond the first screen is selected at once`() async throws {
        let bench = try await GalleryBench(width: 500)
        let grid = bench.window.grid
        bench.show((0..<200).map { "\($0).bmp" })
        grid.reveal(150)
        #expect(grid.selectedIndex == 150 && grid.listedCount == 200)
        _ = try await cell(150, bench)
        bench.show([])
        await bench.frames()
        #expect(grid.listedCount == 0 && grid.cells.isEmpty)
    }

    @Test func `A grid that is hidden before its list is whole keeps nobody waiting`() async throws {
        let bench = try await GalleryBench(width: 500)
        let grid = bench.window.grid
        for number in 0..<20 {
            bench.bench.loader.answer(GalleryBench.url("\(number).bmp"), with: .success(ViewBench.red))
        }
        bench.show((0..<200).map { "\($0).bmp" })
        #expect(grid.listedCount < 20)
        bench.window.open(2)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(grid.widget) == 0 })
        #expect(await MainLoopTurns.wait { grid.isComplete })
    }

    @Test func `Only where images are drawn without OpenGL, GTK starts without it`() {
        for renderer in [nil, "", "gl", "ngl", "vulkan"] {
            #expect(Appearance.driverSetting(renderer: renderer, minorVersion: 8) { _ in nil } == nil)
        }
        let old = Appearance.driverSetting(renderer: "cairo", minorVersion: 14) { $0 == "GDK_DEBUG" ? "events" : nil }
        #expect(old?.name == "GDK_DEBUG" && old?.value == "events,gl-disable")
        let new = Appearance.driverSetting(renderer: "cairo", minorVersion: 16) { _ in nil }
        #expect(new?.name == "GDK_DISABLE" && new?.value == "gl")
    }

    @Test func `A failed image shows the reason as a tooltip and to screen readers`() async throws {
        let bench = try await GalleryBench()
        bench.show(["bad.bmp"])
        let cell = try await cell(0, bench)
        try await bench.serve("bad.bmp", Data("no picture".utf8))
        #expect(await MainLoopTurns.wait { bench.window.grid.failures.count == 1 })
        let tip = String(cString: gtk_widget_get_tooltip_text(cell))
        #expect(tip.hasPrefix("bad.bmp: ") && tip.count > 12)
        let picture = try #require(GridPage.picture(of: cell))
        #expect(String(cString: gtk_picture_get_alternative_text(picture.opaque)) == tip)
        #expect(bench.window.grid.failures.first?.0.title == "bad.bmp")
    }

    @Test func `An opened image shows its thumbnail until it arrives`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp"])
        let url = GalleryBench.url("a.bmp")
        _ = try await cell(0, bench)
        try await bench.serve("a.bmp", ViewBench.picture(1600, 1200, 0, 255, 0))
        #expect(await MainLoopTurns.wait { bench.window.grid.thumbnail(at: 0) != nil })
        bench.bench.loader.hold(url)
        // Only the thumbnail is left.
        await bench.bench.cache.clear(.all)
        bench.window.open(0)
        await bench.frames()
        #expect(!bench.window.viewer.isSettled)
        let scroller = UnsafeMutableRawPointer(bench.window.viewer.scroller)
        #expect(await MainLoopTurns.wait { (try? WidgetPixels(scroller).middle) == [0, 255, 0, 255] })
        #expect(!bench.window.viewer.isSettled)
        #expect(await bench.bench.loader.request(of: url))
        bench.bench.loader.end(url, with: .success(ViewBench.picture(1600, 1200, 0, 0, 255)))
        #expect(await MainLoopTurns.wait { (try? WidgetPixels(scroller).middle) == [0, 0, 255, 255] })
    }

    @Test func `The images next to the displayed one are preloaded`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp", "b.bmp", "c.bmp"])
        try await bench.open(1, ViewBench.green)
        for name in ["a.bmp", "c.bmp"] { try await bench.serve(name, ViewBench.picture(1600, 1200, 0, 0, 255)) }
        #expect(await MainLoopTurns.wait { bench.bench.loader.waiting.isEmpty })
        let neighbours = bench.window.viewer.neighbours
        #expect(await MainLoopTurns.wait { neighbours.pendingCount == 0 })
        bench.window.open(2)
        // Synchronously.
        #expect(bench.window.viewer.isSettled)
        #expect(bench.window.viewer.picture.latestLoadState?.result?.cacheType == .memory)
    }

    @Test func `An empty gallery says how to open something`() async throws {
        let bench = try await GalleryBench()
        bench.show([])
        await bench.frames()
        #expect(bench.window.page == .empty)
        #expect(bench.texts().contains("No images") && bench.texts().contains("Open a folder …"))
    }

    @Test func `A folder without images is reported, and the displayed images stay`() async throws {
        let bench = try await GalleryBench()
        bench.show(["a.bmp"])
        bench.window.search([directory.path("")])
        #expect(await MainLoopTurns.wait { bench.window.notice.text?.hasSuffix("the folder has no images") == true })
        #expect(bench.window.items.count == 1 && bench.window.page == .grid)
        #expect(await MainLoopTurns.wait { bench.texts().contains { $0.hasSuffix("the folder has no images") } })
        await bench.frames()
        try await bench.click(try #require(bench.button("Close this notice")))
        #expect(bench.window.notice.text == nil)
    }

    @Test func `Found images are shown, and missing ones are reported`() async throws {
        let bench = try await GalleryBench()
        try ViewBench.red.write(to: URL(filePath: directory.path("here.bmp")))
        let missing = (1...5).map { directory.path("none-\($0)") }
        bench.window.search([directory.path("")] + missing)
        #expect(await MainLoopTurns.wait { bench.window.items.map(\.title) == ["here.bmp"] })
        #expect(bench.window.notice.text?.components(separatedBy: "\n").count == 4)
        #expect(bench.window.notice.text?.hasSuffix("… and 2 more") == true)
        // Of two searches the later one counts, whichever ends first.
        bench.window.search(missing)
        bench.window.search([directory.path("here.bmp")])
        #expect(await MainLoopTurns.wait { bench.window.notice.text == nil })
    }
}
