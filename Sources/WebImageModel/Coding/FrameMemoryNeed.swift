/// What an animation takes of memory for a frame, in bytes, as far as that is known.
package struct FrameMemoryNeed: Sendable, Hashable {
    /// What its decoder keeps from one frame to the next: the canvas, or frames that others are made of.
    package var keptByteCount: Int
    /// What making a frame takes besides, until the frame is there.
    package var workingByteCount: Int
    /// The frame itself.
    package var outputByteCount: Int

    package init(keptByteCount: Int, workingByteCount: Int, outputByteCount: Int) {
        self.keptByteCount = Self.bounded(keptByteCount)
        self.workingByteCount = Self.bounded(workingByteCount)
        self.outputByteCount = Self.bounded(outputByteCount)
    }

    /// Of frames that are decoded one by one, of which some of the work stays.
    package init(_ need: DecodeMemoryNeed, keeping kept: Int) {
        let kept = Self.bounded(kept)
        self.init(
            keptByteCount: kept,
            workingByteCount: max(Self.bounded(need.workingByteCount) - kept, 0),
            outputByteCount: need.outputByteCount
        )
    }

    /// Of frames that are decoded one by one, beside what is kept for the next ones.
    package init(_ need: DecodeMemoryNeed, keptBesides kept: Int) {
        self.init(
            keptByteCount: kept,
            workingByteCount: need.workingByteCount,
            outputByteCount: need.outputByteCount
        )
    }

    /// What one frame takes, without what is kept.
    package var byteCount: Int { workingByteCount + outputByteCount }

    /// More than any limit, and little enough to be added up.
    private static func bounded(_ count: Int) -> Int { min(max(count, 0), 1 << 48) }
}

/// An animation that knows what its frames take.
package protocol MeasuredAnimation: AnimatedImageProvider {
    /// Of the frame that takes most; nil when it does not know after all.
    var frameMemoryNeed: FrameMemoryNeed? { get }
}

extension AnimatedImageProvider {
    /// What a frame takes; of an animation that does not tell, as much as most take: a canvas of the picture's size, what is drawn on it,
    /// twice, and the frame.
    ///
    /// - Parameter byteCount: of the biggest frame that is known.
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
    /// All frames are in memory already.
    static let nothing = FrameMemoryNeed(keptByteCount: 0, workingByteCount: 0, outputByteCount: 0)
}
