public import FoundationEssentials

/// Decodes and encodes JPEG with libjpeg-turbo.
///
/// Decodes baseline and progressive images, Huffman or arithmetic coded, in grey, YCbCr, RGB, CMYK and YCCK, with embedded profiles and EXIF
/// orientation. Thumbnails are scaled to 1/2, 1/4 or 1/8 while decoding. Damaged image data is painted over, as in browsers and Pillow, and reported
/// in ``ImageMetadata/isDamaged`` if libjpeg detects it; with ``ImageDecodeOptions/refusesDamagedData`` it is an error. Missing data is always an
/// error, never a grey area; bytes after the end are ignored.
///
/// ``ImageLimits/maximumScanCount`` applies to images of up to 16 megapixels and shrinks in proportion for larger ones (to 32 at the least), since
/// each scan may cost as much time as a whole image. The coefficients of a progressive image must fit into ``ImageLimits/maximumDecodedByteCount``.
public struct JPEGCoder: ImageCoder {
    /// Creates a coder; it has no state.
    public init() {}

    /// Returns whether the data starts like a JPEG.
    public func canDecode(_ data: Data) -> Bool {
        data.count >= 3 && data.prefix(3).elementsEqual([0xFF, 0xD8, 0xFF])
    }

    /// Reads the properties from the header, including any profile. Cost: a few microseconds.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let header = try JPEGHeader(data, limits: limits)
        try limits.check(width: header.frame.width, height: header.frame.height)
        return Self.properties(header, limits)
    }

    /// Decodes the image, upright, in sRGB.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try decode(data, options: options) { _ in }
    }

    /// Decodes a JPEG that is embedded in another file.
    ///
    /// - Parameter adapt: sets what the other file says of it: format and orientation.
    package func decode(
        _ data: Data,
        options: ImageDecodeOptions,
        adapt: (inout ImageProperties) -> Void
    ) throws(WebImageError) -> Image {
        let deadline = DecodeDeadline(options.limits)
        return try data.withBytes { (bytes) throws(WebImageError) in
            let header = try JPEGHeader(bytes, limits: options.limits)
            var properties = Self.properties(header, options.limits)
            adapt(&properties)
            let plan = try DecodePlan.make(for: properties, options: options)
            try options.limits.check(decodedByteCount: header.coefficientByteCount)
            let scanLimit = Self.scanLimit(header.frame, options.limits)
            if var counter = JPEGScanCounter(header) { try counter.count(bytes, limit: scanLimit) }
            let (layout, profile) = Self.layout(header, plan, options)
            let settings = JPEGScanlineSource.Settings(
                layout: layout,
                colorProfile: profile,
                eighths: Self.eighths(for: plan, header.frame, options.scalingQuality),
                maximumScanCount: scanLimit,
                toleratesDamage: !options.refusesDamagedData,
                deadline: deadline
            )
            let source = try JPEGScanlineSource(bytes, header, settings)
            let image = try ImageAssembler.makeImage(
                from: TimedRows.limiting(source, to: deadline),
                properties: properties,
                plan: plan,
                options: options
            )
            guard source.isDamaged else { return image }
            var metadata = image.metadata
            metadata.isDamaged = true
            return image.with(metadata: metadata)
        }
    }

    /// Returns size and orientation of a file's beginning, without its colour profile: no C library is called, so it may be a file that only
    /// sandboxed processes decode.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` if the header is damaged or longer.
    package static func extent(of data: Data) throws(WebImageError) -> ImageProperties {
        let header = try JPEGHeader(data)
        var properties = ImageProperties(format: .jpeg, width: header.frame.width, height: header.frame.height)
        properties.orientation = header.orientation
        return properties
    }

    static func properties(_ header: JPEGHeader, _ limits: ImageLimits) -> ImageProperties {
        var properties = ImageProperties(format: .jpeg, width: header.frame.width, height: header.frame.height)
        properties.orientation = header.orientation
        properties.colorProfile = header.colorProfile.flatMap {
            ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount)
        }
        return properties
    }

    static func scanLimit(_ frame: JPEGHeader.Frame, _ limits: ImageLimits) -> Int {
        let pixels = frame.width * frame.height
        let limit = limits.maximumScanCount
        guard pixels > 16_000_000, limit > 32 else { return limit }
        return max(min(limit, Int(Double(limit) * 16_000_000 / Double(pixels))), 32)
    }

    /// Returns the decoder's output layout: the final pixels if they need no further work, otherwise the cheapest layout for the next step.
    static func layout(
        _ header: JPEGHeader,
        _ plan: DecodePlan,
        _ options: ImageDecodeOptions
    ) -> (ScanlineLayout, Data?) {
        let components = header.frame.sampling.count
        let stored: ScanlineLayout = components == 1 ? .gray8 : components == 4 ? .cmyk8 : .rgb8
        let transform = ColorTransform.shared(
            profile: header.colorProfile,
            layout: stored,
            limit: options.limits.maximumColorProfileByteCount
        )
        let isResized = plan.width != header.frame.width || plan.height != header.frame.height
        if transform != nil { return (stored, header.colorProfile) }
        if isResized || stored == .cmyk8 { return (stored, nil) }
        return (options.pixelFormat == .bgra8Premultiplied ? .bgra8Premultiplied : .rgb8, nil)
    }

    /// Returns the smallest scale, in eighths, that leaves the resampler enough detail. Only powers of two: libjpeg-turbo has no vector code for the
    /// scales between them, and decodes more slowly than at the next larger one.
    static func eighths(
        for plan: DecodePlan,
        _ frame: JPEGHeader.Frame,
        _ quality: ImageDecodeOptions.ScalingQuality
    ) -> Int {
        let factor = quality == .high ? 2 : 1
        for eighths in [1, 2, 4] {
            let width = (frame.width * eighths + 7) / 8
            let height = (frame.height * eighths + 7) / 8
            if width >= factor * plan.width, height >= factor * plan.height { return eighths }
        }
        return 8
    }
}

extension JPEGCoder: ProgressiveImageCoder {
    /// Returns whether the data starts like a JPEG. An arithmetic coded one is nevertheless decoded only at its end.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// A baseline image appears from the top down. An image with several scans appears as a whole once the first scan is complete, and improves with
    /// each. A preview of it costs about as much as decoding a baseline image of that size, without the entropy decoding.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalJPEG(options: options), coder: self, options: options)
    }
}
