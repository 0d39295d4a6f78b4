import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The load that an image on a button belongs to.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct ButtonDeliveryTests {
    let bench: ViewBench
    let a = ViewBench.url("a.bmp")
    let b = ViewBench.url("b.bmp")

    init() throws { bench = try ViewBench() }

    @Test func `A highlighted image is not attributed to the load of the button's next image`() async throws {
        let button = OpaquePointer(try #require(gtk_button_new()))
        let window = try await TestWindow(UnsafeMutableRawPointer(button))
        try await bench.begin(button, a)
        try await bench.end(button, a)
        let part = try #require(ViewState.of(UnsafeMutableRawPointer(button)).button)
        #expect(part.delivery == nil)
        button.setImage(with: b, in: .highlighted, context: bench.context)
        try #require(await bench.loader.request(of: b))
        try await bench.end(button, b, with: .success(ViewBench.blue))
        #expect(button.imageURL(in: .highlighted) == b && part.delivery == nil)
        window.close()
    }
}
