public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder: ProgressiveImageCoder {
    /// Whether the data starts as a codestream or a container of JPEG XL.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Begins a picture of which nothing is there yet.
    ///
    /// A lossy picture is seen as a whole, coarse at first, from about a sixth of its bytes on; a lossless one as a whole if it was
    /// written for that, and else from the top down. Of an animation the first frame is seen. Pictures whose colours need more
    /// than 8 bits are not seen before they are whole. libjxl draws the whole picture for each preview, what is missing of a lossy one
    /// too; therefore a load shows none of those before four fifths have come.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        ArrivingPictureDecoder(ArrivingJPEGXL(options: options), coder: self, options: options)
    }
}
