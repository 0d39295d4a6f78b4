import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// Pixels of transformers, compared with those that other programs made of the same images.
@Suite(.tags(.addressSanitizer)) struct TransformPixelTests {
    static func image(_ name: String, scale: Double = 1) throws -> Image {
        Image(bitmap: try Fixtures.pixels("Transforms/\(name).pam").bitmap(), scale: scale)
    }

    private func difference(_ transformer: any ImageTransformer, _ source: String, _ expected: String) throws
        -> PixelDifference
    {
        let result = try transformer.transform(Self.image(source))
        return try PixelDifference(result.bitmap, Fixtures.pixels("Transforms/\(source)-\(expected).pam"))
    }

    private static let moves: [(String, any ImageTransformer)] = [
        ("flip-h", FlippingTransformer(horizontal: true, vertical: false)),
        ("flip-v", FlippingTransformer(horizontal: false, vertical: true)),
        ("turn-180", FlippingTransformer(horizontal: true, vertical: true)),
        ("turn-90", RotationTransformer(angle: .pi / 2)),
        ("turn-180", RotationTransformer(angle: .pi)),
        ("turn-180", RotationTransformer(angle: -.pi, fitSize: false)),
        ("turn-270", RotationTransformer(angle: 3 * .pi / 2)),
        ("turn-270", RotationTransformer(angle: -.pi / 2)),
        ("turn-90", RotationTransformer(angle: 200.5 * .pi)),
        ("turn-90-cut", RotationTransformer(angle: .pi / 2, fitSize: false)),
        ("crop", CroppingTransformer(rect: ImageRect(x: 7, y: 5, width: 23, height: 17))),
    ]

    @Test(arguments: ["photo", "clear"])
    func `Mirrors, quarter turns and crops are exact`(source: String) throws {
        for (name, transformer) in Self.moves {
            #expect(try difference(transformer, source, name).maximum == 0, "\(name)")
        }
    }

    @Test(arguments: ["photo", "clear"], [(17, 29), (60, 20), (100, 90), (13, 13)])
    func `Cover shows the exact middle, undistorted, wherever its edges lie`(source: String, size: (Int, Int)) throws {
        let (width, height) = size
        let transformer = ResizingTransformer(
            size: ImageSize(width: Double(width), height: Double(height)),
            scaleMode: .aspectFill
        )
        let found = try difference(transformer, source, "cover-\(width)x\(height)")
        #expect(found.maximum <= 2 && found.mean < 0.1, "\(found)")
    }

    @Test func `Without scaling, cover keeps pixels unchanged`() throws {
        let image = try Self.image("photo")
        let result = try image.resized(to: ImageSize(width: 33, height: 30), scaleMode: .aspectFill)
        let cut = try image.cropped(to: ImageRect(x: 3, y: 0, width: 33, height: 30))
        #expect(result.bitmap.pixels == cut.bitmap.pixels)
        let half = Image(bitmap: try image.bitmap.converted(to: .rgbaHalfPremultiplied))
        let wide = try half.resized(to: ImageSize(width: 60, height: 20), scaleMode: .aspectFill).bitmap
        let narrow = try image.resized(to: ImageSize(width: 60, height: 20), scaleMode: .aspectFill).bitmap
        #expect(try wide.converted(to: .bgra8Premultiplied).pixels.count == narrow.pixels.count)
    }

    @Test(arguments: ["photo", "clear"], [2, 3, 7.3, 50])
    func `A blur is exactly three passes of a box`(source: String, radius: Double) throws {
        let name = radius == 7.3 ? "7.3" : "\(Int(radius))"
        #expect(try difference(BlurTransformer(radius: radius), source, "blur-\(name)").maximum == 0)
    }

    @Test func `A blur of less than two pixels equals one of two`() throws {
        for radius in [0.001, 1, 1.99] {
            #expect(try difference(BlurTransformer(radius: radius), "photo", "blur-2").maximum == 0)
        }
    }

    static let matrices: [(String, ColorMatrix)] = [
        ("grayscale", .grayscale), ("sepia", .sepia), ("sepia-half", .sepia(amount: 0.5)),
        ("brightness", .brightness(1.3)), ("contrast", .contrast(1.7)), ("saturation", .saturation(2)),
        ("hue", .hueRotation(1)), ("inverted", .inverted), ("opacity", .opacity(0.4)),
        (
            "odd",
            ColorMatrix(
                red: .init(0.2, 0.5, -0.3, 0.1, offset: 0.2),
                green: .init(-1, 2, 0.5, offset: 0.1),
                blue: .init(0.3, 0.3, 0.3, -0.2, offset: 0.3),
                alpha: .init(0.3, 0.1, 0.2, 0.7, offset: -0.2)
            )
        ),
    ]

    @Test(arguments: matrices.map(\.0))
    func `A colour matrix gives the defined values, rounded`(name: String) throws {
        let matrix = try #require(Self.matrices.first { $0.0 == name }).1
        for source in ["photo", "clear"] {
            let found = try difference(ColorMatrixTransformer(matrix: matrix), source, "matrix-\(name)")
            #expect(found.maximum == 0, "\(source): \(found)")
        }
    }

    @Test(arguments: ["photo", "clear"])
    func `Any angle: bicubic samples, smooth edges`(source: String) throws {
        for (name, angle, fits) in [("0.3", 0.3, true), ("-1.1-cut", -1.1, false), ("2.5", 2.5, true)] {
            let found = try difference(RotationTransformer(angle: angle, fitSize: fits), source, "rotate-\(name)")
            #expect(found.maximum <= 2 && found.mean < 0.1, "\(name): \(found)")
        }
    }

    /// The position of the edges is the library's own; inside, another program's bicubic filter must agree.
    @Test func `Any angle: the inside equals libvips'`() throws {
        let result = try Self.image("photo").rotated(by: 0.3, fitSize: false)
        let expected = try Fixtures.pixels("Transforms/photo-vips-0.3.pam")
        var (worst, sum, count) = (0, 0, 0)
        for y in 0..<result.pixelHeight {
            for x in 0..<result.pixelWidth {
                let found = result.bitmap.premultipliedRGBA(x: x, y: y)
                guard found[3] == 255 else { continue }
                for (one, other) in zip(found.prefix(3), expected.rgba(x: x, y: y)) {
                    worst = max(worst, abs(Int(one) - Int(other)))
                    sum += abs(Int(one) - Int(other))
                    count += 1
                }
            }
        }
        #expect(count > 2000)
        #expect(worst <= 3 && Double(sum) / Double(count) < 0.75, "\(worst) \(Double(sum) / Double(count))")
    }

    private static let rounded: [(String, Double, RoundCornerTransformer)] = [
        ("photo-round-9", 1, RoundCornerTransformer(radius: 9)),
        ("photo-round-1000", 1, RoundCornerTransformer(radius: 1000)),
        ("photo-round-diagonal", 1, RoundCornerTransformer(radius: 7.5, corners: [.topLeft, .bottomRight])),
        (
            "photo-round-line", 1,
            RoundCornerTransformer(
                radius: 8,
                borderWidth: 3,
                borderColor: ImageColor(red: 0.1, green: 0.8, blue: 0.3)
            )
        ),
        (
            "photo-round-thin", 1,
            RoundCornerTransformer(
                radius: 6.3,
                corners: [.topRight, .bottomLeft],
                borderWidth: 1.4,
                borderColor: ImageColor(red: 1, green: 0, blue: 0, alpha: 0.5)
            )
        ),
        (
            "photo-round-retina", 2,
            RoundCornerTransformer(radius: 5, borderWidth: 2, borderColor: ImageColor(red: 0, green: 0, blue: 1))
        ),
        (
            "clear-round-square", 1,
            RoundCornerTransformer(
                radius: 0,
                borderWidth: 2.5,
                borderColor: ImageColor(red: 0.1, green: 0.1, blue: 0.1)
            )
        ),
        ("clear-round-9", 1, RoundCornerTransformer(radius: 9, borderWidth: 2)),
    ]

    @Test(arguments: rounded.indices)
    func `Rounded corners and borders are where cairo draws them`(index: Int) throws {
        let (name, scale, transformer) = Self.rounded[index]
        let result = try transformer.transform(Self.image(name.hasPrefix("photo") ? "photo" : "clear", scale: scale))
        let found = try PixelDifference(result.bitmap, Fixtures.pixels("Transforms/\(name).pam"))
        #expect(found.maximum <= 2 && found.mean < 0.2, "\(name): \(found)")
        #expect(result.scale == scale && result.hasAlpha)
    }

    private static let fills: [(String, ImageColor)] = [
        ("solid", ImageColor(red: 0.2, green: 0.55, blue: 0.9)),
        ("veil", ImageColor(red: 0.9, green: 0.35, blue: 0.1, alpha: 0.45)),
    ]

    @Test(arguments: ImageBlendMode.allCases)
    func `A tint in each mode equals cairo's`(mode: ImageBlendMode) throws {
        for source in ["small", "small-clear"] {
            for (label, color) in Self.fills {
                let image = try Self.image(source)
                let all = try Fixtures.pixels("Transforms/\(source)-blend-\(label).pam")
                let expected = all.rows(mode.rawValue * image.pixelHeight..<(mode.rawValue + 1) * image.pixelHeight)
                let result = try image.tinted(with: color, blendMode: mode)
                let found = PixelDifference(result.bitmap, expected)
                #expect(found.maximum <= 2 && found.mean < 0.5, "\(source) \(label): \(found)")
            }
        }
    }
}
