package import FoundationEssentials

/// An animation that transforms the frames of another, each on request.
package final class MappedAnimation: StepwiseAnimation {
    let base: any AnimatedImageProvider
    /// Returns the memory cost of transforming one frame; nil if unknown.
    let need: (@Sendable () -> TransformMemoryNeed)?
    private let body: @Sendable (Image) throws(WebImageError) -> Image

    /// - Parameters:
    ///   - need: the memory cost of transforming one frame; nil if unknown.
    ///   - body: transforms a frame, on the thread that requests it; must be deterministic.
    package init(
        _ base: any AnimatedImageProvider,
        need: (@Sendable () -> TransformMemoryNeed)? = nil,
        _ body: @escaping @Sendable (Image) throws(WebImageError) -> Image
    ) {
        self.base = base
        self.need = need
        self.body = body
    }

    /// Nil: the encoded data is that of the other animation.
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

    package func beginPlaying() { (base as? any StepwiseAnimation)?.beginPlaying() }
    package func endPlaying() { (base as? any StepwiseAnimation)?.endPlaying() }
}

extension AnimatedImage {
    /// Returns the animation with each frame transformed on request.
    ///
    /// - Parameters:
    ///   - first: the transformed first frame.
    ///   - need: the memory cost of transforming one frame; nil if unknown.
    package func mapped(
        first: Image,
        need: (@Sendable () -> TransformMemoryNeed)? = nil,
        _ body: @escaping @Sendable (Image) throws(WebImageError) -> Image
    ) -> AnimatedImage {
        AnimatedImage(provider: MappedAnimation(self, need: need, body), first: first)
    }
}

extension MappedAnimation: MeasuredAnimation {
    /// The memory cost of a frame. If the cost of the transform is unknown, it counts as a result of the same size and a copy.
    package var frameMemoryNeed: FrameMemoryNeed? {
        guard var need = (base as? any MeasuredAnimation)?.frameMemoryNeed else { return nil }
        let frame = max(need.outputByteCount, base.frameNeed().outputByteCount)
        let made = self.need?()
        need.workingByteCount = max(need.workingByteCount, made?.workingByteCount ?? frame) + frame
        need.outputByteCount = made?.output.byteCount ?? frame
        return need
    }
}
