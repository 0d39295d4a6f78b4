import WebImage

/// Animations whose frames are transformed when they are shown: one for each animation and kind of transform, so that views that show the
/// same share their frames.
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

    /// The frames of an animation, transformed on the thread that decodes them.
    static func animation(of base: AnimatedImage, by transformer: any ImageTransformer) -> any AnimatedImageProvider {
        let key = Key(animation: ObjectIdentifier(base), transform: transformer.transformerKey)
        // As long as there is one it keeps its base, so nothing else has that identity.
        if let animation = known[key]?.animation { return animation }
        let first = ImageExtent(frameOf: base)
        let animation = MappedAnimation(base, need: { transformer.memoryNeed(of: first) }) {
            (frame) throws(WebImageError) in try transformer.transform(frame)
        }
        known = known.filter { $0.value.animation != nil }
        known[key] = Entry(animation: animation)
        return animation
    }

    /// Those that are in use.
    static var count: Int { known.values.count { $0.animation != nil } }
}
