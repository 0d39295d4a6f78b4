public import FoundationEssentials

/// For custom loaders that inspect the bytes.
///
/// A loader need not decode: it delivers bytes, which are decoded for each caller with the caller's options. Loads of a manager that
/// differ only in decoding share one request, which contains none of their decode options: it means full size, and the shared
/// coders.
extension ImageLoadRequest {
    /// The decode options of the request's options and context.
    public var decodeOptions: ImageDecodeOptions {
        ImageDecodeOptions(context ?? WebImageContext(), options: options, key: url.absoluteString)
    }

    /// The coder of the context, or the shared coders.
    public var coder: any ImageCoder { context?.coder() ?? ImageCodersManager.shared }

    /// Decodes on a decode thread with ``decodeOptions`` and ``coder``.
    ///
    /// - Throws: The coder's ``WebImageError``, with the request's URL.
    public func decode(_ data: Data) async throws(WebImageError) -> Image {
        let (coder, options) = (coder, decodeOptions)
        do throws(WebImageError) {
            return try await CodingQueue.decode(data, coder: coder, options: options, priority: priority)
        } catch {
            throw error.with(url: url)
        }
    }
}
