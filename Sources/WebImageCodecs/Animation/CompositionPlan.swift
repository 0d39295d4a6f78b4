/// Plans the drawing steps that make a canvas show a given frame. A pure value, without pixels.
///
/// A frame is drawn over the result of the frames before it. Drawing can begin at a frame that does not depend on earlier ones: the first one, one
/// that follows a cleared canvas, one that covers everything.
struct CompositionPlan: Sendable {
    /// A drawing step.
    enum Step: Sendable, Hashable {
        /// Makes the whole canvas transparent.
        case clear
        /// Draws a frame; with `saves`, keeps the covered pixels.
        case draw(Int, saves: Bool)
        /// Makes a frame's rectangle transparent.
        case erase(Int)
        /// Restores the pixels that a frame has covered.
        case restore(Int)
    }

    let width: Int
    let height: Int
    let frames: [AnimationFrame]
    /// For each frame, whether the canvas is transparent before it is drawn.
    private let startsClear: [Bool]
    /// For each frame, the latest frame from which drawing can begin.
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

    /// Returns whether this plan begins with the frames of another one, so that both show the same canvas at each of them.
    func continues(_ other: CompositionPlan) -> Bool {
        width == other.width && height == other.height && restores == other.restores
            && frames.starts(with: other.frames)
    }

    /// Returns the latest frame from which drawing of an existing frame can begin.
    func beginning(for index: Int) -> Int { beginnings[index] }

    /// Returns whether another frame is drawn over this one's result.
    func isNeededLater(_ index: Int) -> Bool { index + 1 < frames.count && beginnings[index + 1] <= index }

    /// A Boolean value that indicates whether any frame restores the pixels that it has covered, which needs up to a second canvas of
    /// memory.
    var restores: Bool { frames.contains { $0.disposal == .previous } }

    /// A Boolean value that indicates whether every frame as shown is opaque.
    var isOpaque: Bool {
        guard let first = frames.first, first.isOpaque, first.covers(width: width, height: height) else { return false }
        // An erased rectangle shows through unless the next frame covers it; that case is too rare to check. Restoring after the first frame gives
        // the empty canvas.
        return first.disposal == .keep
            && frames.dropFirst().allSatisfy { $0.disposal != .background && ($0.isOpaque || !$0.replaces) }
    }

    /// Returns the steps to show a frame.
    ///
    /// - Parameter current: the frame that the canvas shows; nil when it holds nothing usable.
    /// - Returns: none when the frame is already shown. Cost: proportional to the frames between it and the current one or the nearest one before it
    ///   from which drawing can begin.
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
    /// Returns whether nothing of the earlier canvas shows through the frame or is restored after it.
    fileprivate func hidesAll(width: Int, height: Int) -> Bool {
        // A frame that restores needs the pixels below it.
        disposal != .previous && (replaces || isOpaque) && covers(width: width, height: height)
    }
}
