import Testing

@testable import WebImageServer

/// Where crops and extensions lie.
@Suite struct VariantLayoutPositionTests {
    private func layout(_ path: String) throws -> VariantLayout { try VariantLayoutSizeTests.layout(path) }

    private func crop(_ path: String) throws -> PixelPart { try layout(path).crop }

    private func region(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelPart {
        .region(PixelRegion(x: x, y: y, width: width, height: height))
    }

    @Test(arguments: [
        ("nowe", 0, 0), ("no", 75, 0), ("noea", 150, 0), ("we", 0, 25), ("ce", 75, 25), ("ea", 150, 25),
        ("sowe", 0, 50),
        ("so", 75, 50), ("soea", 150, 50),
    ])
    func `Nine places`(_ name: String, _ x: Int, _ y: Int) throws {
        // Halves are rounded to even numbers, as imgproxy does.
        #expect(try crop("c:50:50:\(name)") == region(x == 75 ? 76 : x, y == 25 ? 26 : y, 50, 50))
        #expect(try crop("c:50:50/g:\(name)") == crop("c:50:50:\(name)"))
    }

    @Test(arguments: [
        ("nowe:10:20", 10, 20), ("soea:10:20", 140, 30), ("ce:10:-5", 86, 21), ("no:0.1:0.1", 96, 10),
        ("so::5", 76, 45),
        ("nowe:1000:1000", 150, 50), ("ea:-10:0", 150, 26), ("fp:0:0", 0, 0), ("fp:1:1", 150, 50),
        ("fp:0.5:0.25", 75, 0),
        ("fp:0.25:0.75", 25, 50),
    ])
    func `Offsets move the crop within the image`(_ gravity: String, _ x: Int, _ y: Int) throws {
        #expect(try crop("c:50:50:\(gravity)") == region(x, y, 50, 50))
    }

    @Test func `Offsets of the result's crop are in points`() throws {
        #expect(try layout("rs:fill:50:50/g:nowe:10:0").resultCrop == region(10, 0, 50, 50))
        #expect(try layout("rs:fill:50:50/g:nowe:10:0/dpr:2").resultCrop == region(20, 0, 100, 100))
        // Those of the crop before scaling are in pixels of the source.
        #expect(try crop("c:50:50:nowe:10:0/dpr:2") == region(10, 0, 50, 50))
    }

    @Test func `Smart gravity is left to the pixels`() throws {
        #expect(try crop("c:50:40:sm") == .salient(PixelSize(50, 40)))
        #expect(try crop("c:50:40:sm/rot:90") == .salient(PixelSize(40, 50)))
        #expect(try layout("rs:fill:50:50/g:sm").resultCrop == .salient(PixelSize(50, 50)))
        #expect(try layout("rs:fit:50:50/g:sm").resultCrop == .whole)
    }

    /// A crop is a part of the rotated and mirrored image.
    @Test func `Rotation and reflection are undone for the crop`() throws {
        #expect(try crop("c:50:20:nowe") == region(0, 0, 50, 20))
        #expect(try crop("c:50:20:nowe/fl:1:0") == region(150, 0, 50, 20))
        #expect(try crop("c:50:20:nowe/fl:0:1") == region(0, 80, 50, 20))
        #expect(try crop("c:50:20:nowe/rot:180") == region(150, 80, 50, 20))
        // The rotated image is 100 by 200: its top left corner is the source's bottom left one.
        #expect(try crop("c:50:20:nowe/rot:90") == region(0, 50, 20, 50))
        #expect(try crop("c:50:20:nowe/rot:270") == region(180, 0, 20, 50))
        #expect(try crop("c:50:20:nowe/rot:90/fl:1:1") == region(180, 0, 20, 50))
        #expect(try layout("c:50:20:nowe/rot:90").scaled == PixelSize(20, 50))
        #expect(try layout("c:50:20:nowe/rot:90/w:25").scaled == PixelSize(10, 25))
    }

    @Test func `Regions and points go through every orientation and back`() {
        let size = PixelSize(7, 5)
        for rotation in [0, 90, 180, 270] {
            for flips in 0..<4 {
                var orientation = VariantOrientation()
                orientation.rotation = rotation
                (orientation.flipsHorizontally, orientation.flipsVertically) = (flips & 1 != 0, flips & 2 != 0)
                let after = orientation.size(of: size)
                for y in 0..<after.height {
                    for x in 0..<after.width {
                        let before = orientation.regionBefore(PixelRegion(x: x, y: y, width: 1, height: 1), in: after)
                        let point = orientation.pointAfter(
                            x: (Double(before.x) + 0.5) / Double(size.width),
                            y: (Double(before.y) + 0.5) / Double(size.height)
                        )
                        #expect(abs(point.x * Double(after.width) - Double(x) - 0.5) < 1e-9)
                        #expect(abs(point.y * Double(after.height) - Double(y) - 0.5) < 1e-9)
                    }
                }
            }
        }
    }

    @Test func `Extensions place the image by their gravity`() throws {
        let canvas = { (path: String) in try layout(path).canvases.first }
        func expected(_ width: Int, _ height: Int, _ x: Int, _ y: Int) -> VariantLayout.Canvas {
            VariantLayout.Canvas(size: PixelSize(width, height), x: x, y: y, background: nil)
        }
        #expect(try canvas("rs:fit:50:50/ex:1") == expected(50, 50, 0, 13))
        #expect(try canvas("rs:fit:50:51/ex:1:no") == expected(50, 51, 0, 0))
        #expect(try canvas("rs:fit:50:50/ex:1:so:0:5") == expected(50, 50, 0, 20))
        #expect(try canvas("rs:fit:50:50/ex:1:so:0:5/dpr:2") == expected(100, 100, 0, 40))
        #expect(try canvas("rs:fit:50:50/exar:1:fp:0:0") == expected(50, 50, 0, 0))
        #expect(try canvas("rs:fit:50:25/ex:1/exar:1") == nil)
        #expect(try layout("rs:fit:50:50/ex:1/pd:1").canvases.count == 2)
    }

    @Test func `A focal region is the point of the result's crop`() throws {
        var options = VariantOptions()
        (options.resizingType, options.width, options.height) = (.fill, .pixels(50), .pixels(50))
        options.focalRegion = VariantRegion(left: 140, top: 0, right: 160, bottom: 100)
        let source = VariantLayout.Source(PixelSize(200, 100))
        #expect(try VariantLayout(options, source: source).resultCrop == region(50, 0, 50, 50))
        options.focalRegion = VariantRegion(left: 90, top: 0, right: 110, bottom: 100)
        #expect(try VariantLayout(options, source: source).resultCrop == region(25, 0, 50, 50))
        options.flipHorizontal = true
        options.focalRegion = VariantRegion(left: 140, top: 0, right: 160, bottom: 100)
        #expect(try VariantLayout(options, source: source).resultCrop == region(0, 0, 50, 50))
        // Outside the crop it does not count.
        options.flipHorizontal = false
        options.crop.width = 120
        options.crop.gravity = VariantGravity(.west)
        options.gravity = VariantGravity(.east)
        #expect(try VariantLayout(options, source: source).resultCrop == region(10, 0, 50, 50))
    }

    @Test func `The source is decoded no larger than needed`() throws {
        let decode = { (path: String) in try VariantLayoutSizeTests.layout(path, 2000, 1000).decodeSize }
        #expect(try decode("w:100") == PixelSize(100, 50))
        #expect(try decode("rs:fill:100:100") == PixelSize(200, 100))
        #expect(try decode("rot:90/w:100") == PixelSize(200, 100))
        #expect(try decode("rs:force:100:100") == PixelSize(100, 100))
        #expect(try decode("w:4000/el:1") == PixelSize(2000, 1000))
        // A crop is scaled from twice the size.
        #expect(try decode("c:1000:1000/w:100") == PixelSize(400, 200))
        #expect(try decode("c:100:100") == PixelSize(2000, 1000))
    }
}
