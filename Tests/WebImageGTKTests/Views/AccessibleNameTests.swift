import CGTKTestSupport
import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The accessible names of views.
@Suite(
    .tags(.addressSanitizer),
    .serialized,
    .needsDisplay,
    .enabled(if: cgtktest_has_accessibles(), "names are tested with GTK_A11Y=test; see Scripts/test")
)
@MainActor struct AccessibleNameTests {
    let bench: ViewBench
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    private func isNamed(_ widget: OpaquePointer, _ name: String) -> Bool {
        cgtktest_is_named(UnsafeMutableRawPointer(widget), name)
    }

    private func setImage(of button: OpaquePointer) async throws {
        button.setImage(with: url, in: .image, context: bench.context)
        try #require(await bench.loader.request(of: url))
        bench.loader.end(url, with: .success(ViewBench.red))
        try #require(await MainLoopTurns.wait { button.latestLoadState?.isLoading == false })
    }

    @Test func `A button whose label is replaced by an image keeps the label as its accessible name`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new_with_mnemonic("_Open")))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        try await setImage(of: button)
        let pointer = UnsafeMutableRawPointer(button).assumingMemoryBound(to: GtkButton.self)
        try #require(gtk_button_get_label(pointer) == nil, "the label was removed")
        #expect(isNamed(button, "Open") && !isNamed(button, "_Open"))
        window.close()
    }

    @Test func `A name that the program gives a button without label stays`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        var (property, value) = (GTK_ACCESSIBLE_PROPERTY_LABEL, GValue())
        g_value_init(&value, GType(16 << 2))
        g_value_set_string(&value, "Delete")
        gtk_accessible_update_property_value(button, 1, &property, &value)
        g_value_unset(&value)
        try await setImage(of: button)
        #expect(isNamed(button, "Delete"))
        window.close()
    }

    @Test func `The alternative text of a GtkPicture stays, whatever is loaded into it`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture))
        gtk_picture_set_alternative_text(picture, "A lighthouse")
        picture.imageTransition = .fade
        picture.imageIndicator = ActivityIndicator()
        func expectText() {
            #expect(gtk_picture_get_alternative_text(picture).map { String(cString: $0) } == "A lighthouse")
            let view = UnsafeMutableRawPointer(picture)
            // A name in later versions of GTK.
            #expect(cgtktest_is_described(view, "A lighthouse") || cgtktest_is_named(view, "A lighthouse"))
        }
        try await bench.begin(picture, url, placeholder: .icon(name: "image-missing"))
        expectText()
        try await bench.end(picture, url)
        expectText()
        try await bench.begin(picture, ViewBench.url("b.bmp"))
        try await bench.end(picture, ViewBench.url("b.bmp"), with: .failure(WebImageError(.timedOut, "no")))
        expectText()
        window.close()
    }
}
