package import FoundationEssentials
package import WebImageModel

/// A coder that decodes incrementally: images are any bytes that begin with "grow", and previews are as many pixels
/// wide as there are bytes. Bytes with "bad" are not an image, those with "once" only when decoded at once, and those
/// with "turn" are rotated. Headers say 4 by 2 pixels.
package final class GrowingCoder: ProgressiveImageCoder {
    package struct Log {
        package var updates: [(byteCount: Int, isFinished: Bool)] = []
        package var previewCount = 0
        package var decoderCount = 0
        package var wholeDecodes = 0
    }

    private let entries = Lock(Log())
    private let plain = PlainCoder()
    /// The time of a preview and of a decoding step, simulated by the clock.
    private let onPreview: @Sendable () -> Void

    package init(onPreview: @escaping @Sendable () -> Void = {}) { self.onPreview = onPreview }

    package var log: Log { entries.withLock { $0 } }

    package func canDecode(_ data: Data) -> Bool { true }
    package func canDecodeIncrementally(_ data: Data) -> Bool { data.starts(with: Data("grow".utf8)) }
    package func canEncode(to format: ImageFormat) -> Bool { true }

    package func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try plain.properties(of: data, limits: limits)
    }

    package func encode(_ image: Image, to format: ImageFormat, options: ImageEncodeOptions) throws(WebImageError)
        -> Data
    {
        try plain.encode(image, to: format, options: options)
    }

    package func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        entries.withLock { $0.wholeDecodes += 1 }
        return try Self.picture(data, isFinished: true)
    }

    package func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        entries.withLock { $0.decoderCount += 1 }
        return Decoder(coder: self)
    }

    package static func picture(_ data: Data, isFinished: Bool) throws(WebImageError) -> Image {
        guard data.range(of: Data("bad".utf8)) == nil else { throw WebImageError(.badImageData, "bad bytes") }
        var metadata = ImageMetadata()
        metadata.format = .png
        metadata.isIncremental = !isFinished
        let bitmap = try Bitmap.allocate(width: max(data.count, 1), height: 1, pixelFormat: .bgra8Premultiplied)
        return Image(bitmap: bitmap, metadata: metadata)
    }

    private final class Decoder: ProgressiveImageDecoder {
        private let coder: GrowingCoder
        private let state = Lock<(data: Data, isFinished: Bool)>((Data(), false))

        init(coder: GrowingCoder) { self.coder = coder }

        var properties: ImageProperties? {
            var properties = ImageProperties(format: .png, width: 4, height: 2)
            if state.withLock({ $0.data }).range(of: Data("turn".utf8)) != nil { properties.orientation = .right }
            return properties
        }

        func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
            coder.entries.withLock { $0.updates.append((data.count, isFinished)) }
            guard data.range(of: Data("once".utf8)) == nil else { throw WebImageError(.badImageData, "not like this") }
            state.withLock { $0 = (data, isFinished) }
        }

        func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? {
            let (data, isFinished) = state.withLock { $0 }
            if !isFinished {
                coder.entries.withLock { $0.previewCount += 1 }
                coder.onPreview()
            }
            return try GrowingCoder.picture(data, isFinished: isFinished)
        }
    }
}

extension Data {
    /// Returns where bytes occur.
    fileprivate func range(of other: Data) -> Range<Int>? {
        guard count >= other.count else { return nil }
        for start in 0...(count - other.count) where dropFirst(start).starts(with: other) {
            return start..<start + other.count
        }
        return nil
    }
}
