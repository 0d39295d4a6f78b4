public import FoundationEssentials

extension PNGCoder: ProgressiveImageCoder {
    /// Whether the data starts with the eight bytes of PNG's signature.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Begins a picture of which nothing is there yet.
    ///
    /// Rows are seen from the top down, an interlaced picture as a whole from early on, first in blocks; of an animated one the
    /// first frame, unless that is not the picture for programs that know no animations. All rows are kept until the end, at full
    /// size for a thumbnail too: a picture for which ``ImageLimits/maximumDecodedByteCount`` does not allow that has no previews.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        ArrivingPictureDecoder(ArrivingPNG(options: options), coder: self, options: options)
    }
}
