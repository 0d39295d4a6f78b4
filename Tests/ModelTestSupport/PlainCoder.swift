package import FoundationEssentials
package import WebImageModel

/// A coder whose images are their bytes: any data that does not start with "bad" is an image of 4 × 2 pixels, or of the
/// requested thumbnail size.
package final class PlainCoder: ImageCoder {
    private let log = Lock<[ImageDecodeOptions]>([])

    package init() {}

    package var decodes: [ImageDecodeOptions] { log.withLock { $0 } }

    package func canDecode(_ data: Data) -> Bool { true }

    package func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        ImageProperties(format: .png, width: 4, height: 2)
    }

    package func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        log.withLock { $0.append(options) }
        guard !data.starts(with: Data("bad".utf8)) else { throw WebImageError(.badImageData, "bad bytes") }
        let size = options.isThumbnail ? options.thumbnailPixelSize : nil
        var metadata = ImageMetadata()
        metadata.isThumbnail = size != nil
        metadata.format = .png
        return Image(
            bitmap: try .allocate(width: Int(size?.width ?? 4), height: Int(size?.height ?? 2), pixelFormat: .rgb8),
            scale: options.scaleFactor,
            metadata: metadata,
            decodeOptions: options
        )
    }

    package func canEncode(to format: ImageFormat) -> Bool { true }

    package func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data { Data("encoded".utf8) }
}

/// A transformer that counts and returns a new image of the same pixels.
package final class FakeTransformer: ImageTransformer {
    package let transformerKey: String
    private let counter = Lock(0)

    package init(_ key: String) { transformerKey = key }

    package var count: Int { counter.withLock { $0 } }

    package func transform(_ image: Image) throws(WebImageError) -> Image {
        counter.withLock { $0 += 1 }
        return Image(bitmap: image.bitmap, scale: image.scale, metadata: image.metadata)
    }
}
