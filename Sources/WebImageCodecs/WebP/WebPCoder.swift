public import FoundationEssentials

/// Decodes and encodes WebP, lossy and lossless, with alpha, ICC profile and EXIF orientation.
///
/// Of an animation the first frame is decoded, or the frames of ``animation(of:options:)``, on their canvas, and the properties tell
/// frames, durations and loops. For a
/// thumbnail the decoder scales down by itself as far as ``ImageDecodeOptions/scalingQuality`` lets it. What it must hold at
/// full size nevertheless, the pixels of a lossless picture, must fit into ``ImageLimits/maximumDecodedByteCount``. A file
/// that ends before the length it states is an error.
public struct WebPCoder: ImageCoder {
    /// A coder.
    public init() {}

    /// Whether the data starts as a RIFF file of type `WEBP`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .webp }

    /// What the chunks say. Steps through the headers of all frames, without reading pixels.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let container = try Self.container(of: data, limits: limits)
        try limits.check(frameCount: container.frameCount)
        return Self.properties(container, limits)
    }

    /// Decodes the picture, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        let container = try Self.container(of: data, limits: options.limits)
        let properties = Self.properties(container, options.limits)
        let plan = try DecodePlan.make(for: properties, options: options)
        try options.limits.check(decodedByteCount: container.decoderByteCount)
        let size = Self.decoderSize(for: plan, of: properties, isAnimated: container.frameCount > 1, options: options)
        let rows = WebPRowReader(
            data,
            container: container,
            width: size.width,
            height: size.height,
            limits: options.limits
        )
        return try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
    }

    /// The size the decoder scales to. Its averaging is all that `.fast` wants; `.high` leaves twice the size, at which
    /// the averaging costs no sharpness, to the filter after it. The first frame of an animation is not scaled by the decoder: it must
    /// look as it does when its turn comes again, and frames are scaled together with the canvas they lie on.
    static func decoderSize(
        for plan: DecodePlan,
        of properties: ImageProperties,
        isAnimated: Bool,
        options: ImageDecodeOptions
    ) -> (width: Int, height: Int) {
        let canvasByteCount = properties.width * properties.height * 4
        let hasCanvas = isAnimated && canvasByteCount <= options.limits.maximumDecodedByteCount
        if hasCanvas, !options.decodeFirstFrameOnly { return (properties.width, properties.height) }
        let factor = options.scalingQuality == .fast ? 1 : 2
        let scales = plan.width * factor < properties.width && plan.height * factor < properties.height
        return scales ? (plan.width * factor, plan.height * factor) : (properties.width, properties.height)
    }

    static func container(
        of data: Data,
        limits: ImageLimits,
        wantsFrames: Bool = false
    ) throws(WebImageError) -> WebPContainer {
        try data.withBytes { (bytes) throws(WebImageError) in
            try WebPContainer(bytes, limits: limits, wantsFrames: wantsFrames)
        }
    }

    static func properties(_ container: WebPContainer, _ limits: ImageLimits) -> ImageProperties {
        var properties = ImageProperties(format: .webp, width: container.width, height: container.height)
        properties.orientation = container.orientation
        properties.hasAlpha = container.hasAlpha
        properties.frameCount = max(container.frameCount, 1)
        properties.frameDurations = container.durations
        properties.loopCount = container.loopCount
        properties.colorProfile = container.colorProfile.flatMap {
            ColorProfile.name(of: $0, limit: limits.maximumColorProfileByteCount)
        }
        return properties
    }
}
