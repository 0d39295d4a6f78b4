import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

/// Rules that hold for every image, tested with many sizes.
@Suite(.tags(.addressSanitizer)) struct TransformPropertyTests {
    private static let sizes = [(1, 1), (1, 9), (9, 1), (2, 3), (3, 2), (4, 4), (5, 17), (31, 6)]

    private static func picture(_ width: Int, _ height: Int, _ format: PixelFormat, seed: UInt64 = 1) throws -> Image {
        var random = SeededGenerator(seed: seed)
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        for y in 0..<height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let alpha = format == .rgb8 ? 255 : UInt8.random(in: 0...255, using: &random)
                for channel in 0..<3 {
                    row[format.bytesPerPixel * x + channel] = .random(in: 0...alpha, using: &random)
                }
                if format == .bgra8Premultiplied { row[4 * x + 3] = alpha }
            }
        }
        return Image(bitmap: bitmap)
    }

    private static func forEachImage(_ body: (Image) throws -> Void) throws {
        for (width, height) in sizes {
            for format in [PixelFormat.rgb8, .bgra8Premultiplied] { try body(picture(width, height, format)) }
        }
    }

    private func isSame(_ one: Image, _ other: Image) -> Bool {
        one.pixelWidth == other.pixelWidth && one.premultipliedPixels == other.premultipliedPixels
    }

    @Test func `Two mirrors, and four quarter turns, change nothing`() throws {
        try Self.forEachImage { image in
            let mirrored = try image.flipped(horizontally: true, vertically: false)
            #expect(isSame(try mirrored.flipped(horizontally: true, vertically: false), image))
            let both = try mirrored.flipped(horizontally: false, vertically: true)
            #expect(isSame(both, try image.rotated(by: .pi)))
            var turned = image
            for _ in 0..<4 { turned = try turned.rotated(by: .pi / 2) }
            #expect(isSame(turned, image))
            #expect(isSame(try image.rotated(by: .pi / 2).rotated(by: -.pi / 2), image))
            #expect(isSame(try image.flipped(horizontally: false, vertically: false), image))
            #expect(isSame(try image.rotated(by: 2 * .pi, fitSize: false), image))
        }
    }

    @Test func `A turn by single precision's right angle is a quarter turn`() throws {
        let image = try Self.picture(31, 6, .rgb8)
        #expect(isSame(try image.rotated(by: Double(Float.pi / 2)), try image.rotated(by: .pi / 2)))
    }

    @Test func `A crop of a crop is one crop`() throws {
        let image = try Self.picture(31, 17, .bgra8Premultiplied)
        let twice = try image.cropped(to: ImageRect(x: 3, y: 2, width: 20, height: 12))
            .cropped(to: ImageRect(x: 4, y: 5, width: 9, height: 6))
        #expect(isSame(twice, try image.cropped(to: ImageRect(x: 7, y: 7, width: 9, height: 6))))
    }

    @Test func `A rotated canvas holds the whole image, to the last bit of its weight`() throws {
        for (width, height) in Self.sizes {
            let image = Image(bitmap: try Self.picture(width, height, .rgb8).bitmap.withAlpha())
            for angle in [0.1, 0.7, 1.2, 2.9, -0.4] {
                let alpha = try image.rotated(by: angle).premultipliedPixels.reduce(0) { $0 + Double($1[3]) / 255 }
                let area = Double(width * height)
                #expect(abs(alpha - area) < 0.02 * (area + 4), "\(width)x\(height) by \(angle): \(alpha)")
            }
        }
    }

    @Test func `An opaque image is rotated like the same image with alpha, however small`() throws {
        for width in 1...8 {
            for height in 1...8 {
                let image = try Self.picture(width, height, .rgb8, seed: UInt64(width * 8 + height))
                let withAlpha = Image(bitmap: try image.bitmap.withAlpha())
                for angle in [0.05, 0.8, 2, -1.3] {
                    #expect(isSame(try image.rotated(by: angle), try withAlpha.rotated(by: angle)))
                }
            }
        }
    }

    @Test func `An image of one colour keeps it through every rotation and blur`() throws {
        let bitmap = try Bitmap.allocate(width: 13, height: 11, pixelFormat: .rgb8)
        for y in 0..<11 {
            for x in 0..<13 {
                for (channel, value) in [UInt8(201), 77, 5].enumerated() {
                    bitmap.mutableRow(y).storeBytes(of: value, toByteOffset: 3 * x + channel, as: UInt8.self)
                }
            }
        }
        let image = Image(bitmap: bitmap)
        for radius in [1, 5, 100, 700, 900, 2000, 5e6] {
            #expect(try image.blurred(radius: radius).premultipliedPixels.allSatisfy { $0 == [201, 77, 5, 255] })
        }
        for angle in [0.2, 1, 3.3] {
            for pixel in try image.rotated(by: angle).premultipliedPixels {
                let alpha = Double(pixel[3]) / 255
                #expect(abs(Double(pixel[0]) - 201 * alpha) <= 1 && abs(Double(pixel[2]) - 5 * alpha) <= 1)
            }
        }
    }

    /// The pixels of one pass over any image by the definition, one box after the other.
    private func boxed(_ pixels: [[UInt8]], _ width: Int, _ height: Int, _ reach: Int) -> [[UInt8]] {
        (0..<width * height).map { index in
            (0..<4).map { channel in
                var sum = 0
                for y in -reach...reach {
                    for x in -reach...reach {
                        let column = min(max(index % width + x, 0), width - 1)
                        let row = min(max(index / width + y, 0), height - 1)
                        sum += Int(pixels[row * width + column][channel])
                    }
                }
                let area = (2 * reach + 1) * (2 * reach + 1)
                return UInt8((sum + area / 2) / area)
            }
        }
    }

    @Test func `A blur matches the definition, for images smaller than the box too`() throws {
        try Self.forEachImage { image in
            for radius in [2.0, 5] {
                let reach = Image.boxReach(radius)
                var expected = image.premultipliedPixels
                for _ in 0..<3 { expected = boxed(expected, image.pixelWidth, image.pixelHeight, reach) }
                let found = try image.blurred(radius: radius).premultipliedPixels
                #expect(found == expected)
            }
        }
    }

    @Test func `The box of a radius has the defined side`() {
        #expect(Image.boxReach(0.1) == 2 && Image.boxReach(2) == 2, "4.26 is 4, made 5")
        #expect(Image.boxReach(3) == 3, "6.14 is 6, made 7")
        #expect(Image.boxReach(50) == 47, "94.5 is 94, made 95")
        #expect(Image.boxReach(1e9) == 1 << 20)
    }

    @Test func `Boxes too big for the quick division are exact as well`() throws {
        // 2895 is the longest side that is divided by multiplying; radii around it.
        for radius in [1537.0, 1540, 1541, 3000] {
            let image = try Self.picture(5, 4, .bgra8Premultiplied)
            let reach = Image.boxReach(radius)
            let blurred = Image(bitmap: try image.bitmap.boxBlurred(reach: reach, passes: 1, within: ImageLimits()))
            #expect(blurred.premultipliedPixels == Self.cornerMean(image, reach), "\(reach)")
        }
    }

    /// One pass by sums of weights: how often each pixel is in a box that is bigger than the image.
    private static func cornerMean(_ image: Image, _ reach: Int) -> [[UInt8]] {
        let (width, height) = (image.pixelWidth, image.pixelHeight)
        func times(_ position: Int, _ count: Int, at center: Int) -> Int {
            if count == 1 { return 2 * reach + 1 }
            if position == 0 { return reach - center + 1 }
            return position == count - 1 ? reach - (count - 1 - center) + 1 : 1
        }
        let pixels = image.premultipliedPixels
        let area = (2 * reach + 1) * (2 * reach + 1)
        return (0..<width * height).map { index in
            (0..<4).map { channel in
                var sum = 0
                for y in 0..<height {
                    for x in 0..<width {
                        sum +=
                            times(x, width, at: index % width) * times(y, height, at: index / width)
                            * Int(pixels[y * width + x][channel])
                    }
                }
                return UInt8((sum + area / 2) / area)
            }
        }
    }

    @Test func `Premultiplied colours never exceed alpha`() throws {
        try Self.forEachImage { image in
            var results = [
                try image.blurred(radius: 2), try image.rotated(by: 0.4), try image.roundedCorner(radius: 3),
                try image.applying(.hueRotation(2)), try image.applying(.opacity(0.3)),
            ]
            for mode in ImageBlendMode.allCases {
                results.append(
                    try image.tinted(with: ImageColor(red: 0.9, green: 0.5, blue: 0, alpha: 0.6), blendMode: mode)
                )
            }
            for (index, result) in results.enumerated() {
                #expect(
                    result.premultipliedPixels.allSatisfy { pixel in pixel.allSatisfy { $0 <= pixel[3] } },
                    "\(index)"
                )
            }
        }
    }

    @Test func `Identity matrices change nothing`() throws {
        let matrices: [ColorMatrix] = [
            .identity, .brightness(1), .contrast(1), .saturation(1), .hueRotation(0), .opacity(1), .sepia(amount: 0),
            .grayscale(amount: 0),
        ]
        try Self.forEachImage { image in
            for matrix in matrices {
                let result = try image.applying(matrix)
                #expect(isSame(result, image))
            }
        }
    }

    @Test func `A matrix after another equals their product`() throws {
        let image = try Self.picture(31, 6, .rgb8)
        let one = try image.applying(.hueRotation(0.3).followed(by: .brightness(0.5)))
        let two = try image.applying(.hueRotation(0.3)).applying(.brightness(0.5))
        // In between the second clamps and rounds.
        let near = zip(one.premultipliedPixels, two.premultipliedPixels).filter { a, b in
            zip(a, b).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
        }
        #expect(near.count > image.pixelWidth * image.pixelHeight / 2)
        #expect(ColorMatrix.inverted.followed(by: .inverted) == .identity)
    }

    @Test func `Rounded corners cover the area outside the circles`() throws {
        let image = try Self.picture(31, 31, .rgb8)
        for radius in [1.0, 4.5, 15.5] {
            let covered = try image.roundedCorner(radius: radius).premultipliedPixels
                .reduce(0) { $0 + Double($1[3]) / 255 }
            #expect(abs(covered - (961 - (4 - Double.pi) * radius * radius)) < 0.15, "\(radius): \(covered)")
        }
        let symmetric = try image.tinted(with: .black).roundedCorner(radius: 7.3)
        #expect(isSame(symmetric, try symmetric.rotated(by: .pi / 2)))
        #expect(isSame(symmetric, try symmetric.flipped(horizontally: true, vertically: false)))
    }
}
