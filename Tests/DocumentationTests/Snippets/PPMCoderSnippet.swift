import FoundationEssentials
import WebImage

// snippet: portable pixmaps
extension ImageFormat {
    static let ppm = ImageFormat(rawValue: 1_000)
}

struct PPMCoder: ImageCoder {
    func canDecode(_ data: Data) -> Bool { data.starts(with: Data("P6".utf8)) }

    func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let (width, height, _) = try header(of: data)
        try limits.check(width: width, height: height)
        return ImageProperties(format: .ppm, width: width, height: height)
    }

    func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let (width, height, start) = try header(of: data)
        try options.limits.check(width: width, height: height)
        let byteCount = width * height * 3
        guard data.endIndex - start >= byteCount else {
            throw WebImageError(.badImageData, "the pixels end too early")
        }
        let pixels = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        let buffer = UnsafeMutableRawBufferPointer(start: pixels, count: byteCount)
        data.copyBytes(to: buffer, from: start..<start + byteCount)
        let bitmap = Bitmap(
            width: width,
            height: height,
            bytesPerRow: width * 3,
            pixelFormat: .rgb8,
            storage: PixelStorage(adopting: pixels, byteCount: byteCount) { base, _ in base.deallocate() }
        )
        var metadata = ImageMetadata()
        metadata.format = .ppm
        metadata.sourceWidth = width
        metadata.sourceHeight = height
        let image = Image(bitmap: bitmap, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
        guard let box = options.thumbnailPixelSize, box.isUsable else { return image }
        let ratio = min(box.width / Double(width), box.height / Double(height))
        guard ratio < 1 else { return image }
        metadata.isThumbnail = true
        let size = ImageSize(width: image.size.width * ratio, height: image.size.height * ratio)
        return try ResizingTransformer(size: size, scaleMode: .fill).transform(image).with(metadata: metadata)
    }

    func canEncode(to format: ImageFormat) -> Bool { format == .ppm }

    func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        let bitmap = image.bitmap
        guard bitmap.pixelFormat == .rgb8 else { throw WebImageError(.encodingFailed, "a PPM has no alpha") }
        var data = Data("P6\n\(bitmap.width) \(bitmap.height)\n255\n".utf8)
        bitmap.withUnsafeBytes { bytes in
            for row in 0..<bitmap.height {
                let start = row * bitmap.bytesPerRow
                data.append(contentsOf: bytes[start..<start + bitmap.width * 3])
            }
        }
        return data
    }

    private func header(of data: Data) throws(WebImageError) -> (width: Int, height: Int, start: Int) {
        let fields = data.prefix(64).split(maxSplits: 4) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        let numbers = fields.dropFirst().prefix(3).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard fields.count == 5, numbers.count == 3, numbers[2] == 255 else {
            throw WebImageError(.badImageData, "not a PPM header with 8 bits per component")
        }
        return (numbers[0], numbers[1], fields[3].endIndex + 1)
    }
}
// end
