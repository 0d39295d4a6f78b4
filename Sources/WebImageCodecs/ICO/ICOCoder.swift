public import FoundationEssentials

/// Decodes Windows icons and cursors.
///
/// A file can hold several images. The largest one, and of those the deepest, represents the icon: the properties describe it. A thumbnail uses the
/// smallest image that is at least as large as the thumbnail, so an icon drawn for 16 pixels is shown at 16 pixels. Images are PNG or bitmaps, with
/// alpha or with a mask; others are skipped. A truncated file is an error. Encoding icons is not supported.
public struct ICOCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts like an icon or cursor with at least one image.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .ico }

    /// Reads the properties of the largest image. Cost: reads the headers of all images, and the alpha of the largest.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let largest = try ICODirectory(bytes).largest
            try limits.check(width: largest.width, height: largest.height)
            return Self.properties(largest, try Self.rows(of: largest, bytes, limits), limits)
        }
    }

    /// Decodes the image that fits best.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try data.withBytes { (bytes) throws(WebImageError) in
            let directory = try ICODirectory(bytes)
            let largest = directory.largest
            var properties = ImageProperties(format: .ico, width: largest.width, height: largest.height)
            var plan = try DecodePlan.make(for: properties, options: options)
            let entry = directory.smallest(atLeast: plan.width, by: plan.height)
            let rows = try Self.rows(of: plan.isFullSize(of: largest) ? largest : entry, bytes, options.limits)
            properties = Self.properties(largest, rows, options.limits)
            plan = try DecodePlan.make(for: properties, options: options)
            return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        }
    }

    /// Returns false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "encoding ICO is not supported")
    }

    private static func rows(
        of entry: ICODirectory.Entry,
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageLimits
    ) throws(WebImageError) -> any ScanlineSource {
        try limits.check(width: entry.width, height: entry.height)
        let encoded = UnsafeRawBufferPointer(rebasing: bytes[entry.range])
        guard entry.isPNG else { return try ICORowReader(encoded, limits: limits) }
        return try PNGRowReader(Data(encoded), header: try PNGHeader(encoded, limits: limits), limits: limits)
    }

    private static func properties(
        _ largest: ICODirectory.Entry,
        _ rows: any ScanlineSource,
        _ limits: ImageLimits
    ) -> ImageProperties {
        var properties = ImageProperties(format: .ico, width: largest.width, height: largest.height)
        properties.hasAlpha = rows.layout.hasAlpha
        properties.colorProfile = (rows as? PNGRowReader)?.profileName
        return properties
    }
}

extension DecodePlan {
    fileprivate func isFullSize(of entry: ICODirectory.Entry) -> Bool {
        width == entry.width && height == entry.height
    }
}
