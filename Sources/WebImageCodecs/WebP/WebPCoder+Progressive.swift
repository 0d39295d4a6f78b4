public import FoundationEssentials

extension WebPCoder: ProgressiveImageCoder {
    /// Whether the data starts as a RIFF file of type `WEBP`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Begins a picture of which nothing is there yet.
    ///
    /// Rows are seen from the top down; of an animation those of the first frame. Where the file's EXIF block comes after the
    /// pixels, as the format has it, previews are not turned upright. Of a lossless picture at least 32
    /// rows are decoded at a time: its decoder goes back to the last row that was whole.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        ArrivingPictureDecoder(ArrivingWebP(options: options), coder: self, options: options)
    }
}
