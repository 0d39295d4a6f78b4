public import FoundationEssentials

/// Decodes Windows icons and cursors.
///
/// Of the pictures in a file the largest is the icon, the deepest if there are several; the properties are its. For a thumbnail the
/// smallest is taken that is at least as big as that will be, so an icon drawn for 16 pixels is what is shown at 16 pixels.
/// Pictures are PNG or bitmaps, with alpha or with a mask. What is neither is left out; a file that is cut is an error. Icons are
/// not encoded.
public struct ICOCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts like an icon or cursor with at least one picture.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .ico }

    /// What is known of the largest picture. Cost: looks at the headers of all, and at that one's alpha.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        try data.withBytes { (bytes) throws(WebImageError) in
            let largest = try ICODirectory(bytes).largest
            try limits.check(width: largest.width, height: largest.height)
            return Self.properties(largest, try Self.rows(of: largest, bytes, limits), limits)
        }
    }

    /// Decodes the picture that fits best.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
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

    /// Always false.
    public func canEncode(to format: ImageFormat) -> Bool { false }

    /// Throws ``WebImageError/Code/unsupportedFormat``.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        throw WebImageError(.unsupportedFormat, "icons are not encoded")
    }

    private static func rows(
        of entry: ICODirectory.Entry,
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageLimits
    ) throws(WebImageError) -> any ScanlineSource {
        try limits.check(width: entry.width, height: entry.height)
        let picture = UnsafeRawBufferPointer(rebasing: bytes[entry.range])
        guard entry.isPNG else { return try ICORowReader(picture, limits: limits) }
        return try PNGRowReader(Data(picture), header: try PNGHeader(picture, limits: limits), limits: limits)
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
