public import WebImage

/// The way a view replaces its content with a loaded image.
///
/// A transition runs for images that arrive asynchronously: from a loader, or from disk unless the load reads it synchronously
/// (``WebImageOptions/queryDiskDataSync``, ``WebImageOptions/queryMemoryDataSync``). Images from memory use it only with
/// ``WebImageOptions/forceTransition``, previews never. If the user has turned animations off (GTK's setting `gtk-enable-animations`) or
/// the view is not on the screen, it does not run, and its end is reported at once.
public struct WebImageTransition: Sendable {
    /// The timing function.
    public enum Timing: Sendable, Hashable, CaseIterable {
        /// Constant speed.
        case linear
        /// Slow at the start.
        case easeIn
        /// Slow at the end.
        case easeOut
        /// Slow at the start and at the end. The default.
        case easeInOut
    }

    /// Draws one step of a transition. Called on the main thread for each frame.
    public typealias Drawing = @MainActor @Sendable (_ moment: TransitionMoment) -> Void

    /// The duration in seconds; 0.5 by default. Negative values and values that are not finite count as 0.
    public var duration: Double
    /// The timing function.
    public var timing: Timing
    /// A Boolean value that indicates whether ``completion`` sets the image, which the transition then only draws.
    public var avoidAutoSetImage = false
    /// Called on the main thread before the transition starts, with the view and its new content.
    public var prepares: (@MainActor @Sendable (_ view: UnsafeMutableRawPointer, _ result: WebImageResult?) -> Void)?
    /// Draws each step.
    public var draw: Drawing
    /// Called once on the main thread at the end: with false if other content, the destruction of the view or its leaving the screen cut
    /// the transition short.
    public var completion: (@MainActor @Sendable (_ finished: Bool) -> Void)?

    /// Creates a custom transition.
    ///
    /// - Parameters:
    ///   - duration: the duration in seconds.
    ///   - timing: the timing function.
    ///   - draw: draws each step.
    public init(duration: Double = 0.5, timing: Timing = .easeInOut, draw: @escaping Drawing) {
        self.duration = duration
        self.timing = timing
        self.draw = draw
    }

    /// Returns the progress at a time, both 0...1.
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
