/// Where a playing animation is, and what is to be done when time has passed. Pure: it holds numbers only.
///
/// No frame is ever skipped: when frames come late, the animation slows down.
struct AnimationPlayback: Sendable {
    enum Action: Sendable, Hashable {
        /// Show a frame, which is there.
        case show(Int)
        /// So many loops have been played.
        case loop(Int)
        /// All loops have been played, or nothing can move.
        case stop
    }

    var frameCount: Int
    /// 0 is for ever.
    var totalLoopCount: Int
    /// How fast, 1 is as the file says; 0 and less stop at the next tick.
    var rate = 1.0
    var mode = AnimationPlaybackMode.normal
    /// The frame that is shown, or is to be shown next if ``isPending``.
    private(set) var index = 0
    private(set) var loopCount = 0
    /// Whether the frame at ``index`` is to be shown and has not been.
    private(set) var isPending = true
    /// Seconds that the frame has been shown.
    private var time = 0.0
    /// In a mode that bounces: whether it goes back.
    private var goesBack = false

    init(frameCount: Int, totalLoopCount: Int) {
        self.frameCount = frameCount
        self.totalLoopCount = max(totalLoopCount, 0)
    }

    /// Begins or goes on. At the first frame, modes that run backwards begin at the last.
    mutating func start() {
        guard index == 0, mode == .reverse || mode == .reversedBounce, frameCount > 0 else { return }
        index = frameCount - 1
        goesBack = true
        isPending = true
    }

    /// Goes back to the beginning.
    mutating func reset() {
        (index, loopCount, time) = (0, 0, 0)
        (isPending, goesBack) = (true, false)
    }

    /// Goes to a frame. One that does not exist is ignored; false then.
    ///
    /// - Parameter isShown: whoever asks for this shows it; otherwise it is shown as soon as it is there.
    mutating func seek(to target: Int, loopCount: Int, isShown: Bool = true) -> Bool {
        guard (0..<frameCount).contains(target) else { return false }
        (index, self.loopCount) = (target, max(loopCount, 0))
        isPending = !isShown
        return true
    }

    /// The frame at ``index`` has been shown.
    mutating func noteShown() { isPending = false }

    /// The clock has gone on by so many seconds.
    ///
    /// - Parameters:
    ///   - duration: how long a frame is shown, in seconds.
    ///   - isThere: whether a frame can be shown now.
    /// - Returns: what is to be done, in this order; at most one frame is shown.
    mutating func tick(_ elapsed: Double, duration: (Int) -> Double, isThere: (Int) -> Bool) -> [Action] {
        guard frameCount > 1, rate > 0 else { return [.stop] }
        var actions: [Action] = []
        if isPending {
            // Its time begins when it is seen.
            guard isThere(index) else { return [] }
            isPending = false
            actions.append(.show(index))
        }
        if elapsed > 0 { time += elapsed }
        let shown = duration(index) / rate
        guard time >= shown - Self.tolerance else { return actions }
        let (following, back) = step(from: index, goesBack)
        // What is left over counts for the next frame, but never for more than one.
        time = min(time - shown, duration(following) / rate)
        (index, goesBack) = (following, back)
        isPending = true
        if following == 0 {
            if loopCount < .max { loopCount += 1 }
            actions.append(.loop(loopCount))
            if totalLoopCount > 0, loopCount >= totalLoopCount { actions.append(.stop) }
        }
        return actions
    }

    /// Clock readings are differences of big numbers: a frame must not stay for one more picture of the screen because of the last
    /// digits. In seconds.
    private static let tolerance = 1e-6

    /// Seconds until the frame's time is over; 0 when a frame waits to be shown.
    func remaining(duration: (Int) -> Double) -> Double {
        guard !isPending, rate > 0 else { return 0 }
        return max(duration(index) / rate - time, 0)
    }

    /// The frames that are needed next, the first one first, each once, at most `limit`.
    func upcoming(_ limit: Int) -> [Int] {
        guard frameCount > 0 else { return [] }
        var (position, back) = (index, goesBack)
        var result: [Int] = isPending ? [index] : []
        for _ in 0..<min(limit, frameCount) {
            guard result.count < limit else { break }
            (position, back) = step(from: position, back)
            if position != index || !isPending, !result.contains(position) { result.append(position) }
        }
        return result
    }

    /// The frame after one, and whether it goes back from there.
    private func step(from position: Int, _ goesBack: Bool) -> (index: Int, goesBack: Bool) {
        let last = frameCount - 1
        switch mode {
        case .normal: return (position >= last ? 0 : position + 1, false)
        case .reverse: return (position <= 0 ? last : position - 1, true)
        case .bounce, .reversedBounce:
            guard last > 0 else { return (0, false) }
            let back = position <= 0 ? false : position >= last ? true : goesBack
            return (back ? position - 1 : position + 1, back)
        }
    }
}
