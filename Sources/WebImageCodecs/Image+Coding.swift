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
}

extension AnimatedImageProvider {
    /// Encodes the animation with the shared coders, on the library's own threads.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the animation comes from, if the coder writes animations of it; else
    ///     WebP, or GIF where the coder writes no animated WebP.
    ///   - options: quality, size and the like.
    ///   - coder: what encodes; the shared coders by default.
    /// - Throws: what ``AnimatedImageEncoder/encode(_:to:options:)`` throws.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any AnimatedImageEncoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.queue(of: self).run { () throws(WebImageError) in
            var target = format
            if target == .undefined {
                let own = self.animatedImageData.map { ImageFormat(detecting: $0) } ?? .undefined
                target = coder.canEncodeAnimation(to: own) ? own : coder.defaultAnimationFormat
            }
            return try coder.encode(self, to: target, options: options)
        }
    }
}

extension ImageProperties {
    /// Reads the header of a picture with the shared coders, on the library's own threads.
    ///
    /// - Throws: what ``ImageCoder/properties(of:limits:)`` throws.
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
    /// A picture from encoded data, decoded by ``ImageCodersManager/shared``; a still one has one frame.
    ///
    /// - Parameters:
    ///   - data: any format that a registered coder knows. Kept as long as there is more than one frame.
    ///   - options: hold for every frame.
    /// - Throws: ``WebImageError`` as ``ImageCoder/decode(_:options:)`` does. Cost: decodes the first frame.
    public convenience init(
        data: Data,
        options: ImageDecodeOptions = ImageDecodeOptions()
    ) throws(WebImageError) {
        try self.init(data: data, options: options, coder: ImageCodersManager.shared)
    }
}
