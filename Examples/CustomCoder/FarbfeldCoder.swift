import FoundationEssentials
import WebImage

extension ImageFormat {
    /// Formats of your own have numbers from 1000 on.
    static let farbfeld = ImageFormat(rawValue: 1_000)
}

/// Reads and writes farbfeld, <https://tools.suckless.org/farbfeld/>: "farbfeld", width and height as 32-bit numbers, then red, green, blue and
/// alpha of each pixel as 16-bit numbers, not premultiplied, all big-endian.
struct FarbfeldCoder: ImageCoder {
    private static let magic = Data("farbfeld".utf8)
    private static let headerByteCount = 16
    private static let pixelByteCount = 8

    func canDecode(_ data: Data) -> Bool { data.starts(with: Self.magic) }

    // Called before `decode`, and for `webimage identify`-like uses: reads only the header.
    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        guard canDecode(data), data.count >= Self.headerByteCount else {
            throw WebImageError(.badImageData, "not a farbfeld header")
        }
        let numbers = data.dropFirst(Self.magic.count).prefix(8)
        let (width, height) = (Self.number(numbers.prefix(4)), Self.number(numbers.suffix(4)))
        // Before any memory is allocated. It also makes the sizes in bytes below safe from overflow.
        try limits.check(width: width, height: height)
        var properties = ImageProperties(format: .farbfeld, width: width, height: height)
        properties.hasAlpha = true
        return properties
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let properties = try properties(of: data, limits: options.limits)
        let (width, height) = (properties.width, properties.height)
        guard (data.count - Self.headerByteCount) / Self.pixelByteCount >= width * height else {
            throw WebImageError(.badImageData, "the pixels end too early")
        }
        let byteCount = width * height * 4
        guard byteCount <= options.limits.maximumDecodedByteCount else {
            throw .limitExceeded(
                "maximumDecodedByteCount",
                allowed: options.limits.maximumDecodedByteCount,
                required: byteCount
            )
        }
        let base = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        let pixels = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        data.withUnsafeBytes { source in
            for index in 0..<width * height {
                let start = Self.headerByteCount + index * Self.pixelByteCount
                let component = { Int(source[start + 2 * $0]) << 8 | Int(source[start + 2 * $0 + 1]) }
                // The library's pixels are premultiplied, 8 bits, in the order blue, green, red, alpha.
                let alpha = component(3)
                for (place, color) in [2, 1, 0].enumerated() {
                    pixels[4 * index + place] = UInt8((component(color) * alpha / 65_535 + 128) / 257)
                }
                pixels[4 * index + 3] = UInt8((alpha + 128) / 257)
            }
        }
        let bitmap = Bitmap(
            width: width,
            height: height,
            bytesPerRow: 4 * width,
            pixelFormat: .bgra8Premultiplied,
            storage: PixelStorage(adopting: base, byteCount: byteCount) { base, _ in base.deallocate() }
        )
        var metadata = ImageMetadata()
        metadata.format = .farbfeld
        (metadata.sourceWidth, metadata.sourceHeight) = (width, height)
        let image = Image(bitmap: bitmap, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
        return try Self.thumbnail(of: image, options.thumbnailPixelSize)
    }

    /// A coder makes the size that is asked for, and says so in `isThumbnail`: the result is cached as the thumbnail.
    private static func thumbnail(of image: Image, _ box: ImageSize?) throws(WebImageError) -> Image {
        guard let box, box.isUsable else { return image }
        let ratio = min(box.width / Double(image.pixelWidth), box.height / Double(image.pixelHeight))
        guard ratio < 1 else { return image }
        var metadata = image.metadata
        metadata.isThumbnail = true
        let size = ImageSize(width: image.size.width * ratio, height: image.size.height * ratio)
        return try ResizingTransformer(size: size, scaleMode: .fill).transform(image).with(metadata: metadata)
    }

    func canEncode(to format: ImageFormat) -> Bool { format == .farbfeld }

    func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        let bitmap = image.bitmap
        // Where each component lies in a pixel. Images with more than 8 bits exist only if the program asks for them (`decodeToHDR`).
        let order: [Int]
        switch bitmap.pixelFormat {
        case .rgb8: order = [0, 1, 2]
        case .bgra8Premultiplied: order = [2, 1, 0]
        default: throw WebImageError(.encodingFailed, "farbfeld is written from pixels of 8 bits")
        }
        let step = bitmap.pixelFormat.bytesPerPixel
        var data = Self.magic
        data.reserveCapacity(Self.headerByteCount + bitmap.width * bitmap.height * Self.pixelByteCount)
        for side in [bitmap.width, bitmap.height] {
            for shift in [24, 16, 8, 0] { data.append(UInt8(truncatingIfNeeded: side >> shift)) }
        }
        bitmap.withUnsafeBytes { bytes in
            for row in 0..<bitmap.height {
                for column in 0..<bitmap.width {
                    let pixel = row * bitmap.bytesPerRow + column * step
                    let alpha = bitmap.pixelFormat.hasAlpha ? Int(bytes[pixel + 3]) : 255
                    for place in order {
                        let value = alpha == 0 ? 0 : min(Int(bytes[pixel + place]) * 65_535 / alpha, 65_535)
                        data.append(UInt8(value >> 8))
                        data.append(UInt8(value & 255))
                    }
                    // 257 = 65 535 / 255
                    data.append(UInt8(alpha))
                    data.append(UInt8(alpha))
                }
            }
        }
        return data
    }

    private static func number(_ bytes: Data) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
