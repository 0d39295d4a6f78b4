import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ButtonWidgetsTests {
    let bench: ViewBench
    let told = Told()
    private let a = ViewBench.url("a.bmp")
    private let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    private func pointer(_ button: OpaquePointer) -> UnsafeMutablePointer<GtkButton> {
        UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkButton.self)
    }

    private func child(_ button: OpaquePointer) -> UnsafeMutableRawPointer? {
        gtk_button_get_child(pointer(button)).map { UnsafeMutableRawPointer($0) }
    }

    private func finish(_ url: URL, _ data: Data, _ count: Int = 1) async throws {
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(data))
        try #require(await MainLoopTurns.wait { told.results.count == count })
    }

    private func middle(_ window: TestWindow, _ widget: OpaquePointer?) async throws -> [UInt8] {
        await window.frames()
        return try window.pixels(of: UnsafeMutableRawPointer(try #require(widget))).middle
    }

    @Test func `A background lies behind the button's label`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new_with_label("Open")))
        let label = try #require(child(button))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        var (natural, minimum): (gint, gint) = (0, 0)
        func measure() -> gint {
            gtk_widget_measure(
                UnsafeMutableRawPointer(button).widget,
                GTK_ORIENTATION_HORIZONTAL,
                -1,
                &minimum,
                &natural,
                nil,
                nil
            )
            return natural
        }
        let width = measure()
        button.setImage(with: a, in: .background, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, ViewBench.picture(400, 300, 255, 0, 0))
        let overlay = try #require(child(button))
        #expect(overlay.isA(gtk_overlay_get_type()))
        #expect(gtk_widget_get_parent(label.widget) == overlay.widget)
        #expect(abs(measure() - width) <= 1, "the content in front determines the button's size")
        let background = UnsafeMutableRawPointer(try #require(button.buttonBackgroundPicture))
        // It is decoded again for the size at which it covers the button; until then its edges are soft.
        #expect(
            await MainLoopTurns.wait {
                guard gtk_widget_get_width(background.widget) > 10, gtk_widget_get_height(background.widget) > 5,
                    let pixels = try? window.pixels(of: background)
                else { return false }
                return pixels.rgba(2, 2) == [255, 0, 0, 255] && pixels.rgba(pixels.width - 2, 2) == [255, 0, 0, 255]
            }
        )
        let whole = try window.pixels(of: overlay)
        let isWritten = (0..<whole.width).contains { whole.rgba($0, whole.height / 2) != [255, 0, 0, 255] }
        #expect(isWritten, "the label is drawn in front of it")
        #expect(button.buttonPicture == nil)
        window.close()
    }

    @Test func `An image replaces the label, and lies before a background`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new_with_label("Open")))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, ViewBench.green)
        #expect(child(button).map { OpaquePointer($0) } == button.buttonPicture && button.buttonPicture != nil)
        button.setImage(with: b, in: .background, context: bench.context, completed: { told.results.append($0) })
        try await finish(b, ViewBench.blue, 2)
        let overlay = try #require(child(button))
        #expect(overlay.isA(gtk_overlay_get_type()))
        #expect(try await middle(window, button) == [0, 255, 0, 255])
        try #require(gtk_widget_get_width(overlay.widget) > 2)
        let pixels = try window.pixels(of: overlay)
        #expect(pixels.rgba(1, 1)[2] > 128 && pixels.rgba(1, 1)[1] == 0, "beside the image there is the background")
        window.close()
    }

    @Test func `A background set before the image gives the same result`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new_with_label("Open")))
        let label = ObjectReference(retaining: try #require(child(button)))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: b, in: .background, context: bench.context, completed: { told.results.append($0) })
        try await finish(b, ViewBench.blue)
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, ViewBench.green, 2)
        #expect(gtk_widget_get_parent(label.pointer.widget) == nil)
        #expect(try await middle(window, button) == [0, 255, 0, 255])
        window.close()
    }

    @Test func `A button without content has the size of its background`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button), 200, 120)
        let told = told
        button.setImage(with: a, in: .background, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, ViewBench.picture(90, 70, 255, 0, 0))
        let content = try #require(child(button)).widget
        for (orientation, size) in [(GTK_ORIENTATION_HORIZONTAL, 90), (GTK_ORIENTATION_VERTICAL, 70)] {
            var (minimum, natural): (gint, gint) = (0, 0)
            gtk_widget_measure(content, orientation, -1, &minimum, &natural, nil, nil)
            #expect(natural == gint(size))
        }
        window.close()
    }

    @Test func `A child set by the program afterwards stays until an image is set`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: a, in: .background, context: bench.context, completed: { told.results.append($0) })
        gtk_button_set_label(pointer(button), "Other")
        try await finish(a, ViewBench.red)
        #expect(gtk_button_get_label(pointer(button)).map { String(cString: $0) } == "Other")
        let label = try #require(child(button))
        button.setImage(with: a, in: .background, context: bench.context, completed: { told.results.append($0) })
        #expect(gtk_widget_get_parent(label.widget) == child(button)?.widget)
        // Synchronously from memory, unless the button has its new size by now and needs more pixels.
        try #require(await MainLoopTurns.wait { told.results.count == 2 })
        #expect(try await middle(window, button.buttonBackgroundPicture) == [255, 0, 0, 255])
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        #expect(try await middle(window, button) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `Images are decoded for the size of the button, and again when it grows`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let widget = UnsafeMutableRawPointer(button).widget
        gtk_widget_set_size_request(widget, 60, 45)
        let window = try await TestWindow(UnsafeMutableRawPointer(button), 60, 45)
        let told = told
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, ViewBench.picture(800, 600, 255, 0, 0))
        let result = try #require(button.imageLoadState(in: .image)?.result)
        #expect(result.image.pixelWidth <= 80 && result.image.pixelWidth > 20)
        let inner = ViewState.of(UnsafeMutableRawPointer(try #require(button.buttonPicture)))
        gtk_widget_set_size_request(widget, 300, 225)
        #expect(await MainLoopTurns.wait { inner.paintable.content?.image?.pixelWidth ?? 0 > 200 })
        #expect(try await middle(window, button) == [255, 0, 0, 255])
        #expect(told.results.count == 1 && bench.loader.requests.count == 1)
        window.close()
    }

    @Test func `A transition leads to the image of the displayed state`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        var moments = 0
        var ends: [Bool] = []
        var transition = WebImageTransition(duration: 0.1) { moment in
            moments += 1
            moment.drawNew()
        }
        transition.completion = { ends.append($0) }
        button.imageTransition = transition
        button.setImage(
            with: a,
            in: .image,
            options: .waitTransition,
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try await finish(a, ViewBench.red)
        #expect(moments > 1 && ends == [true])
        button.setImage(
            with: b,
            in: .image(.insensitive),
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try await finish(b, ViewBench.blue, 2)
        await window.frames(3)
        #expect(ends == [true], "an invisible image needs none")
        #expect(try await middle(window, button) == [255, 0, 0, 255])
        window.close()
    }

    @Test func `Images of buttons are animated`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, try Fixtures.data("Animation/random-0.gif"))
        let view = AnimatedImageView(try #require(button.buttonPicture))
        #expect(await MainLoopTurns.wait { view.currentFrameIndex > 0 })
        let player = view.player
        UnsafeMutableRawPointer(button).widget.withMemoryRebound(to: GtkWidget.self, capacity: 1) {
            gtk_widget_set_state_flags($0, GTK_STATE_FLAG_PRELIGHT, 0)
        }
        #expect(view.player === player, "the same image plays on in a state without its own image")
        window.close()
    }

    @Test func `When the button grows, an animated image continues at its frame`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let widget = UnsafeMutableRawPointer(button).widget
        let fixed = UnsafeMutableRawPointer(try #require(gtk_fixed_new()))
        gtk_fixed_put(fixed.assumingMemoryBound(to: GtkFixed.self), widget, 0, 0)
        gtk_widget_set_size_request(widget, 36, 36)
        let window = try await TestWindow(fixed, 200, 150)
        let told = told
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        try await finish(a, try Fixtures.data("Animation/pillow.gif"))
        let view = AnimatedImageView(try #require(button.buttonPicture))
        #expect(await MainLoopTurns.wait { view.currentFrameIndex == 2 })
        view.stopAnimating()
        #expect(view.currentFrame?.pixelWidth ?? 48 < 48)
        gtk_widget_set_size_request(widget, 150, 120)
        #expect(await MainLoopTurns.wait { view.currentFrame?.pixelWidth == 48 })
        #expect(view.currentFrameIndex == 2 && !view.isAnimating)
        window.close()
    }

    @Test func `A destroyed button cancels its loads, completes them, and leaves nothing behind`() async throws {
        let before = ViewState.count
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        let told = told
        button.setImage(with: a, in: .image, context: bench.context, completed: { told.results.append($0) })
        button.setImage(
            with: b,
            in: .background(.active),
            context: bench.context,
            completed: { told.results.append($0) }
        )
        try await finish(a, ViewBench.red)
        #expect(ViewState.count == before + 3)
        window.close()
        #expect(told.codes == [nil, .cancelled])
        #expect(await MainLoopTurns.wait { ViewState.count == before })
    }
}
