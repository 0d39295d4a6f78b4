public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes JPEG XL, naked codestreams and containers, still and animated; decodes it while it arrives.
///
/// Lossy and lossless, grey and RGB, any depth, alpha straight or premultiplied; colours by code points or by ICC profile. The
/// codestream's orientation is applied; one in an EXIF block is not looked at, as the standard wants. Of an animation the first frame
/// is decoded, or the frames of ``animation(of:options:)``.
///
/// libjxl decodes pictures as a whole: a thumbnail saves the memory of its result alone. It takes its own memory without asking, so
/// the most that it takes is held against ``ImageLimits/maximumDecodedByteCount`` before it begins: 4 bytes for each pixel and channel,
/// and 20 for the colours of a pixel in XYB, as lossy files have them (so by default up to 53 megapixels). Some builds of it, Debian's among them, write on standard error what they
/// find wrong with a damaged file, which nothing here can keep them from.
public struct JPEGXLCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts as a codestream or a container of JPEG XL.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .jpegXL }

    /// What the header says. Steps through the headers of all frames of an animation.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try JPEGXLHeader(data, limits: limits, wantsFrames: true).properties
    }

    /// Decodes the picture, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
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
