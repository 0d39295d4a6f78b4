import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

@testable import WebImageModel

/// The cost estimates of transformers; `MemoryNeedTests` compares them with the memory used.
@Suite(.tags(.addressSanitizer)) struct TransformMemoryNeedTests {
    private let input = ImageExtent(width: 300, height: 200)

    /// A transformer without an estimate.
    private struct Silent: ImageTransformer {
        let transformerKey = "Silent"
        func transform(_ image: Image) throws(WebImageError) -> Image { image }
    }

    @Test func `A transformer without an estimate counts as a copy of the image's size`() {
        let need = Silent().memoryNeed(of: input)
        #expect(need.output == input && need.totalByteCount == 2 * input.byteCount)
        let opaque = Silent().memoryNeed(of: ImageExtent(width: 300, height: 200, bytesPerPixel: 3))
        #expect(opaque.output.bytesPerPixel == 4)
    }

    @Test func `Enlarging needs the size of the result`() {
        let bigger = ResizingTransformer(size: ImageSize(width: 3000, height: 2000), scaleMode: .fill)
        let need = bigger.memoryNeed(of: input)
        #expect(need.output.width == 3000 && need.output.height == 2000)
        #expect(need.totalByteCount > 24_000_000 && need.totalByteCount < 30_000_000)
        var dense = input
        dense.scale = 2
        #expect(bigger.memoryNeed(of: dense).output.width == 6000)
    }

    @Test func `A result refused by the limits needs nothing`() {
        var small = input
        small.limits.maximumPixelCount = 1_000_000
        let bigger = ResizingTransformer(size: ImageSize(width: 3000, height: 2000), scaleMode: .fill)
        #expect(bigger.memoryNeed(of: small).totalByteCount == 0)
        small.limits.maximumPixelCount = 70_000
        #expect(RotationTransformer(angle: 0.7).memoryNeed(of: small).output.byteCount == 0)
        #expect(RotationTransformer(angle: .nan).memoryNeed(of: input).totalByteCount == 0)
        let outside = CroppingTransformer(rect: ImageRect(x: 400, y: 0, width: 10, height: 10))
        #expect(outside.memoryNeed(of: input).totalByteCount == 0)
        let none = ResizingTransformer(size: ImageSize(width: 0, height: 9), scaleMode: .fill)
        #expect(none.memoryNeed(of: input).totalByteCount == 0)
    }

    @Test func `A chain needs the maximum of its steps, including the previous step's result`() {
        let big = ResizingTransformer(size: ImageSize(width: 3000, height: 2000), scaleMode: .fill)
        let crop = CroppingTransformer(rect: ImageRect(x: 0, y: 0, width: 10, height: 10))
        let flip = FlippingTransformer(horizontal: true, vertical: false)
        let chain = PipelineTransformer([big, flip, crop]).memoryNeed(of: input)
        #expect(chain.output.width == 10 && chain.output.height == 10)
        let made = big.memoryNeed(of: input).output.byteCount
        #expect(chain.totalByteCount == 2 * made)
        #expect(PipelineTransformer([]).memoryNeed(of: input).output == input)
    }

    @Test func `Impossible numbers never trap`() {
        let numbers = [Int.min, -1, 0, 1, 7, 1 << 24, 1 << 40, .max]
        let transformers: [any ImageTransformer] = [
            ResizingTransformer(size: ImageSize(width: 1e300, height: 1e-300), scaleMode: .aspectFit),
            ResizingTransformer(size: ImageSize(width: 70, height: 70), scaleMode: .aspectFill),
            CroppingTransformer(rect: ImageRect(x: -1e300, y: 0, width: .infinity, height: 1e300)),
            RotationTransformer(angle: 0.5), RotationTransformer(angle: .pi / 2, fitSize: false),
            RotationTransformer(angle: 1e300),
            BlurTransformer(radius: 1e300), BlurTransformer(radius: -.infinity), BlurTransformer(radius: .nan),
            TintTransformer(color: .black), RoundCornerTransformer(radius: 3), Silent(),
            ColorMatrixTransformer(matrix: .sepia), FlippingTransformer(horizontal: true, vertical: true),
        ]
        for side in numbers {
            for bytes in numbers {
                for scale in [Double.nan, -1, 1e300, .infinity] {
                    var extent = ImageExtent(width: side, height: bytes, bytesPerPixel: bytes, scale: scale)
                    extent.limits.maximumSideLength = .max
                    extent.limits.maximumPixelCount = .max
                    extent.limits.maximumDecodedByteCount = .max
                    #expect(extent.byteCount >= 0)
                    for transformer in transformers {
                        let need = transformer.memoryNeed(of: extent)
                        #expect(need.totalByteCount >= 0 && need.totalByteCount <= 1 << 50)
                    }
                }
            }
        }
        let need = TransformMemoryNeed(output: input, workingByteCount: -1)
        #expect(need.workingByteCount == 0)
        #expect(TransformMemoryNeed(output: input, workingByteCount: .max).totalByteCount < 1 << 50)
    }

    @Test func `The extent of a decode is that of its image`() throws {
        let data = Data(PNGBomb.make(width: 300, height: 200))
        for (size, wide) in [(nil, false), (ImageSize(width: 90, height: 90), false), (nil, true)] {
            var options = ImageDecodeOptions()
            options.thumbnailPixelSize = size
            if wide { options.pixelFormat = .rgbaHalfPremultiplied }
            options.scaleFactor = 2
            let need = try PNGCoder().memoryNeed(of: data, options: options)
            let extent = try PNGCoder().extent(of: data, options: options, need: need)
            let image = try PNGCoder().decode(data, options: options)
            #expect(extent.width == image.pixelWidth && extent.height == image.pixelHeight)
            #expect(extent.bytesPerPixel >= image.bitmap.pixelFormat.bytesPerPixel && extent.scale == image.scale)
            #expect(extent.byteCount >= image.pixelByteCount)
        }
    }

    @Test func `A document drawn in another size than its own counts as drawn`() throws {
        let data = Data(PNGBomb.make(width: 300, height: 200))
        var options = ImageDecodeOptions()
        let drawn = DecodeMemoryNeed(outputByteCount: AssemblyNeed.block(600 * 400 * 4), workingByteCount: 0)
        for limit in [50_000_000, 100] {
            // A document that names more pixels than allowed can be drawn small.
            options.limits.maximumPixelCount = limit
            let coder = SizeCoder(width: 300, height: 200)
            let extent = try coder.extent(of: data, options: options, need: drawn)
            #expect((595...612).contains(extent.width) && (395...408).contains(extent.height))
        }
        let tiny = DecodeMemoryNeed(outputByteCount: 30 * 20 * 3, workingByteCount: 0)
        let extent = try SizeCoder(width: 300, height: 200).extent(of: data, options: options, need: tiny)
        #expect(extent.width < 60 && extent.height < 40 && extent.byteCount >= tiny.outputByteCount)
        let alpha = DecodeMemoryNeed(outputByteCount: 300 * 200 * 4, workingByteCount: 0)
        options.limits = ImageLimits()
        let opaque = try SizeCoder(width: 300, height: 200).extent(of: data, options: options, need: alpha)
        #expect(opaque.width == 300 && opaque.height == 200 && opaque.bytesPerPixel == 4)
    }

    /// Returns a size, whatever the limits are.
    private struct SizeCoder: ImageCoder {
        let width: Int
        let height: Int
        func canDecode(_ data: Data) -> Bool { true }
        func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
            ImageProperties(format: .svg, width: width, height: height)
        }
        func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
            throw WebImageError(.unsupportedFormat, "")
        }
        func canEncode(to format: ImageFormat) -> Bool { false }
        func encode(
            _ image: Image,
            to format: ImageFormat,
            options: ImageEncodeOptions
        ) throws(WebImageError) -> Data {
            throw WebImageError(.unsupportedFormat, "")
        }
    }

    @Test func `Buffered rows for a filter obey the limits`() throws {
        let line = Image(bitmap: try Bitmap.allocate(width: 65_535, height: 1, pixelFormat: .rgb8))
        var options = ImageDecodeOptions()
        options.limits.maximumDecodedByteCount = 7 << 20
        let strict = Image(bitmap: line.bitmap, decodeOptions: options)
        let square = ResizingTransformer(size: ImageSize(width: 1500, height: 1500), scaleMode: .fill)
        let error = #expect(throws: WebImageError.self) { try square.transform(strict) }
        #expect(error?.code == .limitExceeded && error?.limit?.name == "maximumDecodedByteCount")
        #expect(square.memoryNeed(of: ImageExtent(strict)).totalByteCount == 0)
        // Within the limits it returns its cost.
        #expect(square.memoryNeed(of: ImageExtent(line)).totalByteCount > 14 << 20)
        let wide = ResizingTransformer(size: ImageSize(width: 1500, height: 10), scaleMode: .fill)
        #expect(try wide.transform(strict).pixelHeight == 10)
    }

    @Test(arguments: [ImageOrientation.up, .right], [nil, ImageSize(width: 90, height: 90)] as [ImageSize?])
    func `Processing a loader's image takes what its copies take`(orientation: ImageOrientation, size: ImageSize?)
        throws
    {
        for from in [PixelFormat.rgb8, .bgra8Premultiplied, .rgbaHalfPremultiplied] {
            for target in [nil, PixelFormat.bgra8Premultiplied, .rgbaHalfPremultiplied] {
                let bitmap = try Bitmap.allocate(width: 300, height: 200, pixelFormat: from)
                let image = Image(bitmap: bitmap, orientation: orientation)
                var options = ImageDecodeOptions()
                options.thumbnailPixelSize = size
                if let target { options.pixelFormat = target }
                let need = image.reductionNeed(by: options)
                let made = try image.reduced(by: options)
                if made.bitmap.storage === bitmap.storage {
                    #expect(need.totalByteCount == 0)
                } else {
                    #expect(need.output.width == made.pixelWidth && need.output.height == made.pixelHeight)
                    #expect(need.output.byteCount >= made.pixelByteCount)
                }
            }
        }
        var refused = ImageDecodeOptions()
        refused.limits.maximumPixelCount = 1
        let image = Image(bitmap: try Bitmap.allocate(width: 300, height: 200, pixelFormat: .rgb8), orientation: .left)
        #expect(image.reductionNeed(by: refused).totalByteCount == 0)
    }

    @Test func `Rotated images count upright, with the copy that rotation takes`() throws {
        let bitmap = try Bitmap.allocate(width: 300, height: 200, pixelFormat: .rgb8)
        let extent = ImageExtent(Image(bitmap: bitmap, orientation: .right))
        #expect(extent.width == 200 && extent.height == 300 && !extent.isUpright && extent.bytesPerPixel == 3)
        let need = FlippingTransformer(horizontal: true, vertical: false).memoryNeed(of: extent)
        #expect(need.output.isUpright && need.workingByteCount == extent.byteCount)
    }
}
