public import FoundationEssentials

extension Image {
    /// Decodes an image with the shared coders, on the library's own threads.
    ///
    /// - Throws: the errors of ``ImageCoder/decode(_:options:)``.
    public static func decode(
        _ data: Data,
        options: ImageDecodeOptions = ImageDecodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Image {
        try await CodingQueue.decode(data, coder: coder, options: options)
    }

    /// Encodes the image with the shared coders, on the library's own threads. An image with an ``animation`` is encoded with all its frames if the
    /// format supports animations, otherwise as a still image.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the image was decoded from, if the coder writes it, it is compressed (BMP is not), and it can
    ///     hold the image (JPEG has no alpha, GIF few colours). Otherwise it means PNG for an image with alpha and for a PDF page, and JPEG for
    ///     others; for an animation, GIF if it holds all frames without loss and APNG if not, or WebP with ``ImageEncodeOptions/maxFileSize``.
    ///   - options: quality, size and other encode options.
    ///   - coder: the encoder; the shared coders by default.
    /// - Throws: ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/encodingFailed``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``; for an animation also the errors of its frames.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.queue(of: animation).run { () throws(WebImageError) in
            let target = format == .undefined ? self.encodingFormat(of: coder, options: options) : format
            return try coder.encodeImageOrAnimation(self, to: target, options: options)
        }
    }
}

extension AnimatedImageProvider {
    /// Encodes the animation with the shared coders, on the library's own threads.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the animation was decoded from, if the coder writes animations in it. Otherwise it means GIF
    ///     if it holds all frames without loss (256 colours, no translucent pixels, durations in hundredths of a second), and APNG if
    ///     not, or WebP with ``ImageEncodeOptions/maxFileSize``.
    ///   - options: quality, size and other encode options.
    ///   - coder: the encoder; the shared coders by default.
    /// - Throws: the errors of ``AnimatedImageEncoder/encode(_:to:options:)``.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any AnimatedImageEncoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.queue(of: self).run { () throws(WebImageError) in
            var target = format
            if target == .undefined {
                let own = self.animatedImageData.map { ImageFormat(detecting: $0) } ?? .undefined
                target = coder.canEncodeAnimation(to: own) ? own : coder.format(of: self, options: options)
            }
            return try coder.encode(self, to: target, options: options)
        }
    }
}

extension ImageProperties {
    /// Reads the header of an image with the shared coders, on the library's own threads.
    ///
    /// - Throws: the errors of ``ImageCoder/properties(of:limits:)``.
    public static func read(
        from data: Data,
        limits: ImageLimits = ImageLimits(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> ImageProperties {
        try await CodingQueue.queue(of: coder, for: data).run { () throws(WebImageError) in
            try coder.properties(of: data, limits: limits)
        }
    }
}

extension AnimatedImage {
    /// Creates an image from encoded data, decoded by ``ImageCodersManager/shared``. A still image has one frame.
    ///
    /// - Parameters:
    ///   - data: any format that a registered coder supports. Retained if the image has more than one frame.
    ///   - options: applied to every frame.
    /// - Throws: ``WebImageError`` as ``ImageCoder/decode(_:options:)`` does. Cost: decodes the first frame.
    public convenience init(
        data: Data,
        options: ImageDecodeOptions = ImageDecodeOptions()
    ) throws(WebImageError) {
        try self.init(data: data, options: options, coder: ImageCodersManager.shared)
    }
}
