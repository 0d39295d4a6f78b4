import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AnimatedPixelsTests {
    let bench: ViewBench

    init() throws { bench = try ViewBench() }

    /// Returns whether a widget shows, in its middle, a part of an image: its rows from one on.
    private func difference(
        _ pixels: WidgetPixels,
        _ expected: PortableAnymap,
        rows: Range<Int>
    ) -> Int {
        let (left, top) = ((pixels.width - expected.width) / 2, (pixels.height - rows.count) / 2)
        var greatest = 0
        for y in rows {
            for x in 0..<expected.width {
                let wanted = expected.rgba(x: x, y: y).map(Int.init)
                let seen = pixels.rgba(left + x, top + y - rows.lowerBound).map(Int.init)
                for channel in 0..<3 {
                    greatest = max(greatest, abs(seen[channel] - (wanted[channel] * wanted[3] + 127) / 255))
                }
                greatest = max(greatest, abs(seen[3] - wanted[3]))
            }
        }
        return greatest
    }

    @Test(arguments: ["random-0.gif", "webp-0.webp", "apng-rgba-0.png"])
    func `Every frame is drawn as another program decoded it`(name: String) async throws {
        let expected = try Fixtures.pixels("Animation/" + name.prefix { $0 != "." } + ".pam")
        let stage = try await AnimationStage()
        let url = ViewBench.url(name)
        stage.picture.setImage(with: url, context: bench.context, completed: nil)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(try Fixtures.data("Animation/" + name)))
        try #require(await MainLoopTurns.wait { stage.view.player != nil })
        stage.takeClock()
        let player = try #require(stage.view.player)
        let height = expected.height / player.totalFrameCount
        #expect(player.isPlaying && stage.view.isAnimating && height > 0)
        for index in 0..<player.totalFrameCount {
            if index > 0 { stage.link.advance(player.provider.duration(at: index - 1)) }
            try #require(await stage.reaches(index))
            await stage.window.frames()
            let pixels = try stage.window.pixels(of: UnsafeMutableRawPointer(stage.picture))
            #expect(difference(pixels, expected, rows: index * height..<(index + 1) * height) <= 2, "frame \(index)")
        }
        stage.window.close()
    }

    @Test func `GtkImage plays animations, too`() async throws {
        let stage = try await AnimationStage { OpaquePointer(gtk_image_new()) }
        gtk_image_set_pixel_size(stage.picture, 30)
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        #expect(try await stage.middle() == ColorFrames.green)
        stage.window.close()
    }

    @Test func `The view's requested size does not change with the frames`() async throws {
        let stage = try await AnimationStage()
        var sizes = 0
        stage.show(try ColorFrames().image())
        Signal("invalidate-size", of: stage.state.paintable.pointer) { sizes += 1 }
        #expect(await stage.reaches(0))
        for index in [1, 2, 3, 0] { #expect(await stage.plays(to: index)) }
        #expect(sizes == 0)
        stage.window.close()
    }

    @Test func `Nothing is redrawn while a frame stays`() async throws {
        let stage = try await AnimationStage()
        var draws = 0
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        Signal("invalidate-contents", of: stage.state.paintable.pointer) { draws += 1 }
        for _ in 0..<9 { stage.link.advance(0.01) }
        #expect(draws == 0)
        #expect(await stage.plays(to: 1, after: 0.02))
        #expect(draws == 1)
        stage.window.close()
    }

    @Test func `The paintable's current image is the displayed frame`() async throws {
        let stage = try await AnimationStage()
        stage.show(try ColorFrames().image())
        #expect(await stage.reaches(0))
        #expect(await stage.plays(to: 1))
        let still = try #require(gdk_paintable_get_current_image(stage.state.paintable.pointer.opaque))
        defer { g_object_unref(UnsafeMutableRawPointer(still)) }
        #expect(await stage.plays(to: 2))
        let pixels = try WidgetPixels(paintable: still, 40, 30, UnsafeMutableRawPointer(stage.picture))
        #expect(pixels.middle == ColorFrames.green)
        stage.window.close()
    }
}
