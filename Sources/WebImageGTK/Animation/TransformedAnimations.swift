import WebImage

/// A cache of animations whose frames are transformed when they are decoded: one for each animation and transformer key, so that views that
/// show the same one share its frames.
@MainActor
enum TransformedAnimations {
    private struct Key: Hashable {
        let animation: ObjectIdentifier
        let transform: String
    }

    private struct Entry {
        weak var animation: MappedAnimation?
    }

    private static var known: [Key: Entry] = [:]

    /// Returns the animation with its frames transformed on the thread that decodes them.
    static func animation(of base: AnimatedImage, by transformer: any ImageTransformer) -> any AnimatedImageProvider {
        let key = Key(animation: ObjectIdentifier(base), transform: transformer.transformerKey)
        // A live entry keeps its base alive, so no other object can have this identifier.
        if let animation = known[key]?.animation { return animation }
        let first = ImageExtent(frameOf: base)
        let animation = MappedAnimation(base, need: { transformer.memoryNeed(of: first) }) {
            (frame) throws(WebImageError) in try transformer.transform(frame)
        }
        known = known.filter { $0.value.animation != nil }
        known[key] = Entry(animation: animation)
        return animation
    }

    /// The number of animations that are in use.
    static var count: Int { known.values.count { $0.animation != nil } }
}
