public import FoundationEssentials

extension ImageCodersManager: ProgressiveImageCoder {
    /// Returns whether the coder that decodes the data supports incremental decoding of it.
    public func canDecodeIncrementally(_ data: Data) -> Bool { progressiveCoder(for: data) != nil }

    /// Creates an incremental decoder. The first bytes of the data decide which coder decodes it.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        FormatDetectingDecoder(manager: self, options: options)
    }

    /// Returns the coder that also decodes the complete image: previews from another coder could show another image.
    fileprivate func progressiveCoder(for data: Data) -> (any ProgressiveImageCoder)? {
        guard let coder = coders.last(where: { $0.canDecode(data) }) as? any ProgressiveImageCoder,
            coder.canDecodeIncrementally(data)
        else { return nil }
        return coder
    }
}

/// Buffers the data until its first bytes identify the format.
private final class FormatDetectingDecoder: ProgressiveImageDecoder {
    private let manager: ImageCodersManager
    private let options: ImageDecodeOptions
    private let chosen = Lock<(any ProgressiveImageDecoder)?>(nil)

    init(manager: ImageCodersManager, options: ImageDecodeOptions) { (self.manager, self.options) = (manager, options) }

    var properties: ImageProperties? { chosen.withLock { $0 }?.properties }
    var missingPartPreviewCost: Double { chosen.withLock { $0 }?.missingPartPreviewCost ?? 0 }

    func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
        let limit = options.limits.maximumEncodedByteCount
        guard data.count <= limit else {
            throw .limitExceeded("maximumEncodedByteCount", allowed: limit, required: data.count)
        }
        let decoder = chosen.withLock { $0 } ?? choose(data)
        guard let decoder else {
            guard isFinished else { return }
            throw WebImageError(.badImageData, "the data is not an image that can be decoded incrementally")
        }
        try decoder.update(data, isFinished: isFinished)
    }

    func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? {
        try chosen.withLock { $0 }?.image(maximumPreviewPixelCount: maximumPreviewPixelCount)
    }

    private func choose(_ data: Data) -> (any ProgressiveImageDecoder)? {
        let decoder = manager.progressiveCoder(for: data)?.makeProgressiveDecoder(options: options)
        chosen.withLock { $0 = decoder }
        return decoder
    }
}
