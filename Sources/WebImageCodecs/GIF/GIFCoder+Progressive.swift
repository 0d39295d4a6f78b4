public import FoundationEssentials

extension GIFCoder: ProgressiveImageCoder {
    /// Whether the data starts with `GIF87a` or `GIF89a`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Begins a picture of which nothing is there yet.
    ///
    /// Rows are seen from the top down, those of an interlaced frame in their places. As soon as there are two whole frames a
    /// preview has an ``Image/animation`` of those that are there, unless only the first is asked for.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        ArrivingPictureDecoder(ArrivingGIF(options: options), coder: self, options: options)
    }
}
