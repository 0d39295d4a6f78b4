import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImageCodecs

/// Every encode option on every format that supports it.
@Suite(.tags(.addressSanitizer)) struct EncodeOptionTests {
    private let manager = ImageCodersManager()
    static let stills: [ImageFormat] = [.jpeg, .png, .webp, .gif, .bmp]
    static let animations: [ImageFormat] = [.png, .webp, .gif]

    private func photo() throws -> Image {
        try manager.decode(Fixtures.data("PNG/photo-rgba.png"), options: ImageDecodeOptions())
    }

    private func moving() throws -> any AnimatedImageProvider {
        try manager.animation(of: Fixtures.data("Animation/pillow.gif"), options: ImageDecodeOptions())
    }

    private func encode(
        _ image: Image,
        _ format: ImageFormat,
        _ change: (inout ImageEncodeOptions) -> Void
    ) throws -> Data {
        var options = ImageEncodeOptions()
        change(&options)
        return try manager.encode(image, to: format, options: options)
    }

    private func encode(
        _ animation: any AnimatedImageProvider,
        _ format: ImageFormat,
        _ change: (inout ImageEncodeOptions) -> Void
    ) throws -> Data {
        var options = ImageEncodeOptions()
        change(&options)
        return try manager.encode(animation, to: format, options: options)
    }

    @Test(arguments: stills)
    func `Quality changes only the bytes of lossy formats`(format: ImageFormat) throws {
        let (best, worst) = (
            try encode(photo(), format) { _ in }, try encode(photo(), format) { $0.compressionQuality = 0 }
        )
        let isLossy = format == .jpeg || format == .webp
        #expect(isLossy ? worst.count < best.count / 2 : worst == best)
    }

    @Test func `Quality changes only lossy animations of WebP`() throws {
        for format in Self.animations {
            let worst = try encode(moving(), format) { $0.compressionQuality = 0 }
            let best = try encode(moving(), format) { _ in }
            #expect(format == .webp ? worst.count < best.count : worst == best)
        }
        let worst = try encode(moving(), .webp) {
            $0.compressionQuality = 0
            $0.isLossless = true
        }
        #expect(try worst == encode(moving(), .webp) { $0.isLossless = true })
    }

    @Test(arguments: stills)
    func `A maximum size holds`(format: ImageFormat) throws {
        let data = try encode(photo(), format) { $0.maxPixelSize = ImageSize(width: 60, height: 60) }
        let properties = try manager.properties(of: data, limits: ImageLimits())
        #expect((properties.width, properties.height) == (60, 45))
    }

    @Test func `The background shows only in JPEG, and at the edges in GIF`() throws {
        // Half transparent red, clear, opaque green, a little red.
        let pixels: [[UInt8]] = [[0, 0, 128, 128], [0, 0, 0, 0], [0, 255, 0, 255], [0, 0, 100, 100]]
        let image = Image(bitmap: try .make(64, 16) { x, _ in pixels[x / 16] })
        func colors(_ format: ImageFormat, _ background: ImageColor?) throws -> [[UInt8]] {
            let data = try encode(image, format) {
                $0.backgroundColor = background
                $0.isLossless = true
            }
            let copy = try manager.decode(data, options: ImageDecodeOptions())
            return (0..<4).map { copy.bitmap.premultipliedRGBA(x: $0 * 16 + 8, y: 8) }
        }
        let blue = ImageColor(red: 0, green: 0, blue: 1)
        for format in [ImageFormat.png, .webp, .bmp] {
            for color in [nil, blue] {
                #expect(
                    try colors(format, color) == [
                        [128, 0, 0, 128], [0, 0, 0, 0], [0, 255, 0, 255], [100, 0, 0, 100],
                    ]
                )
            }
        }
        #expect(try colors(.gif, nil) == [[255, 0, 0, 255], [0, 0, 0, 0], [0, 255, 0, 255], [0, 0, 0, 0]])
        #expect(try colors(.gif, blue) == [[128, 0, 127, 255], [0, 0, 0, 0], [0, 255, 0, 255], [0, 0, 0, 0]])
        let onBlue: [[Int]] = [[128, 0, 127], [0, 0, 255], [0, 255, 0], [100, 0, 155]]
        for (found, wanted) in zip(try colors(.jpeg, blue), onBlue) {
            #expect(zip(found, wanted).allSatisfy { abs(Int($0) - $1) <= 3 }, "\(found) for \(wanted)")
        }
        #expect(try colors(.jpeg, nil)[1] == [255, 255, 255, 255])
    }

    @Test(arguments: stills)
    func `A file size limit holds with the best quality, or is an error`(format: ImageFormat) throws {
        let best = try encode(photo(), format) { _ in }
        let limit = best.count * 2 / 3
        if format == .png || format == .bmp {
            let error = #expect(throws: WebImageError.self) { try encode(photo(), format) { $0.maxFileSize = limit } }
            #expect(error?.limit?.name == "maxFileSize" && error?.limit?.required == Int64(best.count))
        } else {
            let data = try encode(photo(), format) { $0.maxFileSize = limit }
            #expect(data.count <= limit && data.count > limit * 2 / 3, "\(data.count) of \(limit)")
            _ = try manager.decode(data, options: ImageDecodeOptions())
        }
        #expect(try encode(photo(), format) { $0.maxFileSize = best.count } == best)
        let error = #expect(throws: WebImageError.self) { try encode(photo(), format) { $0.maxFileSize = 20 } }
        #expect(error?.code == .limitExceeded && error?.limit?.allowed == 20)
        #expect((error?.limit?.required ?? 0) > 20)
    }

    @Test(arguments: animations)
    func `A file size limit holds for animations`(format: ImageFormat) throws {
        let best = try encode(moving(), format) { _ in }
        let limit = best.count * 2 / 3
        if format == .png {
            let error = #expect(throws: WebImageError.self) { try encode(moving(), format) { $0.maxFileSize = limit } }
            #expect(error?.limit?.name == "maxFileSize")
        } else {
            let data = try encode(moving(), format) { $0.maxFileSize = limit }
            #expect(data.count <= limit)
            #expect(try manager.properties(of: data, limits: ImageLimits()).frameCount == 6)
        }
        #expect(throws: WebImageError.self) { try encode(moving(), format) { $0.maxFileSize = 100 } }
    }

    @Test func `Lossless WebP above the limit is an error`() throws {
        let error = #expect(throws: WebImageError.self) {
            try encode(photo(), .webp) {
                $0.maxFileSize = 5000
                $0.isLossless = true
            }
        }
        #expect(error?.limit?.name == "maxFileSize")
    }

    @Test(arguments: stills)
    func `The first frame of a still image is the whole image`(format: ImageFormat) throws {
        #expect(try encode(photo(), format) { $0.encodeFirstFrameOnly = true } == encode(photo(), format) { _ in })
    }

    @Test(arguments: stills)
    func `Only JPEG embeds a thumbnail`(format: ImageFormat) throws {
        let image = try large()
        let plain = try encode(image, format) { $0.compressionQuality = 0.5 }
        let data = try encode(image, format) {
            $0.compressionQuality = 0.5
            $0.encodeEmbedThumbnail = true
        }
        #expect((data == plain) == (format != .jpeg))
        let whole = try manager.decode(data, options: ImageDecodeOptions())
        #expect(try whole.bitmap.pixels == manager.decode(plain, options: ImageDecodeOptions()).bitmap.pixels)
    }

    private func large() throws -> Image {
        Image(bitmap: try .make(400, 300) { x, y in [UInt8(x / 2), UInt8(y / 2), UInt8((x + y) / 4), 255] })
    }

    @Test func `A decoder does not use an embedded thumbnail as the scaled image`() throws {
        let plain = try encode(large(), .jpeg) { _ in }
        var data = try encode(large(), .jpeg) { $0.encodeEmbedThumbnail = true }
        // Replaced by one that shows something else.
        let other = try encode(Image(bitmap: .make(160, 120) { _, _ in [0, 0, 255, 255] }), .jpeg) { _ in }
        let start = try #require(data.ranges(of: Data([0xFF, 0xD8, 0xFF])).dropFirst().first).lowerBound
        let end = try #require(data[start...].firstRange(of: Data([0xFF, 0xD9]))).upperBound
        try #require(other.count <= end - start)
        data.replaceSubrange(start..<start + other.count, with: other)
        var options = ImageDecodeOptions()
        for side in [40.0, 120, 160] {
            options.thumbnailPixelSize = ImageSize(width: side, height: side)
            let (found, wanted) = (
                try manager.decode(data, options: options), try manager.decode(plain, options: options)
            )
            #expect(found.metadata.isThumbnail && found.bitmap.pixels == wanted.bitmap.pixels)
        }
    }

    @Test func `The thumbnail is the image made small, upright`() throws {
        let image = Image(bitmap: try large().bitmap, orientation: .right)
        let data = try encode(image, .jpeg) { $0.encodeEmbedThumbnail = true }
        let properties = try manager.properties(of: data, limits: ImageLimits())
        #expect((properties.width, properties.height) == (300, 400) && properties.orientation == .up)
        let second = try #require(data.ranges(of: Data([0xFF, 0xD8, 0xFF])).dropFirst().first)
        let small = try manager.decode(Data(data[second.lowerBound...]), options: ImageDecodeOptions())
        #expect((small.pixelWidth, small.pixelHeight) == (120, 160))
        let whole = try manager.decode(data, options: ImageDecodeOptions())
        for (x, y) in [(10, 10), (100, 20), (60, 150)] {
            let (found, wanted) = (
                small.bitmap.premultipliedRGBA(x: x, y: y),
                whole.bitmap.premultipliedRGBA(x: x * 300 / 120, y: y * 400 / 160)
            )
            #expect(zip(found, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 6 }, "\(found) \(wanted)")
        }
        // The directory that exiftool reads: a JPEG of so many bytes there.
        let block = try #require(data.firstRange(of: Data("Exif\0\0".utf8))).upperBound
        let end = try #require(data[second.lowerBound...].firstRange(of: Data([0xFF, 0xD9]))).upperBound
        func number(_ offset: Int) -> Int { data[block + offset..<block + offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        #expect(block + number(26 + 2 + 4 * 12 + 8) == second.lowerBound)
        #expect(number(26 + 2 + 5 * 12 + 8) == end - second.lowerBound)
    }

    @Test func `A small image has no thumbnail, and a limit counts its bytes`() throws {
        let small = try manager.decode(Fixtures.data("PNG/photo-rgb.png"), options: ImageDecodeOptions())
        #expect(try encode(small, .jpeg) { $0.encodeEmbedThumbnail = true } == encode(small, .jpeg) { _ in })
        let limited = try encode(large(), .jpeg) {
            $0.encodeEmbedThumbnail = true
            $0.maxFileSize = 6000
        }
        #expect(limited.count <= 6000 && limited.ranges(of: Data([0xFF, 0xD8, 0xFF])).count == 2)
    }

    @Test(arguments: stills)
    func `The orientation is applied to the pixels, and none is written`(format: ImageFormat) throws {
        let turned = Image(bitmap: try large().bitmap, orientation: .leftMirrored)
        let data = try encode(turned, format) { $0.compressionQuality = 0.9 }
        let properties = try manager.properties(of: data, limits: ImageLimits())
        #expect((properties.width, properties.height) == (300, 400) && properties.orientation == .up)
    }
}
