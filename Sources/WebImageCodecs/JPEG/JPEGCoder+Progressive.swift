public import FoundationEssentials

extension JPEGCoder: ProgressiveImageCoder {
    /// Returns whether the data starts like a JPEG. An arithmetic coded one is nevertheless decoded only at its end.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// A baseline image appears from the top down. An image with several scans appears as a whole once the first scan is complete, and improves with
    /// each. A preview of it costs about as much as decoding a baseline image of that size, without the entropy decoding.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalJPEG(options: options), coder: self, options: options)
    }
}
