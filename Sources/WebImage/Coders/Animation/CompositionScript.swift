/// What has to be done on a canvas to see a certain frame of an animation. Pure.
///
/// A frame shows on what the frames before it have left. Some frames need none of those, and drawing can begin at them: the
/// first one, one that follows a canvas that was cleared, one that hides everything.
struct CompositionScript: Sendable {
    /// Something to do with the canvas.
    enum Step: Sendable, Hashable {
        /// Make all of it transparent.
        case clear
        /// Draw a frame; with `saves`, keep what its rectangle held before.
        case draw(Int, saves: Bool)
        /// Make a frame's rectangle transparent.
        case erase(Int)
        /// Bring back what a frame's rectangle held before it was drawn.
        case restore(Int)
    }

    let width: Int
    let height: Int
    let frames: [AnimationFrame]
    /// Whether the canvas is transparent before a frame is drawn.
    private let startsClear: [Bool]

    init(width: Int, height: Int, frames: [AnimationFrame]) {
        self.width = width
        self.height = height
        self.frames = frames
        var startsClear: [Bool] = []
        startsClear.reserveCapacity(frames.count)
        for index in frames.indices {
            guard index > 0 else {
                startsClear.append(true)
                continue
            }
            let former = frames[index - 1]
            switch former.disposal {
            case .keep: startsClear.append(false)
            case .background: startsClear.append(former.covers(width: width, height: height))
            case .previous: startsClear.append(startsClear[index - 1])
            }
        }
        self.startsClear = startsClear
    }

    /// Whether no pixel of any frame as it is seen can be transparent.
    var isOpaque: Bool {
        guard let first = frames.first, first.isOpaque, first.covers(width: width, height: height) else { return false }
        // What is erased shows through unless the next frame hides it, which is rare enough not to be looked for; and the first
        // frame restored is the empty canvas.
        return first.disposal == .keep
            && frames.dropFirst().allSatisfy { $0.disposal != .background && ($0.isOpaque || !$0.replaces) }
    }

    /// The steps to the sight of a frame.
    ///
    /// - Parameter current: the frame that is seen now; nil when the canvas holds nothing of use.
    /// - Returns: none when it is seen already. Cost: as many as frames lie between it and the nearest one before it from which
    ///   drawing can begin, or the current one.
    func steps(to index: Int, from current: Int?) -> [Step] {
        guard frames.indices.contains(index), current != index else { return [] }
        var steps: [Step] = []
        let beginning = beginning(for: index)
        var last: Int
        if let current, current >= beginning, current < index {
            last = current
        } else {
            steps = [.clear, draw(beginning)]
            last = beginning
        }
        while last < index {
            switch frames[last].disposal {
            case .keep: break
            case .background: steps.append(.erase(last))
            case .previous: steps.append(.restore(last))
            }
            last += 1
            steps.append(draw(last))
        }
        return steps
    }

    /// The latest frame from which drawing can begin.
    private func beginning(for index: Int) -> Int {
        var candidate = index
        while candidate > 0, !canBegin(at: candidate) { candidate -= 1 }
        return candidate
    }

    private func canBegin(at candidate: Int) -> Bool {
        if startsClear[candidate] { return true }
        let frame = frames[candidate]
        // What a frame hides must be there if it is to come back.
        guard frame.disposal != .previous else { return false }
        return (frame.replaces || frame.isOpaque) && frame.covers(width: width, height: height)
    }

    private func draw(_ index: Int) -> Step { .draw(index, saves: frames[index].disposal == .previous) }
}
