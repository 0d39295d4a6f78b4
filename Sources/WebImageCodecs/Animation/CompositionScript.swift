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
    /// For each frame, the latest one from which drawing can begin.
    private let beginnings: [Int]

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
        var beginnings: [Int] = []
        beginnings.reserveCapacity(frames.count)
        for index in frames.indices {
            let begins = startsClear[index] || frames[index].hidesAll(width: width, height: height)
            beginnings.append(begins ? index : beginnings[index - 1])
        }
        self.beginnings = beginnings
    }

    /// The latest frame from which drawing can begin to get to an existing one.
    func beginning(for index: Int) -> Int { beginnings[index] }

    /// Whether another frame is drawn on what is seen with this one.
    func isNeededLater(_ index: Int) -> Bool { index + 1 < frames.count && beginnings[index + 1] <= index }

    /// Whether frames bring back what they have hidden, which takes as much as a canvas again.
    var restores: Bool { frames.contains { $0.disposal == .previous } }

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
        let beginning = beginnings[index]
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

    private func draw(_ index: Int) -> Step { .draw(index, saves: frames[index].disposal == .previous) }
}

extension AnimationFrame {
    /// Whether nothing of what was there before shows through it, nor comes back after it.
    fileprivate func hidesAll(width: Int, height: Int) -> Bool {
        // What a frame hides must be there if it is to come back.
        disposal != .previous && (replaces || isOpaque) && covers(width: width, height: height)
    }
}
