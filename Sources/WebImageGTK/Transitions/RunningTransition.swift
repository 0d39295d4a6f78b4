import WebImage

/// A transition under way: numbers only, told the time from outside.
struct RunningTransition: Sendable {
    let duration: Double
    let timing: WebImageTransition.Timing
    /// When the first frame was drawn; nil before it.
    private(set) var start: Double?
    private(set) var progress = 0.0
    private(set) var isOver = false

    init(_ transition: WebImageTransition) {
        duration = transition.duration.isFinite ? max(transition.duration, 0) : 0
        timing = transition.timing
        isOver = duration == 0
        if isOver { progress = 1 }
    }

    /// Goes on to a reading of the clock. The first one is the beginning, so a frame that came late shows nothing halfway.
    mutating func update(at seconds: Double) {
        guard !isOver, seconds.isFinite else { return }
        let start = start ?? seconds
        self.start = start
        let part = (seconds - start) / duration
        progress = WebImageTransition.progress(timing, at: part)
        isOver = part >= 1
    }
}
