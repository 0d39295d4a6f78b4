public import FoundationEssentials

extension JPEGCoder: ProgressiveImageCoder {
    /// Whether the data starts like a JPEG. One that is arithmetic coded is decoded at its end nevertheless.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Begins a picture of which nothing is there yet.
    ///
    /// A baseline picture is seen from the top down. One of several scans is seen as a whole as soon as the first of them is there,
    /// and better with each; a preview of it costs about as much as the decoding of a baseline one of that size, without the
    /// reading.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        ArrivingPictureDecoder(ArrivingJPEG(options: options), coder: self, options: options)
    }
}
