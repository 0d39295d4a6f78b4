public import FoundationEssentials

/// Decodes and encodes PNG.
///
/// Supported: every colour type and bit depth, palettes and `tRNS` transparency, interlacing, 16 bits (rounded to 8, unless
/// ``ImageDecodeOptions/decodeToHDR`` keeps them), ICC profiles, code points (`cICP`, also those of high dynamic range), gamma and primaries, EXIF
/// orientation. Rows are decoded on demand, so the thumbnail of a large image needs little memory. An interlaced image has to be decoded as a whole,
/// and must fit into ``ImageLimits/maximumDecodedByteCount``.
///
/// Of an animated PNG the first frame is decoded, or the frames of ``animation(of:options:)``, on their canvas; the properties include frame count,
/// durations and loop count. A default image that is not part of the animation is meant for programs without animation support, and is only used if
/// there is no animation. Animations always have 8 bits.
///
/// Incomplete pixels and wrong checksums are an error. Chunks after the pixels may be missing.
public struct PNGCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts with the eight bytes of PNG's signature.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .png }

    /// Reads the properties from all chunks, without reading pixels.
    ///
    /// The frame count is the number of frames found, whatever number the file states.
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

    /// Decodes the image, or the first frame of an animation.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let header = try Self.header(of: data, limits: options.limits)
        var properties = Self.properties(header, data)
        let plan = try DecodePlan.make(for: properties, options: options)
        if let poster = header.poster, !poster.covers(width: header.width, height: header.height) {
            let image = try Self.composed(data, header, properties, options).frame(at: 0)
            return image.with(metadata: ImageAssembler.metadata(properties, plan, options))
        }
        let keepsHighBitDepth = options.keepsHighBitDepth && properties.isHighBitDepth && properties.frameCount == 1
        let rows = try PNGRowReader(
            data,
            header: header,
            frame: header.poster,
            limits: options.limits,
            isHighBitDepth: header.needsHighBitDepthRows || keepsHighBitDepth
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
            // If there are more frames than were read, the count only indicates that there are too many.
            properties.frameCount = frames.count + (header.animation.isCut ? 1 : 0)
            properties.frameDurations = frames.map(\.duration)
            properties.loopCount = header.animation.playCount
        }
        return properties
    }
}

extension PNGHeader {
    /// A Boolean value that indicates whether colours have to be computed from the file's 16 bits: for high dynamic range, and for colour conversion,
    /// since a steep curve would turn rounding into visible steps.
    var needsHighBitDepthRows: Bool {
        if let coded = color.coded { return coded.needsHighBitDepthRows(bitsPerComponent: bitDepth) }
        return bitDepth == 16 && color.isConverted(isGray: isGray)
    }
}

extension PNGCoder: ProgressiveImageCoder {
    /// Returns whether the data starts with the eight bytes of PNG's signature.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down; an interlaced image appears as a whole early, first in blocks. Of an animation the first frame appears, unless
    /// it differs from the default image for programs without animation support. All rows are kept until the end, at full size also for a thumbnail:
    /// an image that exceeds ``ImageLimits/maximumDecodedByteCount`` this way has no previews.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalPNG(options: options), coder: self, options: options)
    }
}
