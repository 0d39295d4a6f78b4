import WebImage

/// The timing of a running transition: pure arithmetic; the caller supplies the time.
struct RunningTransition: Sendable {
    let duration: Double
    let timing: WebImageTransition.Timing
    /// The time of the first frame; nil before it.
    private(set) var start: Double?
    private(set) var progress = 0.0
    private(set) var isOver = false

    init(_ transition: WebImageTransition) {
        duration = transition.duration.isFinite ? max(transition.duration, 0) : 0
        timing = transition.timing
        isOver = duration == 0
        if isOver { progress = 1 }
    }

    /// Advances to a frame time. The first call is the start, so a late first frame does not skip part of the transition.
    mutating func update(at seconds: Double) {
        guard !isOver, seconds.isFinite else { return }
        let start = start ?? seconds
        self.start = start
        let part = (seconds - start) / duration
        progress = WebImageTransition.progress(timing, at: part)
        isOver = part >= 1
    }
}
