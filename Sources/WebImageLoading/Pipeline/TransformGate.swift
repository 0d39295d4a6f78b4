/// Which pictures transformers are applied to: a transformer makes a still bitmap of an animation or a drawing, so those are
/// left alone unless that is asked for.
struct TransformGate: Hashable, Sendable {
    /// Whether animations are transformed.
    var transformsAnimations: Bool
    /// Whether vector images are transformed.
    var transformsVectors: Bool

    /// Everything is transformed.
    static let open = TransformGate(transformsAnimations: true, transformsVectors: true)

    /// Whether the chain is applied to an image.
    func admits(_ image: Image) -> Bool {
        (transformsAnimations || !image.metadata.isAnimated) && (transformsVectors || !image.metadata.isVector)
    }
}

extension TransformGate {
    /// What the options of a load say.
    ///
    /// - Parameter decodesFirstFrameOnly: whether animations are still pictures to this load.
    init(_ options: WebImageOptions, decodesFirstFrameOnly: Bool) {
        transformsAnimations = decodesFirstFrameOnly || options.contains(.transformAnimatedImage)
        transformsVectors = options.contains(.transformVectorImage)
    }
}
