package import FoundationEssentials

/// The form in which an image is encoded for a client.
package struct ImageEncoding: Sendable, Hashable {
    /// The formats to choose from, the best first: the first that a coder writes and that can hold the image. Without one, the format of
    /// the original if it can be written, else PNG for images with alpha and JPEG for others.
    package var formats: [ImageFormat] = []
    /// The quality of formats that are not in ``qualities``, 0...1.
    package var quality = 0.8
    /// The quality of some formats.
    package var qualities: [ImageFormat: Double] = [:]
    /// All other options.
    package var options = ImageEncodeOptions()
    /// A use of the original's bytes; nil, the default, if they are not needed.
    package var originalUse: OriginalUse?

    /// Creates an encoding in the original's format.
    package init() {}

    /// A name for the encoding that contains everything which changes the bytes, for cache keys.
    ///
    /// The number is that of the encoders: it changes when they write other bytes for the same options.
    package var key: String {
        let names = formats.map { "\($0.rawValue)" }.joined(separator: ".")
        let own = qualities.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        var parts = ["1", names, FixedDecimal.string(quality), own.joined(separator: ".")]
        let color = options.backgroundColor.map { "\($0)" } ?? ""
        parts.append(options.isLossless ? "lossless" : "")
        parts.append(options.encodeFirstFrameOnly ? "still" : "")
        parts.append("\(options.maxFileSize)")
        parts.append(color)
        if let originalUse { parts.append(originalUse.key) }
        return "Encoded(\(parts.joined(separator: ";")))"
    }

    /// Returns the format to encode an image in.
    func format(of image: Image, by coder: any ImageCoder) -> ImageFormat {
        let moves = image.animation != nil && !options.encodeFirstFrameOnly
        let suitable = formats.first { format in
            guard coder.canEncode(to: format) else { return false }
            if image.hasAlpha, format == .jpeg, options.backgroundColor == nil, formats.count > 1 { return false }
            guard moves else { return true }
            return (coder as? any AnimatedImageEncoder)?.canEncodeAnimation(to: format) ?? false
        }
        if let suitable { return suitable }
        // A still of an animation in the only format that was asked for.
        if let only = formats.last(where: { coder.canEncode(to: $0) }), formats.count == 1 { return only }
        return image.encodingFormat(of: coder, options: options)
    }

    /// Returns the options for a format.
    func options(for format: ImageFormat) -> ImageEncodeOptions {
        var options = options
        options.compressionQuality = qualities[format] ?? quality
        return options
    }
}

extension ImageEncoding {
    /// Makes the bytes for a client with the help of the original's: sends those, or takes metadata from them.
    package struct OriginalUse: Sendable, Hashable {
        /// Returns the bytes for the client. Called on a coding thread.
        ///
        /// - Parameters:
        ///   - original: The bytes as they were loaded.
        ///   - image: The image that would be encoded.
        ///   - encode: Encodes the image.
        package typealias Body =
            @Sendable (
                _ original: Data, _ image: Image, _ encode: () throws(WebImageError) -> Data
            ) throws(WebImageError) -> Data

        /// A name that contains everything which changes the bytes.
        package let key: String
        let body: Body

        /// Creates a use.
        package init(key: String, _ body: @escaping Body) { (self.key, self.body) = (key, body) }

        package static func == (left: OriginalUse, right: OriginalUse) -> Bool { left.key == right.key }

        package func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }
}

/// An image as encoded bytes.
package struct EncodedImage: Sendable {
    /// The bytes.
    package let data: Data
    /// The XXH3 of the bytes.
    package let hash: UInt64
    /// The format of the bytes.
    package let format: ImageFormat
    /// The record of the original's response, which says how long the image is fresh; nil if there is none.
    package let record: HTTPCacheRecord?
    /// True if the image may be stored by caches that other clients use.
    package let isStorable: Bool
    /// The level that the bytes came from; ``ImageCacheType/none`` if they were just encoded.
    package let source: ImageCacheType
    /// The key of the bytes on disk; nil if they are not stored.
    package let cacheKey: String?

    init(
        data: Data,
        hash: UInt64?,
        record: HTTPCacheRecord?,
        isStorable: Bool = true,
        source: ImageCacheType,
        cacheKey: String?
    ) {
        self.data = data
        self.cacheKey = cacheKey
        self.hash = hash ?? data.withUnsafeBytes { Hashing.xxh3($0) }
        format = ImageFormat(detecting: data)
        self.record = record
        self.isStorable = isStorable
        self.source = source
    }
}
