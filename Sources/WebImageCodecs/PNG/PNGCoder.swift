public import FoundationEssentials

/// Decodes and encodes PNG.
///
/// Every colour type and bit depth, palettes and `tRNS` transparency, interlacing, 16 bits (rounded to 8, unless
/// ``ImageDecodeOptions/decodeToHDR`` keeps them), ICC profiles, code points (`cICP`, also those of high dynamic range), gamma and
/// primaries, EXIF orientation. Of an animated PNG the first frame is decoded, or the frames of ``animation(of:options:)``, on their
/// canvas, and the properties tell frames, durations and loops; a default image that is no part of the animation is for programs
/// that know no animations, and is seen only where there is none. Animations are always of 8 bits. Rows are decoded on demand, so
/// that the thumbnail of a big picture needs little memory;
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
    /// Frames are those that are there, whatever number the file states.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let header = try Self.header(of: data, limits: limits)
        var properties = Self.properties(header, data)
        try limits.check(frameCount: properties.frameCount)
        if header.color.coded == nil, header.color.profileName != nil,
            let rows = try? PNGRowReader(data, header: header, limits: limits)
        {
            properties.colorProfile = rows.profileName ?? properties.colorProfile
        }
        return properties
    }

    /// Decodes the picture, or the first frame of an animated one.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let header = try Self.header(of: data, limits: options.limits)
        var properties = Self.properties(header, data)
        let plan = try DecodePlan.make(for: properties, options: options)
        if let poster = header.poster, !poster.covers(width: header.width, height: header.height) {
            let image = try Self.composed(data, header, properties, options).frame(at: 0)
            return image.with(metadata: ImageAssembler.metadata(properties, plan, options))
        }
        let keepsWidePixels = options.keepsWidePixels && properties.isWide && properties.frameCount == 1
        let rows = try PNGRowReader(
            data,
            header: header,
            frame: header.poster,
            limits: options.limits,
            isWide: header.needsWideRows || keepsWidePixels
        )
        if header.color.coded == nil { properties.colorProfile = rows.profileName ?? properties.colorProfile }
        return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
    }

    static func header(of data: Data, limits: ImageLimits) throws(WebImageError) -> PNGHeader {
        try data.withBytes { (bytes) throws(WebImageError) in try PNGHeader(bytes, limits: limits) }
    }

    static func properties(_ header: PNGHeader, _ data: Data) -> ImageProperties {
        var properties = ImageProperties(format: .png, width: header.width, height: header.height)
        properties.hasAlpha = header.hasAlpha
        properties.bitsPerComponent = header.bitDepth == 16 ? 16 : 8
        properties.isHighDynamicRange = header.color.coded?.isHighDynamicRange == true
        properties.colorProfile = header.color.coded?.name ?? header.color.profileName
        let tag = header.exif.flatMap { range in
            data.withUnsafeBytes { EXIFOrientation.tag(block: UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
        properties.orientation = tag ?? header.xmpOrientation ?? .up
        let frames = header.animation.frames
        if let first = frames.first, !first.covers(width: header.width, height: header.height) {
            properties.hasAlpha = true
        }
        if frames.count > 1 {
            // With more frames than were read, the number says only that they are too many.
            properties.frameCount = frames.count + (header.animation.isCut ? 1 : 0)
            properties.frameDurations = frames.map(\.duration)
            properties.loopCount = header.animation.playCount
        }
        return properties
    }
}

extension PNGHeader {
    /// Whether colours have to be computed from the file's 16 bits: for high dynamic range, and where they are converted, since a steep
    /// curve makes steps of what was rounded before.
    var needsWideRows: Bool {
        if let coded = color.coded { return coded.needsWideRows(bitsPerComponent: bitDepth) }
        return bitDepth == 16 && color.isConverted(isGray: isGray)
    }
}
