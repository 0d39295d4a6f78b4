/// The position of a playing animation, and the actions due after a time step. Pure logic; it holds only numbers.
///
/// No frame is skipped for being late: the animation slows down. Only frames that failed, or do not fit a memory budget, are left out.
struct AnimationPlayback: Sendable {
    enum Action: Sendable, Hashable {
        /// Show a decoded frame.
        case show(Int)
        /// A loop has ended; the number of loops played so far.
        case loop(Int)
        /// All loops have been played, or the animation cannot move.
        case stop
    }

    var frameCount: Int
    /// The number of times to play; 0 is forever.
    var totalLoopCount: Int
    /// The speed; 1 is the file's own. 0 or less stops at the next tick.
    var rate = 1.0
    var mode = AnimationPlaybackMode.normal
    /// The index of the frame that is shown, or that is next if ``isPending``.
    private(set) var index = 0
    private(set) var loopCount = 0
    /// True until the frame at ``index`` has been shown.
    private(set) var isPending = true
    /// The seconds for which the frame has been shown.
    private var time = 0.0
    /// True while a bouncing mode runs backwards.
    private var goesBack = false

    init(frameCount: Int, totalLoopCount: Int) {
        self.frameCount = frameCount
        self.totalLoopCount = max(totalLoopCount, 0)
    }

    /// Starts or resumes. At the first frame, backward modes start at the last.
    mutating func start() {
        guard index == 0, mode == .reverse || mode == .reversedBounce, frameCount > 0 else { return }
        index = frameCount - 1
        goesBack = true
        isPending = true
    }

    /// Returns to the beginning.
    mutating func reset() {
        (index, loopCount, time) = (0, 0, 0)
        (isPending, goesBack) = (true, false)
    }

    /// Seeks to a frame. Returns false, and changes nothing, if it is out of range.
    ///
    /// - Parameter isShown: True if the caller shows the frame itself; otherwise it is shown once decoded.
    mutating func seek(to target: Int, loopCount: Int, isShown: Bool = true) -> Bool {
        guard (0..<frameCount).contains(target) else { return false }
        (index, self.loopCount) = (target, max(loopCount, 0))
        isPending = !isShown
        return true
    }

    /// Marks the frame at ``index`` as shown.
    mutating func noteShown() { isPending = false }

    /// Advances the clock by a number of seconds.
    ///
    /// - Parameters:
    ///   - duration: Returns how long a frame is shown, in seconds.
    ///   - isThere: Returns whether a frame can be shown now.
    /// - Returns: The actions to perform, in this order; at most one frame is shown.
    mutating func tick(_ elapsed: Double, duration: (Int) -> Double, isThere: (Int) -> Bool) -> [Action] {
        guard frameCount > 1, rate > 0 else { return [.stop] }
        var actions: [Action] = []
        if isPending {
            // A frame's time starts when it is shown.
            guard isThere(index) else { return [] }
            isPending = false
            actions.append(.show(index))
        }
        if elapsed > 0 { time += elapsed }
        let shown = duration(index) / rate
        guard time >= shown - Self.tolerance else { return actions }
        let (following, back) = step(from: index, goesBack)
        // Surplus time counts for the next frame, but never for more than one.
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

    /// The tolerance, in seconds, when durations are compared. Clock readings are differences of large numbers; a rounding error
    /// must not delay a frame by a whole screen refresh.
    private static let tolerance = 1e-6

    /// Returns the seconds until the frame's time is over; 0 while a frame is pending.
    func remaining(duration: (Int) -> Double) -> Double {
        guard !isPending, rate > 0 else { return 0 }
        return max(duration(index) / rate - time, 0)
    }

    /// Returns the frames that are needed next, in order and without repetition, at most `limit`.
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

    /// Returns the frame after one, and whether playback runs backwards from there.
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

/// The order in which the frames of an animation are shown.
public enum AnimationPlaybackMode: Int, Sendable, Hashable, CaseIterable {
    /// 0 1 2 0 1 2 …
    case normal = 0
    /// 2 1 0 2 1 0 …
    case reverse = 1
    /// 0 1 2 1 0 1 …; one loop runs there and back.
    case bounce = 2
    /// 2 1 0 1 2 1 …; one loop runs there and back.
    case reversedBounce = 3
}

/// The memory limit of decoded frames.
enum AnimationBudget {
    /// Returns the bytes of frames that a limit stands for; 0 derives them from the available memory.
    static func byteCount(_ limit: Int, memory: SystemMemory) -> Int { limit > 0 ? limit : automatic(memory) }

    private static func automatic(_ memory: SystemMemory) -> Int {
        let shares = [memory.usableBytes.map { $0 / 5 }, memory.availableBytes.map { $0 / 5 * 3 }]
        // 64 MiB if neither is known.
        return shares.compactMap(\.self).min() ?? 64 << 20
    }
}

/// A source of ticks, such as a widget's frame clock or a timer, called before the screen is drawn.
public protocol AnimationDisplayLink: AnyObject {
    /// Starts calling `tick`, on the player's thread, each time before the screen is drawn.
    ///
    /// - Parameter tick: Takes the time in seconds since any fixed moment; it never decreases.
    func start(_ tick: @escaping (_ seconds: Double) -> Void)

    /// Stops the calls. May be called within one, and when stopped already.
    func stop()
}
