public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes JPEG XL, codestreams and containers, still and animated, with incremental decoding.
///
/// Supported: lossy and lossless, grey and RGB, any depth, alpha straight or premultiplied; colours by code points or by ICC profile. The
/// codestream's orientation is applied; as the standard requires, one in an EXIF block is ignored. Of an animation the first frame is decoded, or the
/// frames of ``animation(of:options:)``.
///
/// A still image of half a megapixel or more is decoded by several threads while processors are idle: at most 8, and over all decodes together one for
/// each processor.
///
/// libjxl decodes images as a whole: a thumbnail saves only the memory of its result. Most of its memory cannot be limited, so its maximum is checked
/// against ``ImageLimits/maximumDecodedByteCount`` before decoding: 4 bytes for each pixel and channel, and 20 for the colours of a pixel in XYB, as
/// in lossy files (so by default up to 53 megapixels). Some builds of libjxl, including Debian's, print errors of damaged files to standard error,
/// which cannot be suppressed here.
public struct JPEGXLCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts as a codestream or a container of JPEG XL.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .jpegXL }

    /// Reads the properties from the header, and from the headers of all frames of an animation.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try JPEGXLHeader(data, limits: limits, wantsFrames: true).properties
    }

    /// Decodes the image, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let header = try JPEGXLHeader(data, limits: options.limits, wantsFrames: !options.decodeFirstFrameOnly)
        let plan = try DecodePlan.make(for: header.properties, options: options)
        let pixels = try JPEGXLPixels(header, options: options)
        let isThreaded = header.properties.frameCount == 1
        return try CodingQueue.withThreads(forPixelCount: isThreaded ? pixels.width * pixels.height : 0) {
            (count) throws(WebImageError) in
            let decoder = try JPEGXLDecoder(data, pixels: pixels, threadCount: count)
            try decoder.readColors(options.limits)
            let rows = JPEGXLRows(decoder, pixels: pixels, limits: options.limits)
            return try ImageAssembler.makeImage(from: rows, properties: header.properties, plan: plan, options: options)
        }
    }
}

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
