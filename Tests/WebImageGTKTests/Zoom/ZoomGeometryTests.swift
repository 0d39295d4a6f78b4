import Testing
import WebImage

@testable import WebImageGTK

/// The position of an image while it is zoomed: numbers, without a window.
@Suite struct ZoomGeometryTests {
    private func geometry(_ width: Double, _ height: Double, scale: Double = 1) -> ZoomGeometry {
        ZoomGeometry(
            image: ImageSize(width: width, height: height),
            view: ImageSize(width: 800, height: 600),
            scaleFactor: scale
        )
    }

    private let corner = ImagePoint(x: 0, y: 0)

    /// The place in the image, in its pixels, that is shown at a place of the area.
    private func seen(_ geometry: ZoomGeometry, _ scroll: ImagePoint, _ place: ImagePoint) -> ImagePoint {
        let content = geometry.content
        let (left, top) = (max((800 - content.width) / 2, 0), max((600 - content.height) / 2, 0))
        return ImagePoint(
            x: (scroll.x + place.x - left) / content.width * geometry.image.width,
            y: (scroll.y + place.y - top) / content.height * geometry.image.height
        )
    }

    @Test(arguments: [(1600.0, 1200.0, 0.5), (1600, 300, 0.5), (300, 1200, 0.5), (400, 300, 1), (800, 600, 1)])
    func `An image fits into its area, and is never enlarged for that`(width: Double, height: Double, zoom: Double) {
        #expect(geometry(width, height).fittingZoom == zoom)
        #expect(geometry(width, height).shownZoom == zoom)
        #expect(geometry(width, height).content == ImageSize(width: width * zoom, height: height * zoom))
    }

    @Test(arguments: [
        // Bigger than the area on both sides, on one, and on none, before or after.
        (1600.0, 1200.0), (1600, 700), (700, 1200), (400, 300), (3000, 100), (100, 3000),
    ])
    func `The place under the pointer stays, unless that would leave a gap`(width: Double, height: Double) throws {
        var geometry = geometry(width, height)
        var scroll = corner
        let pointer = ImagePoint(x: 620, y: 250)
        for factor in [1.25, 1.25, 2, 1.25, 0.8, 1.25, 3, 0.5] {
            let before = seen(geometry, scroll, pointer)
            let target = geometry.setZoom(geometry.shownZoom * factor, about: pointer, from: scroll)
            scroll = try #require(target)
            let (content, after) = (geometry.content, seen(geometry, scroll, pointer))
            #expect((0...max(content.width - 800, 0)).contains(scroll.x))
            #expect((0...max(content.height - 600, 0)).contains(scroll.y))
            // Rounding to whole points makes a difference of less than one.
            if scroll.x > 0, scroll.x < content.width - 800 {
                #expect(abs(after.x - before.x) <= 1 / geometry.shownZoom)
            }
            if scroll.y > 0, scroll.y < content.height - 600 {
                #expect(abs(after.y - before.y) <= 1 / geometry.shownZoom)
            }
        }
    }

    @Test func `Without a pointer the middle stays in place`() {
        var geometry = geometry(1000, 1000)
        let scroll = geometry.setZoom(2, about: nil, from: corner)
        #expect(geometry.content == ImageSize(width: 2000, height: 2000))
        #expect(scroll == ImagePoint(x: 600, y: 700))
    }

    @Test func `An image that becomes wider than its area is scrolled from its middle`() {
        // 720 wide, between margins of 40; a quarter wider, 900.
        var geometry = geometry(720, 100)
        let scroll = geometry.setZoom(1.25, about: nil, from: corner)
        #expect(scroll == ImagePoint(x: 50, y: 0))
    }

    @Test func `At actual size a pixel of the image is a pixel of the screen, at any display scale`() {
        var geometry = geometry(1000, 500, scale: 2)
        #expect(geometry.fittingZoom == 1)
        #expect(geometry.content == ImageSize(width: 500, height: 250))
        _ = geometry.setZoom(4, about: nil, from: corner)
        #expect(geometry.content == ImageSize(width: 2000, height: 1000))
    }

    @Test(arguments: [1e9, 40_000, 16_000, 8000, 10, 1])
    func `The zoom is limited to what GTK can lay out, and to visible sizes`(side: Double) {
        var geometry = geometry(side, side)
        for wanted in [1e300, 1e-300, 0, -1, 16] {
            _ = geometry.setZoom(wanted, about: nil, from: corner)
            #expect((1...16_000).contains(geometry.content.width))
            #expect(geometry.shownZoom <= 16)
            #expect(geometry.shownZoom >= min(0.02, geometry.fittingZoom))
        }
    }

    @Test func `Zooming out never enlarges an image that fits at less than the smallest size`() {
        var geometry = geometry(100_000, 50)
        let fitting = geometry.fittingZoom
        #expect(fitting == 0.008)
        _ = geometry.setZoom(fitting / ZoomGeometry.step, about: nil, from: corner)
        #expect(geometry.shownZoom == fitting)
    }

    @Test func `Zooming without an image, or to NaN, does nothing`() {
        var unknown = ZoomGeometry(view: ImageSize(width: 800, height: 600))
        let target = unknown.setZoom(2, about: nil, from: corner)
        #expect(target == nil)
        #expect(unknown.zoom == nil && unknown.shownZoom == 1)
        var known = geometry(100, 100)
        let other = known.setZoom(.nan, about: nil, from: corner)
        #expect(other == nil && known.zoom == nil)
    }
}
