import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageAVIF
@testable import WebImageHEIF
@testable import WebImageJPEGXL

/// High bit depth and high dynamic range, against the definition as numpy computes it.
@Suite(.tags(.addressSanitizer)) struct HDRTests {
    private static let manager = ImageCodersManager(coders: [PNGCoder(), AVIFCoder(), HEIFCoder(), JPEGXLCoder()])
    private static let files = [
        "pq-bt2020.avif", "pq-p3-alpha.avif", "hlg-bt2020.avif", "sdr-10bit.avif", "sdr-p3-10bit.avif", "pq-jxl.jxl",
        "hlg-jxl.jxl", "linear-jxl.jxl", "pq-jxl-lossy.jxl", "pq-heic.heic", "pq-png.png", "png16-rgb.png",
        "png16-rgba.png", "png16-gray.png",
    ]

    private static func stem(_ file: String) -> String { String(file.prefix { $0 != "." }) }

    private static func isHDR(_ file: String) -> Bool { file.hasPrefix("pq") || file.hasPrefix("hlg") }

    private func decode(_ file: String, _ options: ImageDecodeOptions = .init()) throws -> Image {
        try Self.manager.decode(Fixtures.data("HDR/\(file)"), options: options)
    }

    private func wide(_ file: String, _ change: (inout ImageDecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = ImageDecodeOptions()
        options.decodeToHDR = true
        change(&options)
        return try decode(file, options)
    }

    /// Expected half floats, row by row.
    private func halves(_ file: String) throws -> [[Float]] {
        let bytes = [UInt8](try Fixtures.data("HDR/\(Self.stem(file)).half"))
        let count = bytes.count / 8
        return try bytes.withUnsafeBytes { raw in
            let storage = try PixelStorage.allocate(byteCount: bytes.count)
            storage.base.copyMemory(from: try #require(raw.baseAddress), byteCount: bytes.count)
            let line = Bitmap(
                width: count,
                height: 1,
                bytesPerRow: bytes.count,
                pixelFormat: .rgbaHalfPremultiplied,
                storage: storage
            )
            return (0..<count).map { line.halfComponents(x: $0, y: 0) }
        }
    }

    private func components(_ bitmap: Bitmap) -> [[Float]] {
        (0..<bitmap.height).flatMap { y in (0..<bitmap.width).map { bitmap.halfComponents(x: $0, y: y) } }
    }

    @Test(arguments: files)
    func `By default high bit depth images are decoded to 8 bits, tone-mapped if their range is high`(file: String)
        throws
    {
        let image = try decode(file)
        let found = try PixelDifference(image.bitmap, Fixtures.pixels("HDR/\(Self.stem(file)).pam"))
        #expect(found.maximum <= 1 && found.mean <= 0.2, "\(file): \(found)")
        #expect(!image.metadata.isHighDynamicRange)
        #expect(image.bitmap.pixelFormat != .rgbaHalfPremultiplied)
    }

    @Test(arguments: files)
    func `Half floats are extended sRGB`(file: String) throws {
        let image = try wide(file)
        #expect(image.bitmap.pixelFormat == .rgbaHalfPremultiplied)
        #expect(image.metadata.isHighDynamicRange == Self.isHDR(file))
        #expect(image.memoryCost == image.bitmap.bytesPerRow * image.pixelHeight)
        let (found, expected) = (components(image.bitmap), try halves(file))
        #expect(found.count == expected.count)
        for (pixel, wanted) in zip(found, expected) {
            for channel in 0..<4 {
                // A step of half floats or two, and the decoders' own rounding on steep curves.
                let tolerance = 0.002 + 0.003 * abs(wanted[channel])
                #expect(abs(pixel[channel] - wanted[channel]) <= tolerance, "\(file): \(pixel) and not \(wanted)")
            }
        }
    }

    @Test(arguments: files)
    func `Headers report bits and range`(file: String) throws {
        let properties = try Self.manager.properties(of: Fixtures.data("HDR/\(file)"), limits: ImageLimits())
        #expect(properties.isHighDynamicRange == Self.isHDR(file))
        #expect(properties.bitsPerComponent > 8)
        switch Self.stem(file) {
        case "pq-bt2020", "pq-jxl", "pq-heic", "pq-png": #expect(properties.colorProfile == "BT.2100 PQ")
        case "hlg-bt2020", "hlg-jxl": #expect(properties.colorProfile == "BT.2100 HLG")
        case "pq-p3-alpha": #expect(properties.colorProfile == "Display P3 PQ")
        case "linear-jxl": #expect(properties.colorProfile == "sRGB linear")
        case "sdr-10bit": #expect(properties.colorProfile == nil)
        default: break
        }
    }

    @Test(arguments: files)
    func `Half floats convert to the 8 bits that are decoded by default`(file: String) throws {
        let image = try wide(file)
        let narrow = try image.bitmap.converted(
            to: .bgra8Premultiplied,
            toneMaps: image.metadata.isHighDynamicRange
        )
        let expected = try decode(file).bitmap
        for (found, wanted) in zip(narrow.components, expected.components) {
            for channel in 0..<4 { #expect(abs(Int(found[channel]) - Int(wanted[channel])) <= 1, "\(file)") }
        }
        // Encoders do the same.
        let png = try PNGCoder().encode(image, to: .png, options: ImageEncodeOptions())
        let copy = try PNGCoder().decode(png, options: ImageDecodeOptions())
        #expect(copy.hasAlpha == (try decode(file).hasAlpha))
        #expect(copy.bitmap.components.map { $0[0] } == narrow.components.map { $0[0] })
        _ = try JPEGCoder().encode(image, to: .jpeg, options: ImageEncodeOptions())
        _ = try WebPCoder().encode(image, to: .webp, options: ImageEncodeOptions())
        // Also those of animations.
        let frames = try #require(ImageFrameSequence(frames: [ImageFrame(image: image, duration: 1)]))
        var encodable = EncodableFrames(frames, options: ImageEncodeOptions())
        #expect(try encodable.frame(at: 0).components.map { $0[0] } == narrow.components.map { $0[0] })
        let gif = try GIFCoder().encode(image, to: .gif, options: ImageEncodeOptions())
        let shown = try GIFCoder().decode(gif, options: ImageDecodeOptions())
        #expect([shown.pixelWidth, shown.pixelHeight] == [image.pixelWidth, image.pixelHeight])
    }

    @Test func `Thumbnails of half floats match those of 8 bits within their range`() throws {
        for quality in [ImageDecodeOptions.ScalingQuality.high, .fast] {
            let thumbnail = try wide("png16-rgba.png") {
                $0.thumbnailPixelSize = ImageSize(width: 9, height: 9)
                $0.scalingQuality = quality
            }
            #expect([thumbnail.pixelWidth, thumbnail.pixelHeight] == [9, 7] && thumbnail.metadata.isThumbnail)
            var options = ImageDecodeOptions()
            options.thumbnailPixelSize = ImageSize(width: 9, height: 9)
            options.scalingQuality = quality
            let expected = try decode("png16-rgba.png", options)
            let narrow = try thumbnail.bitmap.converted(to: .bgra8Premultiplied)
            for (found, wanted) in zip(narrow.components, expected.bitmap.components) {
                for channel in 0..<4 { #expect(abs(Int(found[channel]) - Int(wanted[channel])) <= 2) }
            }
            // Resizing a decoded image equals decoding it smaller.
            let resized = try Resampler.resize(wide("png16-rgba.png").bitmap, width: 9, height: 7, quality: quality)
            for (found, wanted) in zip(components(resized), components(thumbnail.bitmap)) {
                for channel in 0..<4 { #expect(abs(found[channel] - wanted[channel]) < 0.003) }
            }
        }
    }

    @Test func `A pixel format of 8 bits overrides the request for a high range`() throws {
        let image = try wide("pq-bt2020.avif") { $0.pixelFormat = .bgra8Premultiplied }
        #expect(image.bitmap.pixelFormat == .bgra8Premultiplied && !image.metadata.isHighDynamicRange)
        #expect(try wide("pq-bt2020.avif") { $0.pixelFormat = .rgbaHalfPremultiplied }.metadata.isHighDynamicRange)
    }

    @Test func `The limit of decoded bytes counts eight for a pixel of half floats`() throws {
        let bytes = 24 * 18 * 8
        for limit in [bytes, bytes - 1] {
            let image = try? wide("png16-rgb.png") { $0.limits.maximumDecodedByteCount = limit }
            #expect((image != nil) == (limit == bytes))
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func `Half floats are rotated upright`(orientation: ImageOrientation) throws {
        let image = try wide("png16-rgb.png")
        let turned = try image.bitmap.upright(from: orientation)
        let expected = try image.bitmap.converted(to: .bgra8Premultiplied).upright(from: orientation)
        #expect(try turned.converted(to: .bgra8Premultiplied).components == expected.components)
        // The same when the decoder rotates.
        let rows = FloatRows(image.bitmap)
        var properties = ImageProperties(format: .png, width: image.pixelWidth, height: image.pixelHeight)
        properties.orientation = orientation
        properties.bitsPerComponent = 16
        var options = ImageDecodeOptions()
        options.decodeToHDR = true
        let plan = try DecodePlan.make(for: properties, options: options)
        let decoded = try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        #expect(components(decoded.bitmap) == components(turned))
    }

    @Test func `Transformers keep half floats`() throws {
        let image = try wide("pq-bt2020.avif")
        for mode in ImageScaleMode.allCases {
            let resized = try ResizingTransformer(size: ImageSize(width: 20, height: 20), scaleMode: mode).transform(
                image
            )
            #expect(resized.bitmap.pixelFormat == .rgbaHalfPremultiplied && resized.metadata.isHighDynamicRange)
            #expect([resized.pixelWidth, resized.pixelHeight] == [20, 20])
        }
        #expect(try image.bitmap.withAlpha().pixelFormat == .rgbaHalfPremultiplied)
    }

    @Test func `A ThumbHash of half floats equals that of the 8 bits`() throws {
        for file in ["pq-bt2020.avif", "png16-rgb.png"] {
            #expect(try ThumbHash(wide(file)).hasAlpha == ThumbHash(decode(file)).hasAlpha)
            let (found, wanted) = (try ThumbHash(wide(file)).averageColor, try ThumbHash(decode(file)).averageColor)
            #expect(abs(found.red - wanted.red) < 0.05 && abs(found.blue - wanted.blue) < 0.05)
        }
    }

    @Test func `Half floats reduced without a request for them become 8 bits`() throws {
        let image = try wide("pq-bt2020.avif")
        let reduced = try image.reduced(by: ImageDecodeOptions())
        #expect(reduced.bitmap.pixelFormat == .rgb8 && !reduced.metadata.isHighDynamicRange)
        var options = ImageDecodeOptions()
        options.decodeToHDR = true
        #expect(try image.reduced(by: options).bitmap.pixelFormat == .rgbaHalfPremultiplied)
    }
}

/// Straight floats of an opaque bitmap of half floats.
private final class FloatRows: ScanlineSource {
    let bitmap: Bitmap
    var width: Int { bitmap.width }
    var height: Int { bitmap.height }
    let layout = ScanlineLayout.rgbaFloat
    var colorProfile: Data? { nil }
    private var row = 0

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        for index in 0..<count {
            let floats = (base + index * bytesPerRow).assumingMemoryBound(to: Float.self)
            for x in 0..<width {
                for (channel, value) in bitmap.halfComponents(x: x, y: row).enumerated() {
                    floats[4 * x + channel] = value
                }
            }
            row += 1
        }
    }
}
