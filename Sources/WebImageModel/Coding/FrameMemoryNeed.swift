/// An estimate of the memory that an animation takes for a frame, in bytes.
package struct FrameMemoryNeed: Sendable, Hashable {
    /// The bytes that the decoder keeps between frames: the canvas, or reference frames.
    package var keptByteCount: Int
    /// The additional bytes that making a frame takes, until it is complete.
    package var workingByteCount: Int
    /// The bytes of the frame itself.
    package var outputByteCount: Int

    package init(keptByteCount: Int, workingByteCount: Int, outputByteCount: Int) {
        self.keptByteCount = Self.bounded(keptByteCount)
        self.workingByteCount = Self.bounded(workingByteCount)
        self.outputByteCount = Self.bounded(outputByteCount)
    }

    /// Creates the need of frames that are decoded one by one, where `kept` is part of the working memory.
    package init(_ need: DecodeMemoryNeed, keeping kept: Int) {
        let kept = Self.bounded(kept)
        self.init(
            keptByteCount: kept,
            workingByteCount: max(Self.bounded(need.workingByteCount) - kept, 0),
            outputByteCount: need.outputByteCount
        )
    }

    /// Creates the need of frames that are decoded one by one, where `kept` is additional to the working memory.
    package init(_ need: DecodeMemoryNeed, keptBesides kept: Int) {
        self.init(
            keptByteCount: kept,
            workingByteCount: need.workingByteCount,
            outputByteCount: need.outputByteCount
        )
    }

    /// The bytes that one frame takes, without what is kept between frames.
    package var byteCount: Int { workingByteCount + outputByteCount }

    /// Clamps to a number that is above any limit, and small enough to be added up.
    private static func bounded(_ count: Int) -> Int { min(max(count, 0), 1 << 48) }
}

/// An animation that knows the memory need of its frames.
package protocol MeasuredAnimation: AnimatedImageProvider {
    /// The need of the most expensive frame; nil if it is not known.
    var frameMemoryNeed: FrameMemoryNeed? { get }
}

extension AnimatedImageProvider {
    /// Returns the memory need of a frame. For an animation that does not report one, the usual need: a canvas of the image's size,
    /// twice that for drawing, and the frame.
    ///
    /// - Parameter byteCount: the size of the biggest known frame.
    package func frameNeed(atLeast byteCount: Int = 0) -> FrameMemoryNeed {
        if var need = (self as? any MeasuredAnimation)?.frameMemoryNeed {
            if need != .nothing { need.outputByteCount = max(need.outputByteCount, byteCount) }
            return need
        }
        let still = (self as? AnimatedImage)?.image
        let frame = max(byteCount, still?.pixelByteCount ?? 0)
        let metadata = still?.metadata
        let (source, overflow) = (metadata?.sourceWidth ?? 0).multipliedReportingOverflow(
            by: metadata?.sourceHeight ?? 0
        )
        let canvas = max(overflow ? 1 << 46 : min(source, 1 << 46) * 4, frame)
        return FrameMemoryNeed(keptByteCount: canvas, workingByteCount: 2 * canvas, outputByteCount: frame)
    }
}

extension AnimatedImage: MeasuredAnimation {
    package var frameMemoryNeed: FrameMemoryNeed? {
        guard !isAllFramesLoaded else { return .nothing }
        return (provider as? any MeasuredAnimation)?.frameMemoryNeed
    }
}

extension ImageFrameSequence: MeasuredAnimation {
    package var frameMemoryNeed: FrameMemoryNeed? { .nothing }
}

extension FrameMemoryNeed {
    /// The need when all frames are already in memory.
    static let nothing = FrameMemoryNeed(keptByteCount: 0, workingByteCount: 0, outputByteCount: 0)
}
