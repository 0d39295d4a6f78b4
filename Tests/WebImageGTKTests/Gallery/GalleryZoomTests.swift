import CWebImageGTK4
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// An opened image, zoomed with keys, buttons, the wheel and the pointer.
@Suite(.serialized, .needsDisplay) @MainActor struct GalleryZoomTests {
    /// An image whose colours are coordinates: red is the distance from the left, green from the top.
    private static func map(_ width: Int, _ height: Int) -> Data {
        var bytes = [UInt8](ViewBench.picture(width, height, 0, 0, 0))
        let row = (width * 3 + 3) / 4 * 4
        for y in 0..<height {
            for x in 0..<width {
                // Rows of this format are stored from the bottom.
                let pixel = 54 + (height - 1 - y) * row + x * 3
                bytes[pixel + 1] = UInt8(y * 256 / height)
                bytes[pixel + 2] = UInt8(x * 256 / width)
            }
        }
        return Data(bytes)
    }

    private func opened(_ width: Int = 1600, _ height: Int = 1200) async throws -> GalleryBench {
        let bench = try await GalleryBench()
        bench.show(["map.bmp", "other.bmp"])
        try await bench.open(0, Self.map(width, height))
        return bench
    }

    private func zoomText(_ bench: GalleryBench) -> String {
        String(cString: gtk_label_get_text(bench.window.viewer.zoomLabel.opaque))
    }

    /// Red and green at a place of the area, once it has been drawn after a layout change.
    private func color(_ bench: GalleryBench, _ x: Int, _ y: Int) async throws -> [UInt8] {
        let scroller = UnsafeMutableRawPointer(bench.window.viewer.scroller)
        var color: [UInt8] = []
        let isDrawn = await MainLoopTurns.wait {
            color = (try? WidgetPixels(scroller).rgba(x, y)) ?? []
            return color.last == 255
        }
        try #require(isDrawn)
        return Array(color.prefix(2))
    }

    private func size(_ bench: GalleryBench) -> ImageSize {
        let picture = bench.window.viewer.picture
        return ImageSize(width: Double(gtk_widget_get_width(picture)), height: Double(gtk_widget_get_height(picture)))
    }

    @Test func `Keys zoom in and out, show the actual size, and fit the image`() async throws {
        let bench = try await opened()
        let fitting = bench.zoom.geometry
        #expect(zoomText(bench) == "Fit")
        try await bench.key("1")
        #expect(zoomText(bench) == "100 %")
        #expect(size(bench) == ImageSize(width: 1600, height: 1200))
        try await bench.key("plus")
        #expect(zoomText(bench) == "125 %")
        #expect(size(bench) == ImageSize(width: 2000, height: 1500))
        // 82 is KP_Subtract: by its name newer keyboard maps have xdotool press Alt as well.
        try await bench.key("82", "minus", "ctrl+minus")
        #expect(zoomText(bench) == "64 %")
        #expect(size(bench) == ImageSize(width: 1024, height: 768))
        try await bench.key("0")
        #expect(zoomText(bench) == "Fit")
        #expect(bench.zoom.geometry.fittingZoom == fitting.fittingZoom)
        #expect(size(bench).width == Double(gtk_widget_get_width(bench.window.viewer.scroller)))
    }

    @Test func `Buttons do the same`() async throws {
        let bench = try await opened()
        for (tip, text) in [
            ("Actual size", "100 %"), ("Zoom in", "125 %"), ("Zoom out", "100 %"), ("Fit to", "Fit"),
        ] {
            try await bench.click(try #require(bench.button(tip)))
            #expect(zoomText(bench) == text)
        }
    }

    @Test func `The wheel with Ctrl zooms at the pointer, from the first step on and at any speed`() async throws {
        let bench = try await opened()
        let scroller = bench.window.viewer.scroller
        let (x, y) = (gtk_widget_get_width(scroller) * 3 / 4, gtk_widget_get_height(scroller) / 2)
        let before = try await color(bench, Int(x), Int(y))
        try await bench.point(at: scroller, Double(x), Double(y))
        // All at once: nothing is laid out between them.
        try await bench.input(["keydown", "ctrl", "click", "--repeat", "4", "--delay", "1", "4", "keyup", "ctrl"])
        let zoom = bench.zoom.geometry.fittingZoom * pow(1.25, 4)
        #expect(await MainLoopTurns.wait { abs(bench.zoom.geometry.shownZoom - zoom) < 1e-9 })
        await bench.frames()
        #expect(try await color(bench, Int(x), Int(y)).isClose(to: before, by: 2))
        try await bench.input(["keydown", "ctrl", "click", "5", "keyup", "ctrl"])
        #expect(await MainLoopTurns.wait { bench.zoom.geometry.shownZoom < zoom })
        await bench.frames()
        #expect(try await color(bench, Int(x), Int(y)).isClose(to: before, by: 2))
    }

    @Test func `Without Ctrl the wheel scrolls`() async throws {
        let bench = try await opened()
        try await bench.key("1")
        let viewer = bench.window.viewer
        bench.zoom.scroll = ImagePoint(x: 0, y: 0)
        try await bench.point(at: viewer.scroller, 50, 50)
        try await bench.input(["click", "5"])
        #expect(await MainLoopTurns.wait { bench.zoom.scroll.y > 0 })
        #expect(zoomText(bench) == "100 %")
    }

    @Test func `With the pointer elsewhere the middle stays in place`() async throws {
        let bench = try await opened()
        let viewer = bench.window.viewer
        try await bench.point(at: viewer.scroller, 5, 5)
        #expect(bench.zoom.pointer != nil)
        try await bench.point(at: try #require(bench.button("Zoom in")), 5, 5)
        #expect(bench.zoom.pointer == nil)
        let (x, y) = (Int(gtk_widget_get_width(viewer.scroller)) / 2, Int(gtk_widget_get_height(viewer.scroller)) / 2)
        let before = try await color(bench, x, y)
        try await bench.input(["click", "1", "click", "1", "click", "1"])
        #expect(await MainLoopTurns.wait { bench.zoom.geometry.zoom != nil })
        await bench.frames()
        #expect(try await color(bench, x, y).isClose(to: before, by: 2))
    }

    @Test func `Dragging moves the image up to its edge`() async throws {
        let bench = try await opened()
        let viewer = bench.window.viewer
        try await bench.key("1")
        let start = bench.zoom.scroll
        try await bench.point(at: viewer.scroller, 200, 200)
        try await bench.input(["mousedown", "1", "mousemove_relative", "--", "-30", "-20"])
        try await bench.input(["mousemove_relative", "--", "-30", "-20"])
        #expect(await MainLoopTurns.wait { bench.zoom.scroll == ImagePoint(x: start.x + 60, y: start.y + 40) })
        try await bench.input(["mousemove_relative", "--", "400", "200", "mouseup", "1"])
        #expect(await MainLoopTurns.wait { bench.zoom.scroll.x == max(start.x - 340, 0) })
        #expect(await MainLoopTurns.wait { bench.zoom.panStart == nil })
    }

    @Test func `A double click switches between the actual size at that place and the whole image`() async throws {
        let bench = try await opened()
        let scroller = bench.window.viewer.scroller
        let before = try await color(bench, 100, Int(gtk_widget_get_height(scroller)) / 2)
        try await bench.point(at: scroller, 100, Double(gtk_widget_get_height(scroller) / 2))
        try await bench.input(["click", "--repeat", "2", "--delay", "10", "1"])
        #expect(await MainLoopTurns.wait { self.zoomText(bench) == "100 %" })
        await bench.frames()
        #expect(try await color(bench, 100, Int(gtk_widget_get_height(scroller)) / 2).isClose(to: before, by: 2))
        // GTK has forgotten the first one by then.
        await bench.frames(40)
        try await bench.point(at: scroller, 140, 120)
        try await bench.input(["click", "--repeat", "2", "--delay", "10", "1"])
        #expect(await MainLoopTurns.wait { self.zoomText(bench) == "Fit" })
    }

    @Test func `An image zoomed during a drag stays where the zoom left it`() async throws {
        let bench = try await opened()
        let viewer = bench.window.viewer
        try await bench.key("1")
        try await bench.point(at: viewer.scroller, 300, 250)
        try await bench.input(["mousedown", "1", "mousemove_relative", "--", "-20", "-20"])
        #expect(await MainLoopTurns.wait { bench.zoom.panStart != nil })
        try await bench.input(["keydown", "ctrl", "click", "4", "keyup", "ctrl"])
        #expect(await MainLoopTurns.wait { self.zoomText(bench) == "125 %" })
        await bench.frames()
        let place = bench.zoom.scroll
        try await bench.input(["mousemove_relative", "--", "-5", "-5"])
        await bench.frames()
        #expect(bench.zoom.scroll == place)
        try await bench.input(["mouseup", "1"])
    }

    @Test func `Fractional wheel steps count as fractions, zero as none, and touchpad scrolling by its distance`()
        async throws
    {
        let bench = try await opened()
        let viewer = bench.window.viewer
        viewer.showPixels()
        bench.zoom.zoom(bySteps: 0)
        #expect(bench.zoom.geometry.shownZoom == 1)
        for _ in 0..<10 { bench.zoom.zoom(bySteps: 0.1) }
        #expect(abs(bench.zoom.geometry.shownZoom - 1.25) < 1e-9)
        bench.zoom.pinch(to: 2, about: ImagePoint(x: 10, y: 10))
        bench.zoom.pinch(to: 4, about: ImagePoint(x: 10, y: 10))
        #expect(abs(bench.zoom.geometry.shownZoom - 5) < 1e-9)
    }

    @Test func `A zoomed image has full resolution, and the next one fits again and is decoded for the area`()
        async throws
    {
        let bench = try await opened()
        let viewer = bench.window.viewer
        try await bench.key("1")
        let picture = UnsafeMutableRawPointer(viewer.picture)
        #expect(await MainLoopTurns.wait { ViewState.of(picture).shown?.image.pixelWidth ?? 0 >= 1600 })
        try await bench.open(1, Self.map(3200, 2400))
        #expect(zoomText(bench) == "Fit")
        // From the first moment on: not the size that the widget had for the previous image.
        let area = gtk_widget_get_width(viewer.scroller)
        #expect(viewer.picture.latestLoadState?.result?.image.pixelWidth == Int(area))
    }

    @Test func `An image is decoded for the area even before the first layout`() async throws {
        let bench = try await GalleryBench()
        bench.show(["map.bmp"])
        bench.window.open(0)
        let data = Self.map(3200, 2400)
        try await bench.serve("map.bmp", data)
        #expect(await MainLoopTurns.wait { bench.window.viewer.isSettled })
        let width = try #require(bench.window.viewer.picture.latestLoadState?.result?.image.pixelWidth)
        #expect((400...520).contains(width), "\(width)")
    }

    @Test(arguments: [
        (1.0, "100 %"), (0.5, "50 %"), (0.1, "10 %"), (0.025, "2.5 %"), (0.0004, "0.0 %"), (16, "1600 %"),
    ])
    func `A zoom is shown in per cent`(zoom: Double, text: String) {
        #expect(ZoomText.percent(zoom) == text)
    }
}
