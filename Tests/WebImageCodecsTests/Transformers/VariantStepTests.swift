import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// The steps of an image server's results, compared with those of other programs.
@Suite(.tags(.addressSanitizer)) struct VariantStepTests {
    private struct Expected: Decodable {
        /// For each framed image: threshold, and left, top, width and height of the part within the border.
        let borders: [[String: [Int]]]
        /// For each scene: width and height of a part, and its left and top.
        let scenes: [[[Int]]]
    }

    private func expected() throws -> Expected {
        try JSONDecoder().decode(Expected.self, from: Fixtures.data("Variants/expected.json"))
    }

    private func image(_ name: String) throws -> Image { Image(bitmap: try Fixtures.pixels("\(name).pam").bitmap()) }

    private func difference(_ image: Image, _ name: String) throws -> PixelDifference {
        try PixelDifference(image.bitmap, Fixtures.pixels("Variants/\(name).pam"))
    }

    @Test(arguments: ["0.5", "1", "2.5"])
    func `Sharpening is nearly that of libvips`(_ sigma: String) throws {
        let found = try difference(
            image("Transforms/photo").sharpened(sigma: #require(Double(sigma))),
            "photo-sharpen-\(sigma)"
        )
        // libvips blurs with whole numbers.
        #expect(found.mean < 1 && found.psnr > 36, "\(found)")
    }

    @Test(arguments: [2, 7, 25, 100])
    func `Squares have the mean colours that libvips computes`(_ side: Int) throws {
        let found = try difference(image("Transforms/photo").pixelated(side: side), "photo-pixelate-\(side)")
        #expect(found.maximum <= 1, "\(found)")
    }

    @Test(arguments: ["0.3", "0.8", "1.9"])
    func `A small blur is a Gaussian`(_ sigma: String) throws {
        let blurred = try image("Transforms/photo").gaussianBlurred(sigma: #require(Double(sigma)))
        let found = try difference(blurred, "photo-gauss-\(sigma)")
        #expect(found.maximum <= 1 && found.mean < 0.01, "\(found)")
    }

    @Test func `A greater blur is that of the transformer`() throws {
        let photo = try image("Transforms/photo")
        let blurred = try photo.blurred(radius: 7.3)
        #expect(try photo.gaussianBlurred(sigma: 7.3).bitmap.pixels == blurred.bitmap.pixels)
        #expect(try photo.gaussianBlurred(sigma: 0).bitmap.pixels == photo.bitmap.pixels)
        #expect(throws: WebImageError.self) { try photo.gaussianBlurred(sigma: .nan) }
        #expect(throws: WebImageError.self) { try photo.sharpened(sigma: .infinity) }
    }

    @Test(arguments: [(5, 3, 1), (-10, -8, 0.5), (25, 20, 0.3)])
    func `An overlay is composited as Pillow does it`(_ x: Int, _ y: Int, _ opacity: Double) throws {
        let number = opacity == 1 ? 0 : opacity == 0.5 ? 1 : 2
        let result = try image("Transforms/photo").drawing(image("Transforms/clear"), x: x, y: y, opacity: opacity)
        #expect(result.bitmap.pixelFormat == .rgb8)
        let found = try difference(result, "photo-over-\(number)")
        #expect(found.maximum <= 2 && found.mean < 0.5, "\(found)")
    }

    @Test func `Copies of an overlay cover the image`() throws {
        let base = Image(bitmap: try Bitmap.make(11, 9) { _, _ in [0, 0, 0, 255] })
        let tile = Image(bitmap: try Bitmap.make(3, 2) { x, y in [UInt8(x * 10), UInt8(y * 10), 7, 255] })
        let both = try base.drawing(tile, x: -4, y: 3, repeatsX: true, repeatsY: true).bitmap
        let across = try base.drawing(tile, x: 5, y: 3, repeatsX: true).bitmap
        let single = try base.drawing(tile, x: 10, y: 8).bitmap
        for y in 0..<9 {
            for x in 0..<11 {
                let pixel = { (left: Int, top: Int) in
                    [7, UInt8((y - top + 18) % 2 * 10), UInt8((x - left + 33) % 3 * 10), 255]
                }
                #expect(both.premultipliedRGBA(x: x, y: y) == pixel(-4, 3))
                #expect(across.premultipliedRGBA(x: x, y: y) == ((3...4).contains(y) ? pixel(5, 3) : [0, 0, 0, 255]))
                #expect(single.premultipliedRGBA(x: x, y: y) == (x == 10 && y == 8 ? pixel(10, 8) : [0, 0, 0, 255]))
            }
        }
        #expect(try base.drawing(tile, x: 99, y: -99).bitmap.pixels == base.bitmap.pixels)
        #expect(try base.drawing(tile, x: 0, y: 0, opacity: 0).bitmap.pixels == base.bitmap.pixels)
    }

    @Test func `A canvas has the image in its place`() throws {
        let clear = try image("Transforms/clear")
        let canvas = try clear.extended(
            toWidth: 50,
            height: 33,
            x: 7,
            y: 2,
            color: ImageColor(red: 1, green: 0, blue: 0)
        )
        #expect(canvas.bitmap.width == 50 && canvas.bitmap.height == 33)
        #expect(try canvas.croppedPixels(x: 7, y: 2, width: 40, height: 30).bitmap.pixels == clear.bitmap.pixels)
        for (x, y) in [(0, 0), (6, 10), (47, 10), (10, 1), (10, 32)] {
            #expect(canvas.bitmap.premultipliedRGBA(x: x, y: y) == [255, 0, 0, 255])
        }
        let opaque = try image("Transforms/photo").extended(toWidth: 41, height: 30, x: 0, y: 0)
        #expect(opaque.bitmap.premultipliedRGBA(x: 40, y: 5) == [0, 0, 0, 0])
        for (width, height, x, y) in [(39, 30, 0, 0), (40, 30, 1, 0), (40, 31, 0, 2), (50, 50, -1, 0)] {
            #expect(throws: WebImageError.self) { try clear.extended(toWidth: width, height: height, x: x, y: y) }
        }
    }

    @Test func `A background stands behind transparent pixels`() throws {
        let bitmap = try Bitmap.make(3, 1) { x, _ in [[0, 0, 0, 0], [0, 0, 128, 128], [10, 20, 30, 255]][x] }
        let flat = try Image(bitmap: bitmap).flattened(onto: ImageColor(red: 0, green: 1, blue: 0)).bitmap
        #expect(flat.pixelFormat == .rgb8)
        #expect(flat.premultipliedRGBA(x: 0, y: 0) == [0, 255, 0, 255])
        #expect(flat.premultipliedRGBA(x: 1, y: 0) == [128, 127, 0, 255])
        #expect(flat.premultipliedRGBA(x: 2, y: 0) == [30, 20, 10, 255])
    }

    @Test func `The mean colour is weighted by alpha`() throws {
        let half = try Bitmap.make(2, 1) { x, _ in x == 0 ? [0, 0, 0, 0] : [0, 100, 200, 255] }
        let mean = try Image(bitmap: half).meanColor()
        #expect(mean == ImageColor(red: 200.0 / 255, green: 100.0 / 255, blue: 0, alpha: 0.5))
        #expect(try Image(bitmap: Bitmap.make(1, 1) { _, _ in [0, 0, 0, 0] }).meanColor() == .clear)
    }

    @Test func `A part between pixels is resampled`() throws {
        let photo = try image("Transforms/photo")
        let whole = ImageRect(x: 0, y: 0, width: 40, height: 30)
        #expect(try photo.resampled(whole, width: 40, height: 30).bitmap.pixels == photo.bitmap.pixels)
        let resized = try photo.resized(to: ImageSize(width: 17, height: 50), scaleMode: .fill)
        #expect(try photo.resampled(whole, width: 17, height: 50).bitmap.pixels == resized.bitmap.pixels)
        let part = try photo.resampled(ImageRect(x: -5, y: 20.5, width: 100, height: 100), width: 9, height: 8)
        #expect(part.bitmap.width == 9 && part.bitmap.height == 8)
        for rect in [ImageRect(x: 40, y: 0, width: 5, height: 5), ImageRect(x: 0, y: 0, width: 0, height: 5)] {
            #expect(throws: WebImageError.self) { try photo.resampled(rect, width: 5, height: 5) }
        }
        #expect(throws: WebImageError.self) { try photo.resampled(whole, width: 1 << 40, height: 5) }
        #expect(throws: WebImageError.self) { try photo.croppedPixels(x: 35, y: 0, width: 6, height: 5) }
    }

    @Test func `Borders are those that libvips finds`() throws {
        for (number, borders) in try expected().borders.enumerated() {
            let framed = try image("Variants/framed-\(number)")
            for (threshold, wanted) in borders {
                let part = try framed.partWithoutBorder(BorderRule(threshold: #require(Double(threshold))))
                #expect(part.map { [$0.x, $0.y, $0.width, $0.height] } == wanted, "\(number), \(threshold)")
            }
        }
    }

    @Test func `Borders of other colours and by distance`() throws {
        let bitmap = try Bitmap.make(20, 10) { x, y in
            (5...8).contains(x) && (2...6).contains(y)
                ? [0, 0, 200, 255] : x == 19 && y == 9 ? [1, 2, 3, 255] : [0, 0, 0, 0]
        }
        let image = Image(bitmap: bitmap)
        let part = { (rule: BorderRule) in
            try image.partWithoutBorder(rule).map { [$0.x, $0.y, $0.width, $0.height] }
        }
        // Transparent pixels count as magenta.
        #expect(try part(BorderRule(color: .given(ImageColor(red: 1, green: 0, blue: 1)))) == [5, 2, 4, 5])
        #expect(try part(BorderRule(threshold: 0, usesDistance: true)) == [5, 2, 15, 8])
        #expect(try part(BorderRule(color: .bottomRight, threshold: 0, usesDistance: true)) == [0, 0, 20, 10])
        #expect(try part(BorderRule(threshold: 1000)) == nil)
    }

    /// libvips' choice is the reference. Our map is finer.
    @Test func `Salient parts overlap those of libvips`() throws {
        var overlaps: [Double] = []
        for (number, parts) in try expected().scenes.enumerated() {
            let scene = try PNGCoder().decode(
                Fixtures.data("Variants/scene-\(number).png"),
                options: ImageDecodeOptions()
            )
            for part in parts {
                let (width, height) = (part[0], part[1])
                let found = try scene.salientPart(width: width, height: height)
                let across = max(width - abs(found.x - part[2]), 0)
                let down = max(height - abs(found.y - part[3]), 0)
                let common = Double(across * down)
                overlaps.append(common / (2 * Double(width * height) - common))
            }
        }
        overlaps.sort()
        #expect(overlaps.count == 60)
        #expect(overlaps[30] >= 0.7, "median \(overlaps[30])")
        #expect(overlaps.reduce(0, +) / 60 >= 0.7, "\(overlaps)")
    }

    @Test func `A salient part lies within the image, whatever its size`() throws {
        let photo = try image("Transforms/photo")
        for (width, height) in [(40, 30), (1, 1), (40, 1), (1, 30), (39, 29)] {
            let (x, y) = try photo.salientPart(width: width, height: height)
            #expect(x >= 0 && y >= 0 && x + width <= 40 && y + height <= 30)
        }
        let tiny = Image(bitmap: try Bitmap.make(1, 1) { _, _ in [0, 0, 0, 0] })
        #expect(try tiny.salientPart(width: 1, height: 1) == (0, 0))
        #expect(throws: WebImageError.self) { try photo.salientPart(width: 41, height: 1) }
        #expect(throws: WebImageError.self) { try photo.salientPart(width: 0, height: 1) }
    }
}
