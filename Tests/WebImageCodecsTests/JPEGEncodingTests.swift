import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCodecs

@Suite(.tags(.addressSanitizer)) struct JPEGEncodingTests {
    private let coder = JPEGCoder()

    private func encode(
        _ bitmap: Bitmap,
        orientation: ImageOrientation = .up,
        change: (inout ImageEncodeOptions) -> Void = { _ in }
    ) throws -> Data {
        var options = ImageEncodeOptions()
        change(&options)
        return try coder.encode(Image(bitmap: bitmap, orientation: orientation), to: .jpeg, options: options)
    }

    private func solid(_ bytes: [UInt8], _ width: Int, _ height: Int, _ format: PixelFormat) throws -> Bitmap {
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        for y in 0..<height {
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width { for (index, byte) in bytes.enumerated() { row[x * bytes.count + index] = byte } }
        }
        return bitmap
    }

    private func photo() throws -> Image { try coder.decode(Fixtures.data("JPEG/photo.jpg"), options: .init()) }

    /// The pixels of encoded data. The decoder is the one that other tests compare with Pillow's, to the last bit.
    private func decoded(_ data: Data) throws -> PortableAnymap {
        let bitmap = try coder.decode(data, options: .init()).bitmap
        let samples = (0..<bitmap.height).flatMap { y in
            (0..<bitmap.width).flatMap { bitmap.premultipliedRGBA(x: $0, y: y).dropLast() }
        }
        return PortableAnymap(width: bitmap.width, height: bitmap.height, channels: 3, samples: samples)
    }

    @Test func `An encoded image looks like the original`() throws {
        let image = try photo()
        for format in PixelFormat.allCases {
            var options = ImageDecodeOptions()
            options.pixelFormat = format
            let bitmap = try coder.decode(Fixtures.data("JPEG/photo.jpg"), options: options).bitmap
            let difference = PixelDifference(image.bitmap, try decoded(encode(bitmap)))
            #expect(difference.psnr > 45, "\(difference)")
        }
    }

    @Test func `Quality decides bytes and chroma resolution`() throws {
        let bitmap = try photo().bitmap
        let sizes = try [0.0, 0.3, 0.6, 0.89, 0.9, 1.0].map { quality in
            try encode(bitmap) { $0.compressionQuality = quality }.count
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count)
        let half = try JPEGHeader(encode(bitmap) { $0.compressionQuality = 0.89 })
        #expect(half.frame.sampling.map(\.horizontal) == [2, 1, 1])
        let full = try JPEGHeader(encode(bitmap) { $0.compressionQuality = 0.9 })
        #expect(full.frame.sampling.map(\.horizontal) == [1, 1, 1])
    }

    @Test func `Absurd qualities are clamped`() throws {
        #expect(JPEGCoder.quality(.nan) == 100)
        #expect(JPEGCoder.quality(.infinity) == 100)
        #expect(JPEGCoder.quality(-.infinity) == 1)
        #expect(JPEGCoder.quality(0) == 1)
        #expect(JPEGCoder.quality(0.75) == 75)
        #expect(JPEGCoder.quality(7) == 100)
    }

    @Test func `Transparent pixels are composed with the background, white by default`() throws {
        let clear = try solid([0, 0, 0, 0], 16, 16, .bgra8Premultiplied)
        let white = try decoded(encode(clear))
        #expect(white.samples.allSatisfy { $0 == 255 })
        let colored = try decoded(encode(clear) { $0.backgroundColor = ImageColor(red8: 200, green8: 100, blue8: 50) })
        for (channel, wanted) in [200, 100, 50].enumerated() {
            #expect(abs(Int(colored.samples[channel]) - wanted) <= 2)
        }
        // Half transparent red (premultiplied) on white.
        let half = try decoded(encode(solid([0, 0, 128, 128], 16, 16, .bgra8Premultiplied)))
        for (channel, wanted) in [255, 127, 127].enumerated() { #expect(abs(Int(half.samples[channel]) - wanted) <= 2) }
    }

    @Test func `The maximum size scales down, keeps the ratio, and never enlarges`() throws {
        let bitmap = try photo().bitmap
        let small = try decoded(encode(bitmap) { $0.maxPixelSize = ImageSize(width: 100, height: 100) })
        #expect(small.width == 100 && small.height == 75)
        let difference = PixelDifference(
            try Resampler.resize(bitmap, width: 100, height: 75),
            try Fixtures.pixels("JPEG/photo-100x75.ppm")
        )
        #expect(difference.psnr > 45, "\(difference)")
        let same = try decoded(encode(bitmap) { $0.maxPixelSize = ImageSize(width: 1000, height: 1000) })
        #expect(same.width == 480 && same.height == 360)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `The orientation of the image is applied`(_ orientation: ImageOrientation) throws {
        // Stored like orientation-1, to be shown like orientation-N.
        let stored = try coder.decode(Fixtures.data("JPEG/orientation-1.jpg"), options: .init()).bitmap
        let shown = try Fixtures.pixels("JPEG/orientation-\(orientation.rawValue).ppm")
        let encoded = try encode(stored, orientation: orientation)
        #expect(try JPEGHeader(encoded).orientation == .up)
        let pixels = try decoded(encoded)
        let turned = try stored.upright(from: orientation)
        #expect(PixelDifference(turned, shown).maximum == 0)
        #expect(PixelDifference(turned, pixels).psnr > 40)
        let small = try decoded(
            encode(stored, orientation: orientation) { $0.maxPixelSize = ImageSize(width: 30, height: 45) }
        )
        #expect(small.width == (orientation.swapsSides ? 30 : 30) && small.height == (orientation.swapsSides ? 41 : 22))
    }

    @Test func `A side that JPEG cannot store is a limit error`() throws {
        let long = try solid([1, 2, 3], 65_501, 1, .rgb8)
        #expect(throws: WebImageError.limitExceeded("JPEG side length", allowed: 65_500, required: 65_501)) {
            try encode(long)
        }
        #expect(try decoded(encode(solid([1, 2, 3], 65_500, 1, .rgb8))).width == 65_500)
    }

    @Test func `Other formats are refused`() throws {
        let image = Image(bitmap: try solid([1, 2, 3], 1, 1, .rgb8))
        #expect(!coder.canEncode(to: .png) && coder.canEncode(to: .jpeg))
        #expect(throws: WebImageError(.unsupportedFormat, "")) { try coder.encode(image, to: .png, options: .init()) }
        #expect(try ImageCodersManager().encode(image, to: .undefined, options: .init()).starts(with: [0xFF, 0xD8]))
    }
}
