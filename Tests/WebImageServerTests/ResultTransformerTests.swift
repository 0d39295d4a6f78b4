import TestSupport
import Testing
import WebImage

@testable import WebImageServer

/// Results of small images, whose pixels tell where they were.
@Suite struct ResultTransformerTests {
    /// Red and green are the position, blue is 7.
    private func source(_ width: Int, _ height: Int) throws -> Image {
        Image(bitmap: try Bitmap.make(width, height) { x, y in [7, UInt8(y), UInt8(x), 255] })
    }

    private func result(_ path: String, _ image: Image, isOpaque: Bool = false, watermark: Image? = nil) throws -> Image
    {
        var requests = ImgproxyRequests()
        requests.configuration.allowsLimits = true
        let options = try requests.options(path)
        let size = PixelSize(image.pixelWidth, image.pixelHeight)
        let transformer = ResultTransformer(
            options,
            source: VariantLayout.Source(size),
            isOpaque: isOpaque,
            watermark: watermark
        )
        let result = try transformer.transform(image)
        let need = transformer.memoryNeed(of: ImageExtent(image))
        if options.trim.threshold == nil {
            #expect(need.output.width == result.pixelWidth && need.output.height == result.pixelHeight, "\(path)")
        }
        return result
    }

    private func position(_ image: Image, _ x: Int, _ y: Int) -> [Int] {
        image.bitmap.premultipliedRGBA(x: x, y: y).prefix(2).map(Int.init)
    }

    @Test(arguments: [
        ("", 40, 20, 0, 0), ("c:10:6:nowe:3:4", 10, 6, 3, 4), ("c:10:6:soea", 10, 6, 30, 14),
        ("rs:fill:10:20/g:ea", 10, 20, 30, 0),
        ("rs:fill:40:5/g:so::2", 40, 5, 0, 13), ("c:10:6:nowe:3:4/rs:fill:4:6/g:we", 4, 6, 3, 4),
    ])
    func `Crops have the pixels of their place`(_ path: String, _ width: Int, _ height: Int, _ x: Int, _ y: Int) throws
    {
        let image = try result(path, source(40, 20))
        #expect(image.pixelWidth == width && image.pixelHeight == height)
        #expect(position(image, 0, 0) == [x, y])
        #expect(position(image, width - 1, height - 1) == [x + width - 1, y + height - 1])
    }

    /// The source's corners after each rotation and reflection: top left and bottom right.
    @Test(arguments: [
        ("rot:90", 20, 40, [0, 19], [39, 0]), ("rot:180", 40, 20, [39, 19], [0, 0]),
        ("rot:270", 20, 40, [39, 0], [0, 19]),
        ("fl:1", 40, 20, [39, 0], [0, 19]), ("fl::1", 40, 20, [0, 19], [39, 0]),
        ("rot:90/fl:1", 20, 40, [0, 0], [39, 19]),
        ("rot:90/c:5:6:nowe", 5, 6, [0, 19], [5, 15]), ("fl:1/c:5:6:nowe:1:2", 5, 6, [38, 2], [34, 7]),
    ])
    func `Rotations and reflections`(_ path: String, _ width: Int, _ height: Int, _ first: [Int], _ last: [Int]) throws
    {
        let image = try result(path, source(40, 20))
        #expect(image.pixelWidth == width && image.pixelHeight == height)
        #expect(position(image, 0, 0) == first)
        #expect(position(image, width - 1, height - 1) == last)
    }

    @Test func `A source decoded smaller makes the same result within rounding`() throws {
        let large = Image(bitmap: try Bitmap.make(120, 80) { x, y in [50, UInt8(3 * y), UInt8(2 * x), 255] })
        for path in ["w:30", "c:60:40:nowe:30:20/w:20", "rs:fill:20:20/g:ea", "rot:90/c:40:60:so/h:15"] {
            let options = try ImgproxyRequests().options(path)
            let source = VariantLayout.Source(PixelSize(120, 80))
            let size = try ResultTransformer.decodeSize(of: options, source: source)
            let small = try large.resized(
                to: ImageSize(width: size.width, height: size.height),
                scaleMode: .fill
            )
            let transformer = ResultTransformer(options, source: source)
            let (whole, decoded) = (try transformer.transform(large), try transformer.transform(small))
            #expect(whole.pixelWidth == decoded.pixelWidth && whole.pixelHeight == decoded.pixelHeight)
            let differences = zip(whole.bitmap.pixels, decoded.bitmap.pixels).map { abs(Int($0) - Int($1)) }
            #expect((differences.max() ?? 255) <= 8, "\(path)")
            #expect(size != PixelSize(120, 80), "\(path)")
            // Without the size of the source, that of the decoded image counts.
            guard options.crop.width == 0 else { continue }
            let unknown = try ResultTransformer(options).transform(small)
            #expect(unknown.bitmap.pixels == decoded.bitmap.pixels, "\(path)")
        }
    }

    @Test func `Extensions and padding are transparent, or of the background`() throws {
        let clear = try result("rs:fit:40:30/ex:1:no/pd:1:2:3:4", source(40, 20))
        #expect(clear.pixelWidth == 46 && clear.pixelHeight == 34)
        #expect(clear.bitmap.premultipliedRGBA(x: 3, y: 5) == [0, 0, 0, 0])
        #expect(position(clear, 4, 1) == [0, 0])
        #expect(clear.bitmap.premultipliedRGBA(x: 10, y: 25) == [0, 0, 0, 0])
        let red = try result("rs:fit:40:30/ex:1:no/pd:1:2:3:4/bg:ff0000", source(40, 20))
        #expect(red.bitmap.pixelFormat == .rgb8)
        #expect(red.bitmap.premultipliedRGBA(x: 10, y: 25) == [255, 0, 0, 255])
        let white = try result("pd:1", source(4, 4), isOpaque: true)
        #expect(white.bitmap.premultipliedRGBA(x: 0, y: 0) == [255, 255, 255, 255])
    }

    @Test func `A border is trimmed before the layout is made`() throws {
        let framed = Image(
            bitmap: try Bitmap.make(40, 30) { x, y in
                (10..<30).contains(x) && (6..<16).contains(y)
                    ? [0, UInt8(100 + y), UInt8(100 + x), 255] : [9, 9, 9, 255]
            }
        )
        let size = { (path: String) in
            let image = try result(path, framed)
            return [image.pixelWidth, image.pixelHeight]
        }
        #expect(try size("t:10") == [20, 10])
        #expect(try size("t:10/w:10") == [10, 5])
        #expect(try size("t:10::0:1") == [20, 18])
        #expect(try size("t:255") == [40, 30])
        #expect(try size("t:10:ffffff") == [40, 30])
        #expect(try position(result("t:10", framed), 0, 0) == [110, 106])
        let options = try ImgproxyRequests().options("t:10/w:10")
        let source = VariantLayout.Source(PixelSize(40, 30))
        #expect(try ResultTransformer.decodeSize(of: options, source: source) == PixelSize(40, 30))
    }

    @Test func `Effects change the pixels`() throws {
        let squares = Image(
            bitmap: try Bitmap.make(40, 20) { x, y in
                (x / 5 + y / 5) % 2 == 0 ? [90, 90, 90, 255] : [160, 150, 140, 255]
            }
        )
        for path in ["bl:0.6", "bl:5", "sh:1", "pix:4"] {
            let changed = try result(path, squares)
            #expect(changed.pixelWidth == 40 && changed.pixelHeight == 20)
            #expect(changed.bitmap.pixels != squares.bitmap.pixels, "\(path)")
        }
        #expect(try position(result("pix:4", source(40, 20)), 0, 0) == [2, 2])
    }

    @Test func `A watermark lies where its options say`() throws {
        let mark = Image(bitmap: try Bitmap.make(4, 2) { _, _ in [0, 0, 255, 255] })
        let black = Image(bitmap: try Bitmap.make(20, 10) { _, _ in [0, 0, 0, 255] })
        let marked = { (path: String) in
            let image = try result(path, black, watermark: mark)
            return (0..<10).map { y in (0..<20).map { x in position(image, x, y)[0] > 100 ? "#" : "." }.joined() }
        }
        func rows(_ rows: Range<Int>, _ columns: Range<Int>) -> [String] {
            (0..<10).map { y in
                (0..<20).map { x in rows.contains(y) && columns.contains(x) ? "#" : "." }.joined()
            }
        }
        #expect(try marked("wm:1:nowe") == rows(0..<2, 0..<4))
        #expect(try marked("wm:1:soea:1:2") == rows(6..<8, 15..<19))
        #expect(try marked("wm:1:nowe:-2") == rows(0..<2, 0..<2))
        #expect(try marked("wm:1") == rows(4..<6, 8..<12))
        #expect(
            try marked("wm:1:no:0:0:0.5") == rows(0..<5, 5..<15) || marked("wm:1:no:0:0:0.5") == rows(0..<5, 6..<16)
        )
        #expect(try marked("wm:1:re") == rows(0..<10, 0..<20))
        #expect(try marked("wm:0") == rows(0..<0, 0..<0))
        // Gaps between the copies.
        let spaced = try marked("wm:1:re:4:3")
        for (y, row) in spaced.enumerated() {
            #expect(row == ([0, 4, 5, 9].contains(y) ? "####....####....####" : "...................."))
        }
        let half = try result("wm:0.5:nowe", black, watermark: mark)
        #expect(half.bitmap.premultipliedRGBA(x: 0, y: 0) == [128, 0, 0, 255])
    }

    @Test func `thumbor's fill, rotation and watermark`() throws {
        var configuration = ThumborGrammar.Configuration()
        configuration.allowsUnsafe = true
        let result = { (path: String, image: Image, watermark: Image?) in
            let request = try ThumborGrammar(configuration).request(forPath: "/unsafe/\(path)/http://a.test/b.jpg")
            let source = VariantLayout.Source(PixelSize(image.pixelWidth, image.pixelHeight))
            return try ResultTransformer(request.options, source: source, watermark: watermark).transform(image)
        }
        let filled = try result("fit-in/40x30/filters:fill(00ff00)", source(40, 20), nil)
        #expect(filled.pixelWidth == 40 && filled.pixelHeight == 30)
        #expect(filled.bitmap.premultipliedRGBA(x: 0, y: 0) == [0, 255, 0, 255])
        let blurred = try result("fit-in/40x30/filters:fill(blur)", source(40, 20), nil)
        #expect(position(blurred, 0, 0)[0] > 10)
        let mean = try result("fit-in/40x30/filters:fill(auto)", source(40, 20), nil)
        #expect(position(mean, 0, 0) == [20, 10])
        let rotated = try result("filters:rotate(90)", source(40, 20), nil)
        #expect(rotated.pixelWidth == 20 && rotated.pixelHeight == 40)
        #expect(position(rotated, 0, 0) == [39, 0])
        let grey = try result("filters:grayscale():brightness(100)", source(4, 4), nil)
        #expect(grey.bitmap.premultipliedRGBA(x: 1, y: 1) == [255, 255, 255, 255])
        let mark = Image(bitmap: try Bitmap.make(4, 2) { _, _ in [255, 255, 255, 255] })
        let marked = try result("filters:watermark(a,-3,repeat,0)", source(40, 20), mark)
        #expect(
            (0..<20).allSatisfy { position(marked, 33, $0) == [255, 255] && position(marked, 37, $0) == [37, $0] }
        )
    }

    @Test func `Random requests keep to their layout`() throws {
        var generator = SeededGenerator(seed: 35)
        let parts = [
            "rs:fill:13:9", "rs:force:30:5", "rs:auto:10:10", "w:7", "h:31", "el:1", "ex:1:soea:1:1", "exar:1",
            "c:0.7:5:sm",
            "c:11:0.5:fp:0.9:0.1", "g:sm", "g:noea:2:2", "dpr:1.7", "z:0.4:2.2", "rot:90", "rot:270", "fl:1:1",
            "pd:1:2:3:4",
            "bl:0.7", "bl:4", "sh:0.8", "pix:3", "bg:fff", "t:5", "t:300", "mw:25", "mrd:20", "wm:0.5:re:1:1:0.2",
            "wm:1:ch", "wm:1:sowe:5:5",
        ]
        let mark = try source(3, 5)
        let small = Image(bitmap: try Bitmap.make(1, 1) { _, _ in [0, 0, 0, 0] })
        let images = [try source(40, 20), try source(5, 37), small]
        for _ in 0..<TestEffort.rounds(400) {
            let path = (0..<Int.random(in: 1...7, using: &generator)).compactMap { _ in
                parts.randomElement(using: &generator)
            }
            guard !path.contains("wm:1:ch"), let image = images.randomElement(using: &generator) else { continue }
            _ = try result(path.joined(separator: "/"), image, watermark: mark)
        }
    }

    @Test func `A result above the limits is an error of the transform`() throws {
        let image = try source(4, 4)
        #expect(throws: WebImageError.self) { try result("w:20000/el:1", image) }
    }
}
