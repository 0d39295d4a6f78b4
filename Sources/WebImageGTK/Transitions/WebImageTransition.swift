public import WebImage

/// How a picture that has been loaded takes the place of what a view shows.
///
/// It runs for pictures that took time to come: from a loader, or from disk unless the load said that it waits for that
/// (``WebImageOptions/queryDiskDataSync``, ``WebImageOptions/queryMemoryDataSync``). For those from memory only with
/// ``WebImageOptions/forceTransition``; never for previews; and not at all when the user has turned animations off (GTK's setting
/// `gtk-enable-animations`) or the view is not on the screen: then its end comes at once.
public struct WebImageTransition: Sendable {
    /// How time becomes progress.
    public enum Timing: Sendable, Hashable, CaseIterable {
        /// As fast at each moment.
        case linear
        /// Slow at first.
        case easeIn
        /// Slow at the end.
        case easeOut
        /// Slow at first and at the end. The default.
        case easeInOut
    }

    /// Draws a moment of it. Called on the main thread for each frame.
    public typealias Drawing = @MainActor @Sendable (_ moment: TransitionMoment) -> Void

    /// Seconds that it takes; 0.5 by default. Not finite or less than 0 counts as 0.
    public var duration: Double
    /// How time becomes progress.
    public var timing: Timing
    /// Whether setting the picture is left to ``completion``: meanwhile it is only drawn.
    public var avoidAutoSetImage = false
    /// Called on the main thread before it begins, with the view and what it will show.
    public var prepares: (@MainActor @Sendable (_ view: UnsafeMutableRawPointer, _ result: WebImageResult?) -> Void)?
    /// Draws each moment.
    public var draw: Drawing
    /// Called on the main thread, once, at its end: with false if what the view shows next, the end of the view, or its leaving the screen
    /// cut it short.
    public var completion: (@MainActor @Sendable (_ finished: Bool) -> Void)?

    /// A transition of one's own.
    ///
    /// - Parameters:
    ///   - duration: in seconds.
    ///   - timing: how time becomes progress.
    ///   - draw: draws each moment.
    public init(duration: Double = 0.5, timing: Timing = .easeInOut, draw: @escaping Drawing) {
        self.duration = duration
        self.timing = timing
        self.draw = draw
    }

    /// The part of the way after a part of the time, both 0...1.
    static func progress(_ timing: Timing, at time: Double) -> Double {
        let time = min(max(time, 0), 1)
        return switch timing {
        case .linear: time
        case .easeIn: time * time
        case .easeOut: time * (2 - time)
        case .easeInOut: time < 0.5 ? 2 * time * time : 1 - 2 * (1 - time) * (1 - time)
        }
    }
}
