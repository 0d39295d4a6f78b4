import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct ImageColorTests {
    @Test func `The hex form is #aarrggbb, in small letters, rounded`() {
        #expect(ImageColor.clear.hexString == "#00000000")
        #expect(ImageColor.black.hexString == "#ff000000")
        #expect(ImageColor.white.hexString == "#ffffffff")
        #expect(ImageColor(red: 0.5, green: 0.002, blue: 0.0019, alpha: 0.25).hexString == "#40800100")
    }

    @Test func `Colours are parsed with and without alpha and number sign`() {
        #expect(ImageColor(hex: "#80FF0001") == ImageColor(red8: 255, green8: 0, blue8: 1, alpha8: 128))
        #expect(ImageColor(hex: "ff0001") == ImageColor(red8: 255, green8: 0, blue8: 1))
        for wrong in ["", "#", "red", "#12345", "#1234567", "#123456789", "#+12345", "#12345é", "##123456", " 123456"] {
            #expect(ImageColor(hex: wrong) == nil, "\(wrong)")
        }
        for hex in ["#00000000", "#12ab34cd", "#ffffffff"] { #expect(ImageColor(hex: hex)?.hexString == hex) }
    }

    @Test func `Components are clamped`() {
        let color = ImageColor(red: 7, green: -1, blue: .nan, alpha: .infinity)
        #expect([color.red, color.green, color.blue, color.alpha] == [1, 0, 0, 1])
        var changed = ImageColor.black
        changed.red = 300
        changed.alpha = .nan
        #expect(changed.hexString == "#00ff0000")
    }

    // MARK: Sampling

    private func picture(_ format: PixelFormat) throws -> Image {
        let bitmap = try Bitmap.allocate(width: 3, height: 2, pixelFormat: format)
        for y in 0..<2 {
            for x in 0..<3 {
                let blue = UInt8(x * 20 + y * 100)
                let bytes: [UInt8] = format == .rgb8 ? [10, 30, blue] : [UInt8(x * 20), 30, 60, y == 0 ? 120 : 0]
                let stored = format == .rgb8 || y == 0 ? bytes : [0, 0, 0, 0]
                for (index, byte) in stored.enumerated() {
                    bitmap.mutableRow(y).storeBytes(of: byte, toByteOffset: x * stored.count + index, as: UInt8.self)
                }
            }
        }
        return Image(bitmap: bitmap, scale: 2)
    }

    @Test func `Positions of colours are in pixels from the top left`() throws {
        let image = try picture(.rgb8)
        #expect(image.color(at: ImagePoint(x: 0, y: 0)) == ImageColor(red8: 10, green8: 30, blue8: 0))
        #expect(image.color(at: ImagePoint(x: 2, y: 1)) == ImageColor(red8: 10, green8: 30, blue8: 140))
        #expect(image.color(at: ImagePoint(x: 2.9, y: 1.9)) == image.color(at: ImagePoint(x: 2, y: 1)))
    }

    @Test func `Colours are un-premultiplied`() throws {
        let image = try picture(.bgra8Premultiplied)
        let color = try #require(image.color(at: ImagePoint(x: 1, y: 0)))
        #expect(color == ImageColor(red: 0.5, green: 0.25, blue: (20.0 / 255) / (120.0 / 255), alpha: 120.0 / 255))
        #expect(image.color(at: ImagePoint(x: 1, y: 1)) == .clear)
    }

    @Test(arguments: [(-1.0, 0.0), (-0.1, 0), (3, 0), (0, 2), (0, -5), (.nan, 0), (0, .infinity), (1e300, 0)])
    func `There is no colour outside the image`(x: Double, y: Double) throws {
        #expect(try picture(.rgb8).color(at: ImagePoint(x: x, y: y)) == nil)
    }

    @Test func `The colours of a rectangle are returned row by row`() throws {
        let image = try picture(.rgb8)
        let colors = try #require(image.colors(in: ImageRect(x: 1, y: 0, width: 2, height: 2)))
        #expect(colors.map(\.blue8) == [20, 40, 120, 140])
        #expect(image.colors(in: ImageRect(x: 0, y: 0, width: 3, height: 2))?.count == 6)
        #expect(image.colors(in: ImageRect(x: 0.5, y: 0.2, width: 2, height: 1))?.map(\.blue8) == [0, 20])
    }

    @Test(arguments: [
        (0.0, 0.0, 0.0, 1.0), (0, 0, 1, -1), (-1, 0, 2, 1), (2, 0, 2, 1), (0, 1, 1, 2), (0, 0, 4, 1), (0.2, 0, 0.5, 1),
        (.nan, 0, 1, 1), (0, 0, .infinity, 1), (1e300, 0, 1, 1),
    ])
    func `A rectangle that is empty or not inside the image has no colours`(
        x: Double,
        y: Double,
        width: Double,
        height: Double
    ) throws {
        #expect(try picture(.rgb8).colors(in: ImageRect(x: x, y: y, width: width, height: height)) == nil)
    }

    @Test func `Colours of a part of a bigger bitmap are those of the part`() throws {
        let part = Image(bitmap: try picture(.rgb8).bitmap.part(x: 1, y: 1, width: 2, height: 1))
        #expect(part.colors(in: ImageRect(x: 0, y: 0, width: 2, height: 1))?.map(\.blue8) == [120, 140])
    }

    @Test func `Half floats have colours, too`() throws {
        let image = try picture(.bgra8Premultiplied)
        let wide = Image(bitmap: try image.bitmap.converted(to: .rgbaHalfPremultiplied))
        for x in 0..<3 {
            let (one, other) = (image.color(at: ImagePoint(x: x, y: 0)), wide.color(at: ImagePoint(x: x, y: 0)))
            let (eight, half) = (try #require(one), try #require(other))
            for component in [\ImageColor.red, \.green, \.blue, \.alpha] {
                #expect(abs(eight[keyPath: component] - half[keyPath: component]) < 1e-3)
            }
        }
        #expect(wide.color(at: ImagePoint(x: 1, y: 1)) == .clear && wide.color(at: ImagePoint(x: 3, y: 0)) == nil)
    }
}
