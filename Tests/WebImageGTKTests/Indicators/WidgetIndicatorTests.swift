import CWebImageGTK4
import CWebImageGTKShims
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// Custom widgets that indicate a running load.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct WidgetIndicatorTests {
    let bench: ViewBench
    let time = HeldTime()
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    private func indicator(_ widget: any GObjectPointer) -> WidgetIndicator {
        let indicator = WidgetIndicator(widget)
        indicator.waiting.later = time.later
        return indicator
    }

    private func isVisible(_ widget: UnsafeMutableRawPointer) -> Bool { gtk_widget_get_visible(widget.widget) != 0 }

    private func parent(_ widget: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        gtk_widget_get_parent(widget.widget).map { UnsafeMutableRawPointer($0) }
    }

    /// A GtkPicture in an overlay in a window.
    private func overlaid() async throws -> (
        picture: OpaquePointer, overlay: UnsafeMutableRawPointer, window: TestWindow
    ) {
        let picture = ViewBench.makeImage()
        let overlay = UnsafeMutableRawPointer(try #require(gtk_overlay_new()))
        gtk_overlay_set_child(overlay.opaque, UnsafeMutableRawPointer(picture).widget)
        return (picture, overlay, try await TestWindow(overlay))
    }

    @Test func `A widget without a parent is put over the view in its overlay during the load`() async throws {
        let (picture, overlay, window) = try await overlaid()
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
        let indicator = indicator(label)
        #expect(!isVisible(label) && parent(label) == nil)
        picture.imageIndicator = indicator
        try await bench.begin(picture, url)
        #expect(parent(label) == nil, "not before the delay")
        time.pass(0.2)
        #expect(indicator.isVisible && isVisible(label) && parent(label) == overlay)
        #expect(gtk_widget_get_halign(label.widget) == GTK_ALIGN_CENTER && gtk_widget_get_can_target(label.widget) == 0)
        await window.frames()
        #expect(gtk_widget_get_mapped(label.widget) != 0)
        try await bench.end(picture, url)
        #expect(!indicator.isVisible && !isVisible(label) && parent(label) == nil)
        window.close()
    }

    @Test func `A widget with a parent is shown and hidden there, with the view on another page, too`() async throws {
        let stack = UnsafeMutableRawPointer(try #require(gtk_stack_new()))
        let picture = ViewBench.makeImage()
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
        gtk_stack_add_named(stack.opaque, label.widget, "waiting")
        gtk_stack_add_named(stack.opaque, UnsafeMutableRawPointer(picture).widget, "picture")
        let window = try await TestWindow(stack)
        gtk_stack_set_visible_child_name(stack.opaque, "waiting")
        let indicator = indicator(label)
        picture.imageIndicator = indicator
        try await bench.begin(picture, url)
        #expect(!isVisible(label))
        time.pass(0.2)
        #expect(isVisible(label) && parent(label) == stack && gtk_widget_get_can_target(label.widget) != 0)
        try await bench.end(picture, url)
        #expect(!isVisible(label) && parent(label) == stack)
        window.close()
    }

    @Test func `A quick load, or one from memory, never shows the widget`() async throws {
        let (picture, _, window) = try await overlaid()
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
        picture.imageIndicator = indicator(label)
        try await bench.begin(picture, url)
        try await bench.end(picture, url)
        time.pass(1)
        _ = picture.setImage(with: url, context: bench.context, completed: nil)
        #expect(time.count == 0 && !isVisible(label) && parent(label) == nil)
        window.close()
    }

    @Test func `Without an overlay and a parent the widget is not shown`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
        picture.imageIndicator = indicator(label)
        try await bench.begin(picture, url)
        time.pass(1)
        #expect(parent(label) == nil)
        try await bench.end(picture, url)
        window.close()
    }

    @Test func `A spinner spins, and a GtkProgressBar shows the progress`() async throws {
        let (picture, _, window) = try await overlaid()
        let spinner = UnsafeMutableRawPointer(try #require(gtk_spinner_new()))
        let bar = UnsafeMutableRawPointer(try #require(gtk_progress_bar_new()))
        let (first, second) = (indicator(spinner), indicator(bar))
        var told: [Double] = []
        second.progressHandler = { told.append($0) }
        picture.imageIndicator = first
        try await bench.begin(picture, url)
        time.pass(1)
        #expect(gtk_spinner_get_spinning(spinner.opaque) != 0)
        picture.imageIndicator = second
        #expect(gtk_spinner_get_spinning(spinner.opaque) == 0 && parent(spinner) == nil)
        #expect(second.isVisible && parent(bar) != nil, "the first was seen")
        bench.loader.report(25, of: 100, url)
        #expect(await MainLoopTurns.wait { told.last == 0.25 })
        #expect(gtk_progress_bar_get_fraction(bar.opaque) == 0.25)
        picture.imageIndicator = nil
        #expect(parent(bar) == nil && !isVisible(bar))
        try await bench.end(picture, url)
        window.close()
    }

    @Test func `Closing the window while the widget is shown releases everything`() async throws {
        let before = ViewState.count
        var weakLabel: WeakObject?
        do {
            let (picture, _, window) = try await overlaid()
            let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
            weakLabel = WeakObject(label)
            picture.imageIndicator = indicator(label)
            try await bench.begin(picture, url)
            time.pass(1)
            #expect(parent(label) != nil)
            window.close()
        }
        #expect(await MainLoopTurns.wait { ViewState.count == before && weakLabel?.pointer == nil })
        #expect(await MainLoopTurns.wait { bench.loader.cancelled == [url] })
    }

    @Test func `An indicator given to another view moves there`() async throws {
        let (first, _, firstWindow) = try await overlaid()
        let (second, secondOverlay, secondWindow) = try await overlaid()
        let label = UnsafeMutableRawPointer(try #require(gtk_label_new("…")))
        let indicator = indicator(label)
        first.imageIndicator = indicator
        try await bench.begin(first, url)
        time.pass(1)
        first.imageIndicator = nil
        second.imageIndicator = indicator
        try await bench.begin(second, ViewBench.url("b.bmp"))
        time.pass(1)
        #expect(parent(label) == secondOverlay)
        firstWindow.close()
        #expect(parent(label) == secondOverlay && isVisible(label))
        secondWindow.close()
    }
}
