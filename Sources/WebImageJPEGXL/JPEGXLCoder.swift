public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes JPEG XL, codestreams and containers, still and animated, with incremental decoding.
///
/// Supported: lossy and lossless, grey and RGB, any depth, alpha straight or premultiplied; colours by code points or by ICC profile. The
/// codestream's orientation is applied; as the standard requires, one in an EXIF block is ignored. Of an animation the first frame is decoded, or the
/// frames of ``animation(of:options:)``.
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
        let decoder = try JPEGXLDecoder(data, pixels: pixels)
        try decoder.readColors(options.limits)
        let rows = JPEGXLRows(decoder, pixels: pixels, limits: options.limits)
        return try ImageAssembler.makeImage(from: rows, properties: header.properties, plan: plan, options: options)
    }
}
