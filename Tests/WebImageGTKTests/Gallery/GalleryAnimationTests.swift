import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK
@testable import webimage_gallery

/// An animated image: play, speed and direction.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct GalleryAnimationTests {
    private func opened(_ data: Data = AnimatedGIF.twoFrames) async throws -> GalleryBench {
        let bench = try await GalleryBench()
        bench.show(["moving.gif", "still.bmp"])
        try await bench.open(0, data)
        return bench
    }

    private func tip(_ bench: GalleryBench) -> String {
        String(cString: gtk_widget_get_tooltip_text(bench.window.viewer.animation.play))
    }

    private func icon(_ bench: GalleryBench) -> String {
        String(cString: gtk_button_get_icon_name(bench.window.viewer.animation.play.cast()))
    }

    @Test func `An animation plays, pauses and resumes, with the key and with the button`() async throws {
        let bench = try await opened()
        let (viewer, view) = (bench.window.viewer, bench.window.viewer.animation.view)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 1 })
        #expect(tip(bench) == "Pause (Space)" && icon(bench) == "media-playback-pause-symbolic")
        try await bench.key("space")
        #expect(!view.isAnimating && tip(bench) == "Play (Space)" && icon(bench) == "media-playback-start-symbolic")
        let frame = view.currentFrameIndex
        await bench.frames(20)
        #expect(view.currentFrameIndex == frame)
        #expect(bench.texts().contains("\(frame + 1) of 2"))
        try await bench.click(viewer.animation.play)
        #expect(view.isAnimating && tip(bench) == "Pause (Space)")
        #expect(await MainLoopTurns.wait { view.currentFrameIndex != frame })
    }

    @Test func `Speed and direction are chosen from lists, and stay for the next image`() async throws {
        let bench = try await opened()
        let animation = bench.window.viewer.animation
        gtk_drop_down_set_selected(animation.rate.opaque, 4)
        #expect(animation.view.playbackRate == 4)
        gtk_drop_down_set_selected(animation.direction.opaque, 1)
        #expect(animation.view.playbackMode == .reverse && animation.view.isAnimating)
        try await bench.key("space")
        gtk_drop_down_set_selected(animation.direction.opaque, 2)
        #expect(animation.view.playbackMode == .bounce && !animation.view.isAnimating)
        try await bench.open(1, ViewBench.green)
        try await bench.open(0, AnimatedGIF.twoFrames)
        #expect(animation.view.playbackRate == 4 && animation.view.playbackMode == .bounce)
    }

    @Test func `After the last loop the button offers to play again`() async throws {
        let bench = try await opened(AnimatedGIF.once)
        let view = bench.window.viewer.animation.view
        #expect(await MainLoopTurns.wait { !view.isAnimating })
        #expect(tip(bench) == "Play (Space)" && icon(bench) == "media-playback-start-symbolic")
        try await bench.key("space")
        #expect(await MainLoopTurns.wait { self.tip(bench) == "Pause (Space)" || !view.isAnimating })
    }

    @Test func `A still image has no playback controls`() async throws {
        let bench = try await opened()
        let widget = bench.window.viewer.animation.widget
        #expect(gtk_widget_get_visible(widget) != 0)
        try await bench.open(1, ViewBench.green)
        #expect(gtk_widget_get_visible(widget) == 0)
        // The key does nothing then.
        try await bench.key("space")
        #expect(bench.window.viewer.item?.title == "still.bmp")
    }
}

/// Animations of two frames, 8 pixels a side, each for 50 ms.
enum AnimatedGIF {
    /// Repeated forever.
    static let twoFrames = make(loops: 0)
    /// Shown once.
    static let once = make(loops: nil)

    private static func make(loops: UInt8?) -> Data {
        var bytes = Array("GIF89a".utf8) + [8, 0, 8, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        if let loops { bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, loops, 0, 0] }
        for color in [UInt8(0), 1] {
            bytes += [0x21, 0xF9, 4, 0, 5, 0, 0, 0, 0x2C, 0, 0, 0, 0, 8, 0, 8, 0, 0]
            bytes += [2] + block(color) + [0]
        }
        return Data(bytes + [0x3B])
    }

    /// 64 pixels of one colour: codes of three bits, with a clear before each, so that they never get longer.
    private static func block(_ color: UInt8) -> [UInt8] {
        let (clear, end): (UInt8, UInt8) = (4, 5)
        var (bits, count, bytes): (UInt32, UInt32, [UInt8]) = (0, 0, [])
        for code in (0..<64).flatMap({ _ in [clear, color] }) + [end] {
            bits |= UInt32(code) << count
            count += 3
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
        return [UInt8(bytes.count)] + bytes
    }
}
