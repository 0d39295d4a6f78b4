/// Indicates in a view that an image is being loaded. For the main thread.
///
/// ``ActivityIndicator``, ``ProgressIndicator`` and ``WidgetIndicator`` are ready-made implementations. An indicator holds the state of one
/// view, so each view needs a separate one.
@MainActor
public protocol WebImageIndicator: AnyObject {
    /// Called when a load has begun, or when the indicator is set during a load. Called for each load of the view, so also while it is
    /// visible already.
    ///
    /// - Parameter view: the view that is loading. Must not be retained.
    func startAnimating(in view: UnsafeMutableRawPointer)

    /// Called when part of the image has arrived.
    ///
    /// - Parameter progress: 0...1; 0 if the total size is unknown.
    func updateProgress(_ progress: Double)

    /// Called when no load is in progress any more, or the view has another indicator. May be called without a preceding start.
    func stopAnimating()
}

/// An indicator that is shown some time after a load has begun.
@MainActor
protocol DelayedIndicator: WebImageIndicator {
    /// True once the delay has passed.
    var isVisible: Bool { get }
    /// Shows the indicator before the delay has passed, if a load is in progress.
    func show()
}
