public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes AVIF, still images and sequences.
///
/// Supported: 8, 10 and 12 bits, all subsamplings, alpha straight or premultiplied, grids; colours by ICC profile or by code points. The crop,
/// rotation and mirroring of the file (`clap`, `irot`, `imir`) are applied; as the standard requires, an orientation in an EXIF block is ignored. Of
/// a sequence the first frame is decoded, or the frames of ``animation(of:options:)``.
///
/// AV1 is decoded as a whole, into planes of 1 to 8 bytes per pixel that are converted to RGB some rows at a time, so a thumbnail needs little more
/// memory. A grid also needs the memory of its tiles, each with a codec of half a megabyte. All that must fit into
/// ``ImageLimits/maximumDecodedByteCount``, and into a memory budget if there is one; both are checked before decoding. libavif supports at most 268
/// 435 456 pixels. A still image of half a megapixel or more is decoded by several threads while processors are idle: at most 8, and over all decodes
/// together one for each processor.
public struct AVIFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts as a file of an AVIF brand.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .avif }

    /// Reads the properties from the boxes.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try AVIFFile(bytes, limits: limits)
            try limits.check(frameCount: file.properties.frameCount)
            return file.properties
        }
    }

    /// Decodes the image, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try AVIFFile(bytes, limits: options.limits)
            let plan = try DecodePlan.make(for: file.properties, options: options)
            try file.decode(0)
            let rows = try AVIFRows(file, options: options)
            return try ImageAssembler.makeImage(from: rows, properties: file.properties, plan: plan, options: options)
        }
    }
}
