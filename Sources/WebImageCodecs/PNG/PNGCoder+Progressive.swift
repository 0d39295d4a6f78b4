public import FoundationEssentials

extension PNGCoder: ProgressiveImageCoder {
    /// Returns whether the data starts with the eight bytes of PNG's signature.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down; an interlaced image appears as a whole early, first in blocks. Of an animation the first frame appears, unless
    /// it differs from the default image for programs without animation support. All rows are kept until the end, at full size also for a thumbnail:
    /// an image that exceeds ``ImageLimits/maximumDecodedByteCount`` this way has no previews.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalPNG(options: options), coder: self, options: options)
    }
}
