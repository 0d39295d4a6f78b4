import CWebImageGTK4
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageGTK

/// The placeholder, shown until the image arrives.
@Suite(.tags(.addressSanitizer), .serialized, .needsDisplay) @MainActor struct PlaceholderTests {
    let bench: ViewBench
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    private func look(_ placeholder: ViewPlaceholder?, _ width: Int = 60, _ height: Int = 40) async throws
        -> WidgetPixels
    {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture), width, height)
        try await bench.begin(picture, url, placeholder: placeholder)
        await window.frames()
        let pixels = try window.pixels(of: UnsafeMutableRawPointer(picture))
        window.close()
        return pixels
    }

    private func colors(_ pixels: WidgetPixels) -> Set<[UInt8]> {
        Set((0..<pixels.height).flatMap { y in (0..<pixels.width).map { pixels.rgba($0, y) } })
    }

    @Test func `An image is a placeholder`() async throws {
        let pixels = try await look(.image(try Quarters.old()))
        #expect(pixels.rgba(5, 10) == Quarters.red && pixels.rgba(55, 30) == Quarters.white)
        #expect(pixels.rgba(5, 2) == [0, 0, 0, 0])
    }

    @Test func `A paintable is a placeholder, also without a size`() async throws {
        let texture = try #require(Texture.of(try Quarters.old()))
        let pixels = try await look(.paintable(PaintableReference(texture.pointer)))
        #expect(pixels.rgba(5, 10) == Quarters.red && pixels.rgba(55, 30) == Quarters.white)
        let empty = try #require(gdk_paintable_new_empty(0, 0))
        let reference = PaintableReference(empty)
        g_object_unref(UnsafeMutableRawPointer(empty))
        #expect(try await colors(look(.paintable(reference))) == [[0, 0, 0, 0]])
    }

    @Test func `A placeholder paintable that changes is redrawn`() async throws {
        // The paintable of another view, whose content changes.
        let other = ViewBench.makeImage()
        let kept = ObjectReference(retaining: UnsafeMutableRawPointer(other))
        let state = ViewState.of(kept.pointer)
        state.paintable.show(PaintableContent(try Quarters.old(60, 40)))
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture), 60, 40)
        try await bench.begin(picture, url, placeholder: .paintable(PaintableReference(state.paintable.pointer)))
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).rgba(5, 5) == Quarters.red)
        state.paintable.show(PaintableContent(try Quarters.new(60, 40)))
        await window.frames()
        #expect(try window.pixels(of: UnsafeMutableRawPointer(picture)).rgba(5, 5) == Quarters.cyan)
        window.close()
    }

    @Test func `The image of a hash is a placeholder`() async throws {
        let red = try ImageCodersManager.shared.decode(ViewBench.red, options: ImageDecodeOptions())
        let pixels = try await look(.thumbHash(try ThumbHash(red)))
        #expect(pixels.middle[0] > 200 && pixels.middle[1] < 60 && pixels.middle[2] < 60 && pixels.middle[3] == 255)
    }

    @Test func `The image of a BlurHash is a placeholder in the given ratio`() async throws {
        let red = try BlurHash("00TI:j")
        let square = try await look(.blurHash(red))
        #expect(square.middle == [255, 0, 0, 255] && square.rgba(5, 20) == [0, 0, 0, 0])
        let wide = try await look(.blurHash(red, aspectRatio: 2))
        #expect(wide.rgba(5, 20) == [255, 0, 0, 255] && wide.rgba(30, 2) == [0, 0, 0, 0])
        let sizes: [(ratio: Double, width: Int, height: Int)] = [
            (1.5, 32, 21), (0.5, 16, 32), (0.0001, 1, 32), (-1, 32, 32), (.nan, 32, 32),
        ]
        for expected in sizes {
            let size = ViewPlaceholder.blurHashSize(aspectRatio: expected.ratio)
            #expect(size.width == expected.width && size.height == expected.height)
        }
    }

    @Test func `An icon of the theme is a placeholder, a symbolic one in the colour of text`() async throws {
        let missing = try await look(.icon(name: "image-missing"), 96, 96)
        #expect(colors(missing).count > 4)
        let unknown = try await look(.icon(name: "no-icon-has-this-name"), 96, 96)
        #expect(colors(unknown).count > 1)
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture), 96, 96)
        try await bench.begin(picture, url, placeholder: .icon(name: "open-menu-symbolic"))
        await window.frames()
        let color = ViewSettings.textColor(of: UnsafeMutableRawPointer(picture))
        let text = [color.red, color.green, color.blue].map { UInt8(($0 * 255).rounded()) } + [255]
        let seen = colors(try window.pixels(of: UnsafeMutableRawPointer(picture)))
        #expect(seen.contains { $0.isClose(to: text, by: 2) }, "\(text) \(seen.prefix(5))")
        window.close()
    }

    @Test func `Nothing`() async throws {
        #expect(try await colors(look(nil)) == [[0, 0, 0, 0]])
    }
}
