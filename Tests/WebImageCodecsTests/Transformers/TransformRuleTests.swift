import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// The arguments that effects refuse, the cases without an effect, and the units.
@Suite(.tags(.addressSanitizer)) struct TransformRuleTests {
    private func photo(scale: Double = 1) throws -> Image { try TransformPixelTests.image("photo", scale: scale) }
    private func clear() throws -> Image { try TransformPixelTests.image("clear") }

    private func code(_ body: () throws -> Image) -> WebImageError.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? WebImageError)?.code }
    }

    @Test(arguments: [(0.0, 5.0), (5, 0), (-3, 5), (.nan, 5), (5, .infinity)])
    func `An empty rectangle is an error`(width: Double, height: Double) throws {
        let image = try photo()
        #expect(code { try image.cropped(to: ImageRect(x: 0, y: 0, width: width, height: height)) } == .transformFailed)
    }

    @Test(arguments: [(40.0, 0.0), (0, 30), (-10, 0), (0, -20), (1e300, 1), (.nan, 0)])
    func `A rectangle outside the image is an error`(x: Double, y: Double) throws {
        let image = try photo()
        #expect(code { try image.cropped(to: ImageRect(x: x, y: y, width: 10, height: 10)) } == .transformFailed)
    }

    @Test func `A rectangle that exceeds the image is cut at its edges`() throws {
        let image = try photo()
        let corner = try image.cropped(to: ImageRect(x: -5, y: -5, width: 15, height: 12))
        #expect([corner.pixelWidth, corner.pixelHeight] == [10, 7])
        #expect(corner.bitmap.premultipliedRGBA(x: 9, y: 6) == image.bitmap.premultipliedRGBA(x: 9, y: 6))
        let all = try image.cropped(to: ImageRect(x: -1e9, y: -1e9, width: 3e9, height: 3e9))
        #expect(all.premultipliedPixels == image.premultipliedPixels)
    }

    @Test func `Pixels partly covered by a rectangle are taken whole`() throws {
        let result = try photo().cropped(to: ImageRect(x: 2.7, y: 3.2, width: 2, height: 0.5))
        #expect([result.pixelWidth, result.pixelHeight] == [3, 1], "2...4 and 3")
        let exact = try photo(scale: 3).cropped(to: ImageRect(x: 0.1, y: 0.1, width: 1.1, height: 0.9))
        #expect([exact.pixelWidth, exact.pixelHeight] == [4, 3], "0.3...3.6 and 0.3...3.0")
    }

    @Test func `A part has its own memory`() throws {
        let image = try photo()
        for part in [
            try image.cropped(to: ImageRect(x: 1, y: 1, width: 2, height: 2)),
            try image.resized(to: ImageSize(width: 4, height: 30), scaleMode: .aspectFill),
        ] {
            #expect(part.bitmap.storage !== image.bitmap.storage)
            #expect(part.memoryCost == part.bitmap.bytesPerRow * part.pixelHeight)
        }
    }

    @Test func `NaN and infinity are errors`() throws {
        let image = try photo()
        for bad in [Double.nan, .infinity, -.infinity] {
            #expect(code { try image.blurred(radius: bad) } == .transformFailed)
            #expect(code { try image.rotated(by: bad) } == .transformFailed)
            #expect(code { try image.roundedCorner(radius: bad) } == .transformFailed)
            #expect(code { try image.roundedCorner(radius: 1, borderWidth: bad) } == .transformFailed)
            #expect(code { try image.applying(.brightness(bad)) } == .transformFailed)
        }
    }

    @Test func `Enormous numbers are handled`() throws {
        let image = try photo()
        #expect(try image.blurred(radius: 1e300).pixelWidth == 40)
        #expect(try image.rotated(by: 1e300, fitSize: false).pixelWidth == 40)
        #expect(try image.roundedCorner(radius: 1e300).pixelWidth == 40)
        #expect(try image.roundedCorner(radius: 5, borderWidth: 1e300).pixelWidth == 40)
        #expect(try image.applying(.contrast(1e300)).pixelWidth == 40)
        #expect(code { try image.resized(to: ImageSize(width: 1e300, height: 1), scaleMode: .fill) } == .limitExceeded)
    }

    @Test func `A blur or tint without effect returns the same image`() throws {
        let image = try photo()
        #expect(try image.blurred(radius: 0) === image && image.blurred(radius: -3) === image)
        #expect(try image.tinted(with: .clear) === image)
        #expect(try image.tinted(with: ImageColor(red: 1, green: 1, blue: 1, alpha: 0), blendMode: .copy) === image)
        #expect(try TintTransformer(color: .clear).transform(image) === image)
    }

    @Test func `Opaque images stay opaque if the result is`() throws {
        let image = try photo()
        let opaque: [Image] = [
            try image.cropped(to: ImageRect(x: 0, y: 0, width: 9, height: 9)),
            try image.flipped(horizontally: true, vertically: false),
            try image.rotated(by: .pi / 2), try image.rotated(by: .pi, fitSize: false),
            try image.blurred(radius: 3), try image.applying(.sepia), try image.roundedCorner(radius: 0),
            try image.roundedCorner(radius: 9, corners: []),
            try image.tinted(with: .black), try image.tinted(with: .black, blendMode: .hue),
            try image.tinted(with: ImageColor(red: 1, green: 0, blue: 0, alpha: 0.3), blendMode: .multiply),
            try image.tinted(with: ImageColor(red: 1, green: 0, blue: 0, alpha: 0.3), blendMode: .sourceAtop),
        ]
        for (index, result) in opaque.enumerated() { #expect(!result.hasAlpha, "\(index)") }
        let others: [Image] = [
            try image.rotated(by: 0.1), try image.rotated(by: .pi / 2, fitSize: false),
            try image.roundedCorner(radius: 3), try image.applying(.opacity(0.9)),
            try image.tinted(with: ImageColor(red: 1, green: 0, blue: 0, alpha: 0.3)),
            try image.tinted(with: .black, blendMode: .clear),
        ]
        for (index, result) in others.enumerated() { #expect(result.hasAlpha, "\(index)") }
    }

    @Test func `Points are pixels times the scale, which is kept`() throws {
        let image = try photo(scale: 2)
        let cropped = try image.cropped(to: ImageRect(x: 3, y: 2, width: 5, height: 4))
        #expect([cropped.pixelWidth, cropped.pixelHeight] == [10, 8] && cropped.scale == 2)
        #expect(cropped.bitmap.premultipliedRGBA(x: 0, y: 0) == image.bitmap.premultipliedRGBA(x: 6, y: 4))
        let blurred = try image.blurred(radius: 3)
        #expect(blurred.premultipliedPixels == (try photo().blurred(radius: 6)).premultipliedPixels)
        #expect(blurred.scale == 2)
        let rounded = try image.roundedCorner(radius: 4.5)
        #expect(rounded.premultipliedPixels == (try photo().roundedCorner(radius: 9)).premultipliedPixels)
        #expect(try image.rotated(by: 1).scale == 2 && image.tinted(with: .black).scale == 2)
    }

    @Test func `Effects apply to the upright image`() throws {
        let pixels = try photo()
        for orientation in ImageOrientation.allCases {
            let stored = Image(bitmap: pixels.bitmap, orientation: orientation)
            let upright = Image(bitmap: try pixels.bitmap.upright(from: orientation))
            let results = [stored, upright].map { image in
                try? image.cropped(to: ImageRect(x: 2, y: 1, width: 20, height: 10)).rotated(by: 0.5)
                    .flipped(horizontally: true, vertically: false)
            }
            #expect(results[0]?.orientation == .up)
            #expect(results[0]?.premultipliedPixels == results[1]?.premultipliedPixels)
        }
    }

    @Test func `Half floats are kept if pixels only move, and become 8 bits for other effects`() throws {
        for picture in [try photo(), try clear()] {
            let wide = Image(bitmap: try picture.bitmap.converted(to: .rgbaHalfPremultiplied))
            // A round trip is not always the same byte.
            let source = Image(bitmap: try wide.bitmap.with8Bits(of: wide.metadata))
            let moves: [(Image) throws -> Image] = [
                { try $0.cropped(to: ImageRect(x: 3, y: 2, width: 9, height: 8)) },
                { try $0.flipped(horizontally: true, vertically: false) }, { try $0.rotated(by: .pi / 2) },
                { try $0.rotated(by: .pi / 2, fitSize: false) },
            ]
            for (index, move) in moves.enumerated() {
                let result = try move(wide)
                #expect(result.bitmap.pixelFormat == .rgbaHalfPremultiplied, "\(index)")
                let narrow = Image(bitmap: try result.bitmap.converted(to: .bgra8Premultiplied))
                let expected = try move(source)
                #expect(narrow.premultipliedPixels == expected.premultipliedPixels, "\(index)")
            }
            let fitted = try wide.resized(to: ImageSize(width: 30, height: 30), scaleMode: .aspectFit)
            #expect(fitted.bitmap.pixelFormat == .rgbaHalfPremultiplied)
            for effect in [
                { try $0.blurred(radius: 3) }, { try $0.applying(.sepia) }, { try $0.rotated(by: 0.5) },
                { try $0.roundedCorner(radius: 7) }, { try $0.tinted(with: .black, blendMode: .overlay) },
            ] as [(Image) throws -> Image] {
                let result = try effect(wide)
                let expected = try effect(source)
                #expect(result.premultipliedPixels == expected.premultipliedPixels)
            }
        }
    }

    @Test func `A result of 8 bits is not marked as high dynamic range`() throws {
        var metadata = ImageMetadata()
        metadata.isHighDynamicRange = true
        let wide = Image(bitmap: try photo().bitmap.converted(to: .rgbaHalfPremultiplied), metadata: metadata)
        #expect(try wide.flipped(horizontally: true, vertically: true).metadata.isHighDynamicRange)
        let blurred = try wide.blurred(radius: 3)
        #expect(!blurred.metadata.isHighDynamicRange && blurred.bitmap.pixelFormat == .rgb8)
    }

    @Test func `A border of half the shorter side leaves nothing`() throws {
        for width in [15.0, 16, 400] {
            let result = try photo().roundedCorner(radius: 4, borderWidth: width, borderColor: .black)
            #expect(result.premultipliedPixels.allSatisfy { $0 == [0, 0, 0, 0] })
        }
        let left = try photo().roundedCorner(radius: 4, borderWidth: 14.5)
        #expect(left.premultipliedPixels.contains { $0[3] > 0 })
        #expect(
            try photo().roundedCorner(radius: -3, borderWidth: -1).premultipliedPixels == photo().premultipliedPixels
        )
    }

    @Test func `A transparent border draws nothing`() throws {
        let without = try clear().roundedCorner(radius: 6, borderWidth: 3)
        let with = try clear().roundedCorner(radius: 6, borderWidth: 3, borderColor: .clear)
        #expect(without.premultipliedPixels == with.premultipliedPixels)
    }

    @Test func `Results obey the limits of the decode`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumSideLength = 45
        let image = Image(bitmap: try photo().bitmap, decodeOptions: options)
        #expect(code { try image.rotated(by: 0.5) } == .limitExceeded)
        #expect(code { try image.rotated(by: 0.5, fitSize: false) } == nil)
        #expect(code { try image.resized(to: ImageSize(width: 46, height: 2), scaleMode: .fill) } == .limitExceeded)
        options.limits = ImageLimits()
        options.limits.maximumDecodedByteCount = 4_000
        let small = Image(bitmap: try photo().bitmap, decodeOptions: options)
        for result in [
            code { try small.blurred(radius: 1).rotated(by: 1) },
            code { try small.roundedCorner(radius: 9) }, code { try small.applying(.opacity(0.5)) },
            code { try small.resized(to: ImageSize(width: 40, height: 26), scaleMode: .aspectFit) },
        ] { #expect(result == .limitExceeded) }
    }

    @Test func `The image's metadata is kept, unless the transformer says otherwise`() throws {
        var metadata = ImageMetadata()
        metadata.format = .webp
        metadata.frameCount = 7
        metadata.loopCount = 3
        metadata.isVector = true
        let image = Image(bitmap: try photo().bitmap, scale: 2, metadata: metadata, extendedData: Data([1]))
        let all = Self.transformers
        for transformer in all {
            #expect(transformer.preservesImageMetadata)
            for chained in [transformer, PipelineTransformer([transformer])] as [any ImageTransformer] {
                let result = try chained.transform(image)
                #expect(result.format == .webp && result.extendedData == Data([1]) && result.metadata.isTransformed)
                #expect(!result.metadata.isAnimated && result.metadata.loopCount == 0 && !result.metadata.isVector)
            }
        }
        for transformer in Self.transformersWithoutMetadata {
            for chained in [transformer, PipelineTransformer([transformer])] as [any ImageTransformer] {
                let result = try chained.transform(image)
                #expect(result.format == .undefined && result.extendedData == nil && result.scale == 2)
            }
        }
        #expect(!PipelineTransformer(all).preservesImageMetadata)
    }

    @Test func `A result clamped to sRGB is not marked as extended`() throws {
        var metadata = ImageMetadata()
        metadata.isHighDynamicRange = true
        let image = Image(bitmap: try photo().bitmap.converted(to: .rgbaHalfPremultiplied), metadata: metadata)
        let chain = PipelineTransformer([FlippingTransformer(horizontal: true, vertical: false)])
        #expect(try chain.transform(image).metadata.isHighDynamicRange, "pixels that only move are unchanged")
        let blurred = try PipelineTransformer([BlurTransformer(radius: 3)]).transform(image)
        #expect(blurred.bitmap.pixelFormat != .rgbaHalfPremultiplied && !blurred.metadata.isHighDynamicRange)
    }

    @Test func `A step that keeps no metadata keeps the limits`() throws {
        var options = ImageDecodeOptions()
        options.limits.maximumPixelCount = 10_000
        options.scaleFactor = 2
        let image = Image(bitmap: try photo().bitmap, decodeOptions: options)
        var blur = BlurTransformer(radius: 2)
        blur.preservesImageMetadata = false
        let chain = PipelineTransformer([
            blur, ResizingTransformer(size: ImageSize(width: 1000, height: 1000), scaleMode: .fill),
        ])
        #expect(code { try chain.transform(image) } == .limitExceeded)
        #expect(try blur.transform(image).decodeOptions?.scaleFactor == 1)
    }

    @Test func `An error of one step ends the chain`() throws {
        let image = try photo()
        let chain = PipelineTransformer([
            BlurTransformer(radius: 1), CroppingTransformer(rect: ImageRect(x: 900, y: 0, width: 1, height: 1)),
            FilterTransformer(name: "never") { image in
                Issue.record("called after an error")
                return image
            },
        ])
        #expect(code { try chain.transform(image) } == .transformFailed)
    }

    @Test func `A closure gets the image, and its error is reported`() throws {
        let image = try photo()
        let filter = FilterTransformer(name: "twice") { (image) throws(WebImageError) in
            guard image.pixelWidth > 30 else { throw WebImageError(.outOfMemory, "too small") }
            return try image.resized(to: ImageSize(width: 20, height: 10), scaleMode: .fill)
        }
        #expect(try filter.transform(image).pixelWidth == 20)
        #expect(code { try PipelineTransformer([filter, filter]).transform(image) } == .outOfMemory)
    }

    private static let transformers: [any ImageTransformer] = [
        ResizingTransformer(size: ImageSize(width: 5, height: 5), scaleMode: .fill),
        CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 3, height: 3)),
        FlippingTransformer(horizontal: false, vertical: false), RotationTransformer(angle: 1),
        RoundCornerTransformer(radius: 2), TintTransformer(color: .black), BlurTransformer(radius: 2),
        ColorMatrixTransformer(matrix: .sepia),
    ]

    private static let transformersWithoutMetadata: [any ImageTransformer] = {
        var resizing = ResizingTransformer(size: ImageSize(width: 5, height: 5), scaleMode: .fill)
        var cropping = CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 3, height: 3))
        var flipping = FlippingTransformer(horizontal: false, vertical: false)
        var rotation = RotationTransformer(angle: 1)
        var corners = RoundCornerTransformer(radius: 2)
        var tint = TintTransformer(color: .black)
        var blur = BlurTransformer(radius: 2)
        var matrix = ColorMatrixTransformer(matrix: .sepia)
        resizing.preservesImageMetadata = false
        cropping.preservesImageMetadata = false
        flipping.preservesImageMetadata = false
        rotation.preservesImageMetadata = false
        corners.preservesImageMetadata = false
        tint.preservesImageMetadata = false
        blur.preservesImageMetadata = false
        matrix.preservesImageMetadata = false
        return [resizing, cropping, flipping, rotation, corners, tint, blur, matrix]
    }()
}
