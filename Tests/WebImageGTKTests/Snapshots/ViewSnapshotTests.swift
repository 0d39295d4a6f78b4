import CWebImageGTK4
import FoundationEssentials
import TestSupport
import Testing
import WebImage

@testable import WebImageCodecs
@testable import WebImageGTK
@testable import WebImageLoading

/// Drawings of views, pixel by pixel; expected positions were calculated by hand.
@Suite(.serialized, .needsDisplay) @MainActor struct ViewSnapshotTests {
    let bench: ViewBench
    let time = HeldTime()
    let url = ViewBench.url("a.bmp")

    init() throws { bench = try ViewBench() }

    private static let clear: [UInt8] = [0, 0, 0, 0]

    /// The pixels that differ from an image of quarters at a place; if it was enlarged, the seams of the quarters are
    /// left out.
    private func faults(_ pixels: WidgetPixels, _ rect: ImageRect, _ colors: [[UInt8]], isScaled: Bool) -> [String] {
        var faults: [String] = []
        for y in 0..<pixels.height {
            for x in 0..<pixels.width {
                let place = (x: Double(x) + 0.5 - rect.x, y: Double(y) + 0.5 - rect.y)
                let middle = (x: rect.width / 2, y: rect.height / 2)
                if isScaled, abs(place.x - middle.x) < 2 || abs(place.y - middle.y) < 2 { continue }
                let isInside = place.x > 0 && place.y > 0 && place.x < rect.width && place.y < rect.height
                let color = colors[(place.y > middle.y ? 2 : 0) + (place.x > middle.x ? 1 : 0)]
                if pixels.rgba(x, y) != (isInside ? color : Self.clear) {
                    faults.append("\(x) \(y): \(pixels.rgba(x, y))")
                }
            }
        }
        return faults
    }

    private let quarters = [Quarters.red, Quarters.green, Quarters.blue, Quarters.white]

    @Test func `An image lies in its view as content-fit says`() async throws {
        // Of 40 by 20, in 60 by 40.
        let fits: [(GtkContentFit, ImageRect)] = [
            (GTK_CONTENT_FIT_FILL, ImageRect(x: 0, y: 0, width: 60, height: 40)),
            (GTK_CONTENT_FIT_CONTAIN, ImageRect(x: 0, y: 5, width: 60, height: 30)),
            (GTK_CONTENT_FIT_COVER, ImageRect(x: -10, y: 0, width: 80, height: 40)),
            (GTK_CONTENT_FIT_SCALE_DOWN, ImageRect(x: 10, y: 10, width: 40, height: 20)),
        ]
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture), 60, 40)
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        state.installPaintable()
        for isOpaque in [true, false] {
            state.paintable.show(PaintableContent(try Quarters.old(isOpaque: isOpaque)))
            for (fit, rect) in fits {
                gtk_picture_set_content_fit(picture, fit)
                await window.frames()
                let pixels = try window.pixels(of: UnsafeMutableRawPointer(picture))
                let faults = faults(pixels, rect, quarters, isScaled: rect.width != 40)
                #expect(faults.isEmpty, "\(fit) \(faults.count): \(faults.prefix(4))")
            }
        }
        window.close()
    }

    @Test func `Odd sizes lie where GTK puts them, and so does the previous content`() async throws {
        let picture = ViewBench.makeImage()
        let window = try await TestWindow(UnsafeMutableRawPointer(picture), 61, 43)
        let state = ViewState.of(UnsafeMutableRawPointer(picture))
        state.installPaintable()
        let (old, new) = (try Quarters.old(38, 20), try Quarters.new(16, 30))
        for fit in [GTK_CONTENT_FIT_FILL, GTK_CONTENT_FIT_CONTAIN, GTK_CONTENT_FIT_COVER, GTK_CONTENT_FIT_SCALE_DOWN] {
            gtk_picture_set_content_fit(picture, fit)
            state.paintable.show(PaintableContent(old))
            await window.frames()
            let before = try window.pixels(of: UnsafeMutableRawPointer(picture))
            // Stopped at its beginning, at which it is the old image.
            state.paintable.show(PaintableContent(new), by: Effects.held("fade", at: 0)) { _ in }
            await window.frames()
            let during = try window.pixels(of: UnsafeMutableRawPointer(picture))
            let isSame = before == during
            #expect(isSame, "\(fit)")
            state.paintable.show(PaintableContent(new))
            await window.frames()
            let isOther = try before != window.pixels(of: UnsafeMutableRawPointer(picture))
            #expect(isOther)
        }
        window.close()
    }

    @Test func `GtkImage draws the previous content in its place`() async throws {
        for (width, height, side) in [
            (61, 43, 32), (40, 40, 40), (30, 60, 24), (200, 50, 16), (61, 43, -1), (20, 60, 32),
        ] {
            let view = UnsafeMutableRawPointer(try #require(gtk_image_new()))
            // -1 for the size that the theme gives icons.
            gtk_image_set_pixel_size(view.opaque, Int32(side))
            let window = try await TestWindow(view, width, height)
            let state = ViewState.of(view)
            state.installPaintable()
            for (first, second) in [
                (try Quarters.old(40, 20), try Quarters.new(20, 40)),
                (try Quarters.old(10, 10), try Quarters.new(50, 20)),
            ] {
                state.paintable.show(PaintableContent(first))
                await window.frames()
                let before = try window.pixels(of: view)
                state.paintable.show(PaintableContent(second), by: Effects.held("fade", at: 0)) { _ in }
                await window.frames()
                let during = try window.pixels(of: view)
                let isSame = before == during
                #expect(isSame, "\(width) \(height) \(side)")
            }
            window.close()
        }
    }

    @Test func `An indicator is drawn over an empty view, a placeholder and a preview, at a given time`() async throws {
        let setting = AnimationSetting()
        setting.turn(false)
        defer { setting.turn(true) }
        let picture = ViewBench.makeImage()
        let view = UnsafeMutableRawPointer(picture)
        let window = try await TestWindow(view, 60, 40)
        let state = ViewState.of(view)
        let indicator = ActivityIndicator(size: .small)
        indicator.driver.delay.later = time.later
        picture.imageIndicator = indicator
        // Nothing, nor a placeholder.
        try await bench.begin(picture, url, .delayPlaceholder)
        time.pass(1)
        indicator.driver.advance(to: 5)
        indicator.driver.advance(to: 5.35)
        let box = ImageRect(x: 0, y: 0, width: 60, height: 40)
        let color = ViewSettings.textColor(of: view)
        func expected(_ content: Image?, _ rect: ImageRect) throws -> Drawing {
            try Drawing(60, 40) { snapshot in
                content.flatMap { PaintableContent($0) }?.draw(into: snapshot, rect)
                let canvas = IndicatorCanvas(
                    snapshot: snapshot,
                    view: box,
                    time: 0.35,
                    color: color,
                    isOverContent: content != nil
                )
                ActivityIndicator.draw(canvas, .small)
            }
        }
        /// One of several places, where versions of GTK differ.
        func expectLook(_ content: Image?, _ rects: ImageRect..., what: Comment) async throws {
            await window.frames()
            let pixels = try window.pixels(of: view)
            let drawings = try rects.map { try expected(content, $0) }
            #expect(drawings.map { pixels.differences(from: $0, background: Self.clear) }.min() == 0, what)
            #expect(drawings.allSatisfy { $0.bytes.contains { $0 != 0 } })
        }
        #expect(gtk_picture_get_paintable(picture) == state.paintable.pointer.opaque)
        try await expectLook(nil, box, what: "nothing")
        let (placeholder, preview) = (try Quarters.old(30, 20), try Quarters.new(20, 30))
        state.paintable.show(PaintableContent(placeholder))
        try await expectLook(placeholder, box, what: "placeholder")
        state.paintable.show(PaintableContent(preview))
        // 26.67 by 40: 27 points are centred, and newer versions fill them.
        let exact = ImageRect(x: 16, y: 0, width: 20.0 / 30 * 40, height: 40)
        try await expectLook(preview, exact, ImageRect(x: 16, y: 0, width: 27, height: 40), what: "preview")
        gtk_picture_set_content_fit(picture, GTK_CONTENT_FIT_COVER)
        try await expectLook(preview, ImageRect(x: 0, y: -25, width: 60, height: 90), what: "cover")
        try await bench.end(picture, url)
        window.close()
    }

    @Test func `The bar lies at the bottom of the view, not of the image`() async throws {
        let picture = ViewBench.makeImage()
        let view = UnsafeMutableRawPointer(picture)
        let window = try await TestWindow(view, 120, 80)
        let indicator = ProgressIndicator(delay: 0)
        picture.imageIndicator = indicator
        try await bench.begin(picture, url, placeholder: .image(try Quarters.old(120, 20)))
        indicator.updateProgress(0.5)
        let color = ViewSettings.textColor(of: view)
        let text = [color.red, color.green, color.blue].map { UInt8((Float($0) * 255).rounded()) } + [255]
        for fit in [GTK_CONTENT_FIT_CONTAIN, GTK_CONTENT_FIT_COVER, GTK_CONTENT_FIT_FILL] {
            gtk_picture_set_content_fit(picture, fit)
            await window.frames()
            let pixels = try window.pixels(of: view)
            #expect(pixels.rgba(30, 70).isClose(to: text), "\(fit): \(pixels.rgba(30, 70)) \(text)")
            #expect(!pixels.rgba(90, 70).isClose(to: text))
            if fit == GTK_CONTENT_FIT_CONTAIN { #expect(pixels.rgba(60, 65) == Self.clear) }
        }
        try await bench.end(picture, url)
        window.close()
    }

    @Test func `A load looks the same each time`() async throws {
        var looks: [WidgetPixels] = []
        for _ in 0..<2 {
            let bench = try ViewBench()
            let picture = ViewBench.makeImage()
            let view = UnsafeMutableRawPointer(picture)
            let window = try await TestWindow(view, 60, 40)
            try await bench.begin(picture, url, placeholder: .image(try Quarters.old()))
            await window.frames()
            looks.append(try window.pixels(of: view))
            #expect(
                faults(looks[looks.count - 1], ImageRect(x: 0, y: 5, width: 60, height: 30), quarters, isScaled: true)
                    .isEmpty
            )
            try await bench.end(picture, url)
            await window.frames()
            looks.append(try window.pixels(of: view))
            // 40 by 30 of red, whole: 53.3 by 40.
            #expect(
                looks[looks.count - 1].middle == [255, 0, 0, 255] && looks[looks.count - 1].rgba(1, 20) == Self.clear
            )
            window.close()
        }
        #expect(looks[0] == looks[2] && looks[1] == looks[3] && looks[0] != looks[1])
    }
}
