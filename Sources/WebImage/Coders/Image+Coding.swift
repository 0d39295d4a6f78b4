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
        try await CodingQueue.shared.run { () throws(WebImageError) in
            try coder.completeImage(of: data, options: options)
        }
    }

    /// Encodes the image with the shared coders, on the library's own threads.
    ///
    /// - Parameters:
    ///   - format: `.undefined` means the format that the image was decoded from, if the coder writes it; else PNG for an image with
    ///     alpha and JPEG for one without.
    ///   - options: quality, size and the like.
    ///   - coder: what encodes; the shared coders by default.
    /// - Throws: ``WebImageError/Code/unsupportedFormat``, ``WebImageError/Code/encodingFailed``.
    public func encoded(
        as format: ImageFormat = .undefined,
        options: ImageEncodeOptions = ImageEncodeOptions(),
        coder: any ImageCoder = ImageCodersManager.shared
    ) async throws(WebImageError) -> Data {
        try await CodingQueue.shared.run { () throws(WebImageError) in
            let own = self.metadata.format
            let isOwn = format == .undefined && own != .undefined && coder.canEncode(to: own)
            return try coder.encode(self, to: isOwn ? own : format, options: options)
        }
    }
}
