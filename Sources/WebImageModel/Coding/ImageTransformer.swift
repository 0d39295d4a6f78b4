/// Makes an image from another image.
///
/// Called off the main thread, from several threads at once.
public protocol ImageTransformer: Sendable {
    /// The identifier of the kind of transform and all its parameters; becomes part of cache keys.
    var transformerKey: String { get }
    /// Indicates whether loop count, format, decode options and other metadata are copied from the source to the result, and its
    /// extended data if the result has none. True by default.
    var preservesImageMetadata: Bool { get }
    /// Indicates whether the transformer keeps the size of an image, and makes the same image (within rounding) whether the image is
    /// scaled down before or after it: mirroring does, a blur or rounded corners do not. Results of such transformers can be scaled down
    /// for loads of smaller sizes (``WebImageContext/sizeReuse``). False by default.
    var isSizeCovariant: Bool { get }
    /// Returns the transformed image.
    ///
    /// - Throws: ``WebImageError/Code/transformFailed``, or any error of the operations it uses.
    func transform(_ image: Image) throws(WebImageError) -> Image
    /// Estimates the peak memory that ``transform(_:)`` takes beside its input, and the size of its result; called before each
    /// transform while a ``DecodedMemoryBudget`` is active. A transformer that enlarges an image, or works in more than one copy,
    /// must implement it, or it exceeds the budget.
    ///
    /// By default, an image of the same size, and one copy.
    ///
    /// - Parameter input: the extent of the image; from its header, if it is not decoded yet.
    func memoryNeed(of input: ImageExtent) -> TransformMemoryNeed
}

extension ImageTransformer {
    /// True: metadata is copied.
    public var preservesImageMetadata: Bool { true }
    /// False: results are not scaled.
    public var isSizeCovariant: Bool { false }
}

extension ImageTransformer {
    /// Returns the result of ``transform(_:)`` as it is cached: with the metadata of the source if the transformer preserves it,
    /// and the source's extended data only if the result has none.
    ///
    /// - Throws: what the transformer throws.
    package func apply(to source: Image) throws(WebImageError) -> Image {
        let result = try transform(source)
        var metadata = preservesImageMetadata ? source.metadata : ImageMetadata()
        metadata.isTransformed = true
        // The result is a single image, whatever the file held.
        metadata.frameCount = 1
        metadata.loopCount = 0
        metadata.isVector = false
        // The caches need this flag.
        metadata.isDamaged = source.metadata.isDamaged
        if result.bitmap.pixelFormat != .rgbaHalfPremultiplied { metadata.isHighDynamicRange = false }
        return Image(
            bitmap: result.bitmap,
            scale: result.scale,
            orientation: result.orientation,
            metadata: metadata,
            decodeOptions: preservesImageMetadata ? source.decodeOptions : source.limitsOnly,
            extendedData: result.extendedData ?? (preservesImageMetadata ? source.extendedData : nil),
            memoryCost: result.memoryCost
        )
    }
}
