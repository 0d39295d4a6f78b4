public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes AVIF, still pictures and sequences.
///
/// 8, 10 and 12 bits, all subsamplings, alpha straight or premultiplied, grids; colours by ICC profile or by code points. The crop,
/// turn and mirror of the file (`clap`, `irot`, `imir`) are applied; an orientation in an EXIF block is not looked at, as the standard
/// wants. Of a sequence the first frame is decoded, or the frames of ``animation(of:options:)``.
///
/// AV1 is decoded as a whole, into planes that take 1 to 8 bytes per pixel and are made RGB some rows at a time, so a thumbnail needs little
/// more. A grid is there a second time as its tiles, each of which has a codec of half a megabyte. All that must fit
/// ``ImageLimits/maximumDecodedByteCount``, and a memory budget if there is one, before anything is decoded. libavif takes pictures of at most 268 435 456 pixels. Decoding takes one thread: as many pictures
/// are decoded at a time as there are processors.
public struct AVIFCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts as a file of AVIF's brands.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .avif }

    /// What the boxes say.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try AVIFFile(bytes, limits: limits)
            try limits.check(frameCount: file.properties.frameCount)
            return file.properties
        }
    }

    /// Decodes the picture, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
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
