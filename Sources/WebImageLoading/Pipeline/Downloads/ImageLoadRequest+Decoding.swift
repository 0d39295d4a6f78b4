public import FoundationEssentials

/// For loaders of one's own that look into the bytes.
///
/// A loader need not decode: it delivers bytes, and whoever asked decodes them for each caller by its own wishes. Loads of a manager
/// that differ only in those share one request, which says nothing of them: full size, and the shared coders.
extension ImageLoadRequest {
    /// How the picture is to be decoded, by the request's options and context.
    public var decodeOptions: ImageDecodeOptions {
        ImageDecodeOptions(context ?? WebImageContext(), options: options, key: url.absoluteString)
    }

    /// What is to decode: the context's coder, or the shared coders.
    public var coder: any ImageCoder { context?.coder() ?? ImageCodersManager.shared }

    /// Decodes on a decode thread, by ``decodeOptions`` and with ``coder``.
    ///
    /// - Throws: ``WebImageError`` as the coder throws it, with the request's URL.
    public func decode(_ data: Data) async throws(WebImageError) -> Image {
        let (coder, options) = (coder, decodeOptions)
        do throws(WebImageError) {
            return try await CodingQueue.decode(data, coder: coder, options: options, priority: priority)
        } catch {
            throw error.with(url: url)
        }
    }
}
