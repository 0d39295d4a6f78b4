public import FoundationEssentials
public import WebImageCodecs

/// Decodes and encodes TIFF with libtiff.
///
/// Decodes the first page of classic TIFF and BigTIFF; ``WebImage/ImageProperties/pageCount`` is the number of pages. Supported: strips and tiles,
/// interleaved or planar; grey, RGB, CMYK and palettes of 1 to 16 bits, 32-bit integers, floating point of 16, 32 and 64 bits (0 is black, 1 white),
/// YCbCr, CIE L\*a\*b\* and LogLuv; the common compressions as far as the installed libtiff has them, including JPEG but not JBIG; straight and
/// premultiplied alpha; orientation and ICC profiles. Rows are decoded on demand, so a thumbnail needs little memory: a row of a strip, or a row of
/// tiles; YCbCr without JPEG compression and old-style JPEG need a whole strip or row of tiles, twice.
///
/// More than 8 bits are rounded to 8, unless ``WebImage/ImageDecodeOptions/decodeToHDR`` keeps them. Floating-point and LogLuv images with values
/// above white (by a tenth: filters also overshoot) are of high dynamic range and are tone-mapped. The header does not state this, so these images
/// are read twice.
///
/// Missing or damaged pixels are an error, never a grey area.
public struct TIFFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts like a TIFF.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .tiff }

    /// Reads the properties from the first directory, and counts the directories. ``WebImage/ImageProperties/isHighDynamicRange`` is false: only
    /// decoding finds out.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``,
    ///   ``WebImage/WebImageError/Code/unsupportedFormat`` for an unsupported compression, ``WebImage/WebImageError/Code/outOfMemory``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try TIFFFile(bytes, limits: limits)
            try limits.check(width: file.width, height: file.height)
            var properties = Self.properties(file, try TIFFPixels(file.info), limits)
            properties.pageCount = TIFFPages.count(bytes)
            return properties
        }
    }

    /// Decodes the first page.
    ///
    /// - Throws: ``WebImage/WebImageError/Code/badImageData``, ``WebImage/WebImageError/Code/limitExceeded``,
    ///   ``WebImage/WebImageError/Code/outOfMemory``, ``WebImage/WebImageError/Code/unsupportedFormat`` for an unsupported compression,
    ///   ``WebImage/WebImageError/Code/decodeTimedOut``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let file = try TIFFFile(bytes, limits: options.limits)
            try options.limits.check(width: file.width, height: file.height)
            let pixels = try TIFFPixels(file.info)
            var properties = Self.properties(file, pixels, options.limits)
            let plan = try DecodePlan.make(for: properties, options: options)
            let rows: any ScanlineSource
            if let pixels {
                properties.isHighDynamicRange = try Self.isBrighterThanWhite(file, pixels, options.limits)
                let keepsAll = options.keepsHighBitDepth && properties.isHighBitDepth
                // Linear light, whose dark tones are close together, is converted before it is rounded.
                let mayBeLight = pixels.isLight || pixels.isFloat && file.info.icc != nil
                rows = try TIFFRowReader(
                    file,
                    pixels: pixels,
                    limits: options.limits,
                    isHighBitDepth: keepsAll || pixels.model == .lab && pixels.bits > 8 || properties.isHighDynamicRange
                        || mayBeLight
                )
            } else {
                rows = try TIFFConvertedRows(file, limits: options.limits)
            }
            return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        }
    }

    static func properties(_ file: TIFFFile, _ pixels: TIFFPixels?, _ limits: ImageLimits) -> ImageProperties {
        var properties = ImageProperties(format: .tiff, width: file.width, height: file.height)
        properties.orientation = ImageOrientation(exif: Int(file.info.orientation))
        properties.hasAlpha = pixels?.alpha != nil
        properties.bitsPerComponent = pixels?.bitsPerComponent ?? 8
        properties.colorProfile = file.colorProfile(limits).flatMap {
            ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount)
        }
        return properties
    }

    /// Values above this count as brighter than white; filters and rounding exceed white slightly.
    private static let leastHighlight: Float = 1.1

    /// Returns whether a visible floating-point pixel is brighter than ``leastHighlight``; false for CMYK. Reads rows until one is found.
    private static func isBrighterThanWhite(
        _ file: TIFFFile,
        _ pixels: TIFFPixels,
        _ limits: ImageLimits
    ) throws(WebImageError) -> Bool {
        guard pixels.isFloat, pixels.model != .cmyk else { return false }
        let rows = try TIFFRowReader(file, pixels: pixels, limits: limits, isHighBitDepth: true)
        let row = try ScratchBuffer(byteCount: rows.width * 16)
        for _ in 0..<rows.height {
            try rows.readRows(1, into: row.base, bytesPerRow: rows.width * 16)
            for x in 0..<rows.width {
                let pixel = row.floats + 4 * x
                if max(pixel[0], pixel[1], pixel[2]) > leastHighlight, pixel[3] > 0 { return true }
            }
        }
        return false
    }
}
