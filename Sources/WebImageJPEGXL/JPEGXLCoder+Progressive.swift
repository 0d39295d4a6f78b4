public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder: ProgressiveImageCoder {
    /// Returns whether the data starts as a codestream or a container of JPEG XL.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// A lossy image appears as a whole, coarse at first, from about a sixth of its bytes on. A lossless one appears as a whole if it was encoded for
    /// that, otherwise from the top down. Of an animation the first frame appears. Images whose colours need more than 8 bits have no previews.
    /// libjxl renders the whole image for each preview, including the missing parts of a lossy one; loads therefore show no previews of lossy images
    /// before four fifths of the bytes are received.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalJPEGXL(options: options), coder: self, options: options)
    }
}
