package import FoundationEssentials

/// An animation whose frames are made of those of another, each when it is asked for.
package final class MappedAnimation: GradualAnimation {
    let base: any AnimatedImageProvider
    /// What making one frame of another takes; nil when nobody knows.
    let need: (@Sendable () -> TransformMemoryNeed)?
    private let body: @Sendable (Image) throws(WebImageError) -> Image

    /// - Parameters:
    ///   - need: what making one frame of another takes; nil when nobody knows.
    ///   - body: makes a frame, on the thread that asks for it; must make the same of the same frame.
    package init(
        _ base: any AnimatedImageProvider,
        need: (@Sendable () -> TransformMemoryNeed)? = nil,
        _ body: @escaping @Sendable (Image) throws(WebImageError) -> Image
    ) {
        self.base = base
        self.need = need
        self.body = body
    }

    /// Nil: the encoded animation is another.
    package var animatedImageData: Data? { nil }
    package var frameCount: Int { base.frameCount }
    package var loopCount: Int { base.loopCount }
    package func duration(at index: Int) -> Double { base.duration(at: index) }
    package func frame(at index: Int) throws(WebImageError) -> Image { try body(try base.frame(at: index)) }
    package func releaseDecoder() { base.releaseDecoder() }

    package var decoder: any AnimatedImageProvider { base.frameDecoder }

    package func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        guard let frame = try base.partOfFrame(at: index, while: goesOn) else { return nil }
        return try body(frame)
    }

    package func beginPlaying() { (base as? any GradualAnimation)?.beginPlaying() }
    package func endPlaying() { (base as? any GradualAnimation)?.endPlaying() }
}

extension AnimatedImage {
    /// The animation with each frame made into another when it is asked for.
    ///
    /// - Parameters:
    ///   - first: what became of the first one.
    ///   - need: what making one frame of another takes; nil when nobody knows.
    package func mapped(
        first: Image,
        need: (@Sendable () -> TransformMemoryNeed)? = nil,
        _ body: @escaping @Sendable (Image) throws(WebImageError) -> Image
    ) -> AnimatedImage {
        AnimatedImage(provider: MappedAnimation(self, need: need, body), first: first)
    }
}

extension MappedAnimation: MeasuredAnimation {
    /// Where nobody knows what a frame is made into it is as much as there was, by way of a copy.
    package var frameMemoryNeed: FrameMemoryNeed? {
        guard var need = (base as? any MeasuredAnimation)?.frameMemoryNeed else { return nil }
        let frame = max(need.outputByteCount, base.frameNeed().outputByteCount)
        let made = self.need?()
        need.workingByteCount = max(need.workingByteCount, made?.workingByteCount ?? frame) + frame
        need.outputByteCount = made?.output.byteCount ?? frame
        return need
    }
}
