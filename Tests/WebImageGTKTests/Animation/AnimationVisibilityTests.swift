import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct AnimationVisibilityTests {
    init() throws { try Display.open() }

    private func show(_ image: Image, in picture: OpaquePointer) {
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        state.installPaintable()
        state.paintable.show(PaintableContent(image))
    }

    @Test func `On a hidden page the animation pauses and decodes nothing, and then resumes where it was`() async throws
    {
        let stack = UnsafeMutableRawPointer(try #require(gtk_stack_new()))
        let picture = ViewBench.makeImage()
        let other = try #require(gtk_label_new("other"))
        gtk_stack_add_child(stack.opaque, UnsafeMutableRawPointer(picture).widget)
        gtk_stack_add_child(stack.opaque, other)
        let window = try await TestWindow(stack)
        let colors = (0..<20).map { [UInt8($0 * 10), 0, 0, 255] }
        let frames = ColorFrames(colors, seconds: 0.02)
        show(try frames.image(), in: picture)
        let view = AnimatedImageView(picture)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex >= 8 })
        gtk_stack_set_visible_child(stack.opaque, other)
        #expect(await MainLoopTurns.wait { gtk_widget_get_mapped(UnsafeMutableRawPointer(picture).widget) == 0 })
        #expect(!view.isAnimating && !ViewState.of(UnsafeMutableRawPointer(picture)).clock.isRunning)
        let index = view.currentFrameIndex
        // A frame being decoded when the page was hidden may still arrive.
        await window.frames(4)
        let decoded = frames.requests.count
        await window.frames(6)
        #expect(view.currentFrameIndex == index && frames.requests.count == decoded)
        view.startAnimating()
        #expect(!view.isAnimating, "not before it is visible")
        var next: Int?
        view.animationFrameHandler = { shown, _ in next = next ?? shown }
        gtk_stack_set_visible_child(stack.opaque, UnsafeMutableRawPointer(picture).widget)
        #expect(await MainLoopTurns.wait { next != nil })
        #expect(next == (index + 1) % 20 && view.isAnimating)
        #expect(frames.requests.prefix(decoded + 1).count == Set(frames.requests.prefix(decoded + 1)).count)
        window.close()
    }

    @Test func `Views that show one image share its frames and textures`() async throws {
        let box = UnsafeMutableRawPointer(try #require(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)))
        let pictures = (0..<2).map { _ in ViewBench.makeImage() }
        for picture in pictures {
            gtk_widget_set_size_request(UnsafeMutableRawPointer(picture).widget, 40, 30)
            gtk_box_append(box.assumingMemoryBound(to: GtkBox.self), UnsafeMutableRawPointer(picture).widget)
        }
        let window = try await TestWindow(box)
        let frames = ColorFrames(seconds: 0.02)
        let image = try frames.image()
        let views = pictures.map { AnimatedImageView($0) }
        for view in views { view.maxBufferSize = .max }
        for picture in pictures { show(image, in: picture) }
        var counts = [0, 0]
        var shared = 0
        for (index, view) in views.enumerated() {
            view.animationFrameHandler = { number, frame in
                counts[index] += 1
                let other = views[1 - index]
                guard other.currentFrameIndex == number, other.currentFrame === frame, number > 0 else { return }
                let textures = pictures.map { picture -> OpaquePointer? in
                    let frame = ViewState.of(UnsafeMutableRawPointer(picture)).paintable.frame
                    if case .texture(let texture) = frame { return texture.pointer }
                    return nil
                }
                if textures[0] != nil, textures[0] == textures[1] { shared += 1 }
            }
        }
        #expect(await MainLoopTurns.wait { counts.allSatisfy { $0 >= 10 } })
        #expect(frames.requests == [0, 1, 2, 3], "each was decoded once")
        #expect(shared > 0)
        // Each has its own position.
        views[1].stopAnimating()
        let stopped = views[1].currentFrameIndex
        let count = counts[0]
        #expect(await MainLoopTurns.wait { counts[0] > count + 2 })
        #expect(views[1].currentFrameIndex == stopped)
        window.close()
    }

    @Test func `A view destroyed during playback leaves nothing behind`() async throws {
        let before = ViewState.count
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        weak var provider: ColorFrames?
        do {
            let frames = ColorFrames(seconds: 0.02)
            provider = frames
            show(try frames.image(), in: picture)
        }
        weak let player = AnimatedImageView(picture).player
        #expect(await MainLoopTurns.wait { player?.currentFrameIndex ?? 0 >= 2 })
        window.close()
        #expect(await MainLoopTurns.wait { ViewState.count == before && provider == nil })
        #expect(player == nil)
    }

    @Test func `The first frame stays until a transition is over`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        let first = ColorFrames([ColorFrames.white, ColorFrames.green], seconds: 0.02)
        show(try first.image(), in: picture)
        let view = AnimatedImageView(picture)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 1 })
        view.stopAnimating()
        var finished: Bool?
        var moments = 0
        let seen = try #require(view.currentFrame)
        let transition = WebImageTransition(duration: 0.1) { moment in
            moments += 1
            #expect(!view.isAnimating && view.currentFrame == nil)
            #expect(moment.old?.image === seen, "the old image is the displayed frame")
            moment.drawOld()
        }
        let second = ColorFrames([ColorFrames.blue, ColorFrames.red], seconds: 0.02)
        let content = try #require(PaintableContent(try second.image()))
        state.paintable.show(content, by: transition) { finished = $0 }
        #expect(view.player != nil && !view.isAnimating)
        #expect(await MainLoopTurns.wait { finished != nil })
        #expect(finished == true && moments > 1 && view.isAnimating)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 1 })
        window.close()
    }

    @Test func `While a frame stays for long, no frame ticks are requested from GTK`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        show(try ColorFrames(seconds: 0.3).image(), in: picture)
        let view = AnimatedImageView(picture)
        var times: [Double] = []
        view.animationFrameHandler = { _, _ in times.append(Double(g_get_monotonic_time()) / 1e6) }
        #expect(await MainLoopTurns.wait { times.count == 1 })
        #expect(await MainLoopTurns.wait { !state.clock.isRunning })
        #expect(view.isAnimating)
        #expect(await MainLoopTurns.wait { times.count == 3 })
        #expect(times[2] - times[0] > 0.55, "it rests, and is in time")
        #expect(await MainLoopTurns.wait { !state.clock.isRunning })
        view.playbackRate = 1000
        #expect(state.clock.isRunning, "changes are shown at once")
        view.stopAnimating()
        #expect(!state.clock.isRunning)
        window.close()
    }

    @Test func `Animated images play when the user has turned animations off, too`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let settings = try #require(gtk_settings_get_default())
        var value = GValue()
        g_value_init(&value, GType(5 << 2))
        g_object_set_property(UnsafeMutableRawPointer(settings).object, "gtk-enable-animations", &value)
        defer {
            g_value_set_boolean(&value, 1)
            g_object_set_property(UnsafeMutableRawPointer(settings).object, "gtk-enable-animations", &value)
        }
        #expect(!ViewSettings.areAnimationsEnabled(for: UnsafeMutableRawPointer(picture)))
        show(try ColorFrames(seconds: 0.02).image(), in: picture)
        let view = AnimatedImageView(picture)
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 2 })
        window.close()
    }
}
