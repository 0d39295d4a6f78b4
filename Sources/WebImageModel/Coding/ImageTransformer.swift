/// Makes an image from an image.
///
/// Called off the main thread, from several threads at once.
public protocol ImageTransformer: Sendable {
    /// Identifies the kind of transform and all its parameters; becomes part of cache keys.
    var transformerKey: String { get }
    /// Whether loop count, format, decode options and the like are copied from the source to the result, and its extended data if
    /// the result has none. True by default.
    var preservesImageMetadata: Bool { get }
    /// The transformed image.
    ///
    /// - Throws: ``WebImageError/Code/transformFailed`` or what the work needed.
    func transform(_ image: Image) throws(WebImageError) -> Image
    /// What ``transform(_:)`` takes of memory at its peak beside its input, and what it makes; asked before each transform where a
    /// ``DecodedMemoryBudget`` is on. A transformer that makes a picture bigger, or works in more than one copy, must tell, or the budget
    /// is exceeded while it works.
    ///
    /// By default a picture of the same size, by way of a copy.
    ///
    /// - Parameter input: the picture; what is known of it from its header, if it is not decoded yet.
    func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed
}

extension ImageTransformer {
    /// True: metadata is copied.
    public var preservesImageMetadata: Bool { true }
}

extension ImageTransformer {
    /// The result of ``transform(_:)`` as it is kept: with what belongs to the picture it was made of if the transformer preserves
    /// that, extended data only if the result has none of its own.
    ///
    /// - Throws: what the transformer throws.
    package func apply(to source: Image) throws(WebImageError) -> Image {
        let result = try transform(source)
        var metadata = preservesImageMetadata ? source.metadata : ImageMetadata()
        metadata.isTransformed = true
        // What was made is one picture, whatever the file held.
        metadata.frameCount = 1
        metadata.loopCount = 0
        metadata.isVector = false
        // The caches have to know.
        metadata.isDamaged = source.metadata.isDamaged
        if result.bitmap.pixelFormat != .rgbaHalfPremultiplied { metadata.isHighDynamicRange = false }
        return Image(
            bitmap: result.bitmap,
            scale: result.scale,
            orientation: result.orientation,
            metadata: metadata,
            decodeOptions: preservesImageMetadata ? source.decodeOptions : source.limitsAlone,
            extendedData: result.extendedData ?? (preservesImageMetadata ? source.extendedData : nil),
            memoryCost: result.memoryCost
        )
    }
}
