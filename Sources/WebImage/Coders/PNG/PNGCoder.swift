public import FoundationEssentials

/// Decodes and encodes PNG.
///
/// Every colour type and bit depth, palettes and `tRNS` transparency, interlacing, 16 bits (rounded to 8, unless
/// ``ImageDecodeOptions/decodeToHDR`` keeps them), ICC profiles, code points (`cICP`, also those of high dynamic range), gamma and
/// primaries, EXIF orientation. Of an animated PNG the default image is decoded, and the properties tell
/// frames, durations and loops. Rows are decoded on demand, so that the thumbnail of a big picture needs little memory;
/// an interlaced picture has to be decoded as a whole, and that too must fit ``ImageLimits/maximumDecodedByteCount``.
///
/// A picture whose pixels are incomplete or whose checksums are wrong is an error. What follows the pixels may be missing.
public struct PNGCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts with the eight bytes of PNG's signature.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .png }

    /// What the chunks say. Steps through all of them, without reading pixels.
    ///
    /// A file that ends too early has fewer ``ImageProperties/frameDurations`` than frames.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let header = try Self.header(of: data, limits: limits)
        try limits.check(frameCount: header.animationFrameCount)
        var properties = Self.properties(header, data)
        if header.color.coded == nil, header.color.profileName != nil,
            let rows = try? PNGRowReader(data, header: header, limits: limits)
        {
            properties.colorProfile = rows.profileName ?? properties.colorProfile
        }
        return properties
    }

    /// Decodes the picture, or the default image of an animated one.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let header = try Self.header(of: data, limits: options.limits)
        var properties = Self.properties(header, data)
        let plan = try DecodePlan.make(for: properties, options: options)
        let rows = try PNGRowReader(
            data,
            header: header,
            limits: options.limits,
            isWide: header.color.coded?.needsWideRows(bitsPerComponent: header.bitDepth) == true
                || options.keepsWidePixels && properties.isWide
        )
        if header.color.coded == nil { properties.colorProfile = rows.profileName ?? properties.colorProfile }
        return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
    }

    private static func header(of data: Data, limits: ImageLimits) throws(WebImageError) -> PNGHeader {
        try data.withBytes { (bytes) throws(WebImageError) in try PNGHeader(bytes, limits: limits) }
    }

    private static func properties(_ header: PNGHeader, _ data: Data) -> ImageProperties {
        var properties = ImageProperties(format: .png, width: header.width, height: header.height)
        properties.hasAlpha = header.hasAlpha
        properties.bitsPerComponent = header.bitDepth == 16 ? 16 : 8
        properties.isHighDynamicRange = header.color.coded?.isHighDynamicRange == true
        properties.colorProfile = header.color.coded?.name ?? header.color.profileName
        if let range = header.exif {
            properties.orientation = data.withUnsafeBytes {
                EXIFOrientation.read(block: UnsafeRawBufferPointer(rebasing: $0[range]))
            }
        }
        if header.animationFrameCount > 1 {
            properties.frameCount = header.animationFrameCount
            properties.frameDurations = header.animationDelays
            properties.loopCount = header.animationPlayCount
        }
        return properties
    }
}
