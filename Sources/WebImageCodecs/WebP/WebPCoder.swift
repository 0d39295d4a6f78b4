public import FoundationEssentials

/// Decodes and encodes WebP, lossy and lossless, with alpha, ICC profile and EXIF orientation.
///
/// Of an animation the first frame is decoded, or the frames of ``animation(of:options:)``, on their canvas; the properties include frame count,
/// durations and loop count. For a thumbnail the decoder scales down as far as ``ImageDecodeOptions/scalingQuality`` allows. The pixels of a lossless
/// image are always decoded at full size, and must fit into ``ImageLimits/maximumDecodedByteCount``. A file that ends before the length it states is
/// an error. A lossy image of half a megapixel or more is decoded by two threads while a processor is idle.
public struct WebPCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    /// Returns whether the data starts as a RIFF file of type `WEBP`.
    public func canDecode(_ data: Data) -> Bool { ImageFormat(detecting: data) == .webp }

    /// Reads the properties from the chunks and the headers of all frames, without reading pixels.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        let container = try Self.container(of: data, limits: limits)
        try limits.check(frameCount: container.frameCount)
        return Self.properties(container, limits)
    }

    /// Decodes the image, or the first frame.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
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

    /// Returns the size to which the decoder scales. With `.fast` its averaging does all the scaling. With `.high` it scales to twice the size, where
    /// averaging costs no sharpness, and the filter does the rest. The decoder does not scale the first frame of an animation: it must look the same
    /// in every loop, and frames are scaled together with their canvas.
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

extension WebPCoder: ProgressiveImageCoder {
    /// Returns whether the data starts as a RIFF file of type `WEBP`.
    public func canDecodeIncrementally(_ data: Data) -> Bool { canDecode(data) }

    /// Creates an incremental decoder.
    ///
    /// Rows appear from the top down; of an animation those of the first frame. If the EXIF block follows the pixels, as the format requires,
    /// previews are not rotated upright. A lossless image is decoded in steps of at least 32 rows: its decoder goes back to the last complete row.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        IncrementalImageDecoder(IncrementalWebP(options: options), coder: self, options: options)
    }
}
