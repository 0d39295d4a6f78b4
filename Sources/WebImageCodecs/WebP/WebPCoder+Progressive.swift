public import FoundationEssentials

extension WebPCoder: ProgressiveImageCoder {
    /// Returns whether the data starts as a RIFF file of type `WEBP`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down; of an animation those of the first frame. If the EXIF block follows the pixels, as the format requires,
    /// previews are not rotated upright. A lossless image is decoded in steps of at least 32 rows: its decoder goes back to the last complete row.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalWebP(options: options), coder: self, options: options)
    }
}
