public import FoundationEssentials

extension Image {
    /// Decodes a picture with the shared coders, on the library's own threads.
    ///
    /// - Throws: what ``ImageCoder/decode(_:options:)`` throws.
    public static func decode(
        _ data: Data,
        options: ImageDecodeOptions = ImageDecodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Image {
        try await CodingQueue.decode(data, coder: coder, options: options)
    }

    /// Encodes the image with the shared coders, on the library's own threads: with all its frames if it has an ``animation`` and
    /// the format holds such, else the picture.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the image was decoded from, if the coder writes it and it can hold the
    ///     picture (JPEG no alpha, GIF few colours); else WebP for an animation, PNG for an image with alpha and JPEG for one
    ///     without.
    ///   - options: quality, size and the like.
    ///   - coder: what encodes; the shared coders by default.
    /// - Throws: ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/encodingFailed``,
    ///   ``WebImageError/Code/limitExceeded``; for an animation also what its frames throw.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.queue(of: animation).run { () throws(WebImageError) in
            let target = format == .undefined ? self.encodingFormat(of: coder, options: options) : format
            return try coder.encodeMoving(self, to: target, options: options)
        }
    }

    /// The format in which a coder writes the image without losing more of it than a little quality.
    func encodingFormat(of coder: any ImageCoder, options: ImageEncodeOptions) -> ImageFormat {
        if animation != nil, !options.encodeFirstFrameOnly {
            if coder.writesAnimations(as: format) { return format }
            if let other = (coder as? any AnimatedImageEncoder)?.defaultAnimationFormat,
                coder.writesAnimations(as: other)
            {
                return other
            }
        }
        let losesAlpha = hasAlpha && (format == .jpeg || format == .bmp)
        // What was read from a GIF file is often scaled or transformed, and has more colours than that holds.
        let losesPixels = losesAlpha || format == .gif
        if format != .undefined, !losesPixels, coder.canEncode(to: format) { return format }
        return hasAlpha ? .png : .jpeg
    }
}

extension ImageCoder {
    fileprivate func writesAnimations(as format: ImageFormat) -> Bool {
        (self as? any AnimatedImageEncoder)?.canEncodeAnimation(to: format) ?? false
    }

    /// Encodes an image with its frames if it has any and the format holds them; else the picture.
    func encodeMoving(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard !options.encodeFirstFrameOnly, let animation = image.animation,
            let encoder = self as? any AnimatedImageEncoder, encoder.canEncodeAnimation(to: format)
        else { return try encode(image, to: format, options: options) }
        return try encoder.encode(animation, to: format, options: options)
    }
}
