package import FoundationEssentials
package import WebImageModel

/// A coder of a format made up for tests: the letters "FAKE", then one byte each for width, height, frames and alpha.
///
/// The pixels all have the same value. It counts its calls, and waits in them on request.
package final class FakeCoder: ImageCoder {
    package struct State {
        package var decodes: [ImageDecodeOptions] = []
        package var encodes: [ImageFormat] = []
        package var gate: Latch?
    }

    package let state = Lock(State())
    package let formats: Set<ImageFormat>

    package init(writing formats: Set<ImageFormat> = [.png, .jpeg]) { self.formats = formats }

    package var decodeCount: Int { state.withLock { $0.decodes.count } }
    package var encodeCount: Int { state.withLock { $0.encodes.count } }
    package var lastFormat: ImageFormat? { state.withLock { $0.encodes.last } }
    package var lastOptions: ImageDecodeOptions? { state.withLock { $0.decodes.last } }

    /// Makes every call wait until the latch opens.
    package func hold(_ gate: Latch?) { state.withLock { $0.gate = gate } }

    package static func data(
        width: UInt8 = 4,
        height: UInt8 = 3,
        frames: UInt8 = 1,
        alpha: Bool = false,
        tail: [UInt8] = []
    )
        -> Data
    {
        Data("FAKE".utf8 + [width, height, frames, alpha ? 1 : 0] + tail)
    }

    package static func image(width: Int = 4, height: Int = 3, alpha: Bool = false, format: ImageFormat = .undefined)
        -> Image
    {
        guard
            let bitmap = try? Bitmap.allocate(
                width: width,
                height: height,
                pixelFormat: alpha ? .bgra8Premultiplied : .rgb8
            )
        else { preconditionFailure("no memory for a few pixels") }
        for row in 0..<height {
            bitmap.mutableRow(row).initializeMemory(as: UInt8.self, repeating: 7, count: width * 3)
        }
        var metadata = ImageMetadata()
        metadata.format = format
        metadata.sourceWidth = width
        metadata.sourceHeight = height
        return Image(bitmap: bitmap, metadata: metadata)
    }

    package func canDecode(_ data: Data) -> Bool { data.starts(with: "FAKE".utf8) && data.count >= 8 }

    package func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        guard canDecode(data) else { throw WebImageError(.badImageData, "not a fake picture") }
        return ImageProperties(
            format: .png,
            width: Int(data[data.startIndex + 4]),
            height: Int(data[data.startIndex + 5])
        )
    }

    package func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let gate = state.withLock { state in
            state.decodes.append(options)
            return state.gate
        }
        gate?.wait()
        guard canDecode(data) else { throw WebImageError(.badImageData, "not a fake picture") }
        let header = [UInt8](data.prefix(8))
        var (width, height) = (Int(header[4]), Int(header[5]))
        if let size = options.thumbnailPixelSize, size.isUsable {
            (width, height) = (Int(size.width), Int(size.height))
        }
        if options.scaleDownLimitBytes > 0, width * height * 4 > options.scaleDownLimitBytes {
            (width, height) = (1, 1)
        }
        let image = Self.image(width: width, height: height, alpha: header[7] == 1, format: .png)
        var metadata = image.metadata
        metadata.sourceWidth = Int(header[4])
        metadata.sourceHeight = Int(header[5])
        metadata.frameCount = Int(header[6])
        metadata.loopCount = Int(header[6]) - 1
        return Image(bitmap: image.bitmap, scale: options.scaleFactor, metadata: metadata, decodeOptions: options)
    }

    package func canEncode(to format: ImageFormat) -> Bool { formats.contains(format) }

    package func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError)
        -> Data
    {
        let gate = state.withLock { state in
            state.encodes.append(format)
            return state.gate
        }
        gate?.wait()
        guard canEncode(to: format) else { throw WebImageError(.encodingFailed, "cannot write \(format)") }
        return Self.data(width: UInt8(image.pixelWidth), height: UInt8(image.pixelHeight), alpha: image.hasAlpha)
    }
}
