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
}

extension ImageTransformer {
    /// True: metadata is copied.
    public var preservesImageMetadata: Bool { true }
}

extension Image {
    /// The image with what belongs to the picture that it was made of; extended data only if it has none of its own.
    func inheriting(from source: Image) -> Image {
        Image(
            bitmap: bitmap,
            scale: scale,
            orientation: orientation,
            metadata: source.metadata,
            decodeOptions: source.decodeOptions,
            extendedData: extendedData ?? source.extendedData,
            memoryCost: memoryCost
        )
    }
}
