public import FoundationEssentials

extension GIFCoder: ProgressiveImageCoder {
    /// Returns whether the data starts with `GIF87a` or `GIF89a`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down, those of an interlaced frame at their final places. Once there are two complete frames, a preview has an
    /// ``Image/animation`` of all complete frames, unless only the first frame is requested.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalGIF(options: options), coder: self, options: options)
    }
}
