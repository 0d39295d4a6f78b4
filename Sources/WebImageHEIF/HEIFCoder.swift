import CHEIF
public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes HEIF with HEVC pictures (HEIC), stills.
///
/// 8, 10 and 12 bits, grids, alpha; colours by ICC profile or by code points. Crop, turn and mirror of the file are applied by libheif; an
/// orientation in an EXIF block is not looked at, as the standard wants.
///
/// Of a file with several pictures the primary one is decoded. Sequences (brands `hevc`, `msf1`) are tracks as in films, which libheif
/// 1.15 does not read: where such a file has a still picture too, as those of cameras do, that is decoded; where it has none, it is
/// an error. So there are no animations of this format.
///
/// libheif decodes a picture as a whole and at full size, so a thumbnail saves only the memory of its result. What libheif and the codec
/// take for that must fit ``ImageLimits/maximumDecodedByteCount``, and a memory budget if there is one: about 5 bytes for each pixel of 8 bits
/// and 10 of more bits, half as much again with alpha or with chroma at full resolution. More is refused before it is decoded.
/// Sizes are those that the codec's own headers tell, wherever these stand. A thumbnail that the file carries is not looked at.
public struct HEIFCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts as a file of HEIC's or HEIF's brands.
    public func canDecode(_ data: Data) -> Bool {
        let format = ImageFormat(detecting: data)
        return format == .heic || format == .heif
    }

    /// What the boxes say; sides are those of the picture as it is seen.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in try HEIFFile(bytes, limits: limits).properties }
    }

    /// Decodes the primary picture.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try HEIFFile(bytes, limits: options.limits)
            let plan = try DecodePlan.make(for: file.properties, options: options)
            let rows = try HEIFRows(file, options: options)
            return try ImageAssembler.makeImage(from: rows, properties: file.properties, plan: plan, options: options)
        }
    }
}
