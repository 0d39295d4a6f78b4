import CHEIF
public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes HEIF with HEVC images (HEIC), still images only.
///
/// Supported: 8, 10 and 12 bits, grids, alpha; colours by ICC profile or by code points. libheif applies crop, rotation and mirroring of the file; as
/// the standard requires, an orientation in an EXIF block is ignored.
///
/// Of a file with several images the primary one is decoded. Sequences (brands `hevc`, `msf1`) are video tracks, which libheif 1.15 does not read: if
/// such a file also has a still image, as camera files do, that is decoded; otherwise it is an error. So this format has no animations.
///
/// libheif decodes an image as a whole and at full size, so a thumbnail saves only the memory of its result. The memory of libheif and the codec must
/// fit into ``ImageLimits/maximumDecodedByteCount``, and into a memory budget if there is one: about 5 bytes for each pixel of 8 bits and 10 of more
/// bits, half as much again with alpha or with chroma at full resolution. Both are checked before decoding, with the sizes in the codec's bitstream
/// headers, wherever these are stored. An embedded thumbnail is ignored.
public struct HEIFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts as a file of a HEIC or HEIF brand.
    public func canDecode(_ data: Data) -> Bool {
        let format = ImageFormat(detecting: data)
        return format == .heic || format == .heif
    }

    /// Reads the properties from the boxes; the sides are those of the upright image.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in try HEIFFile(bytes, limits: limits).properties }
    }

    /// Decodes the primary image.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try HEIFFile(bytes, limits: options.limits)
            let plan = try DecodePlan.make(for: file.properties, options: options)
            let rows = try HEIFRows(file, options: options)
            return try ImageAssembler.makeImage(from: rows, properties: file.properties, plan: plan, options: options)
        }
    }
}
