/// Selects the images that transformers are applied to. A transformer turns an animation or a vector image into a still bitmap,
/// so these are excluded unless requested.
struct TransformGate: Hashable, Sendable {
    /// True if animations are transformed.
    var transformsAnimations: Bool
    /// True if vector images are transformed.
    var transformsVectors: Bool

    /// The gate that admits every image.
    static let open = TransformGate(transformsAnimations: true, transformsVectors: true)

    /// Returns whether the chain is applied to an image.
    func admits(_ image: Image) -> Bool {
        (transformsAnimations || !image.metadata.isAnimated) && (transformsVectors || !image.metadata.isVector)
    }

    /// Returns whether the chain would have been applied to the source of a transformed image, which a load with other options may have left
    /// in a cache.
    func admits(transformed image: Image) -> Bool {
        admits(image) && (transformsVectors || !image.format.isVector)
    }
}

extension TransformGate {
    /// Creates the gate from the options of a load.
    ///
    /// - Parameter decodesFirstFrameOnly: True if this load decodes animations as still images.
    init(_ options: WebImageOptions, decodesFirstFrameOnly: Bool) {
        transformsAnimations = decodesFirstFrameOnly || options.contains(.transformAnimatedImage)
        transformsVectors = options.contains(.transformVectorImage)
    }
}
