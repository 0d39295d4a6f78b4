/// Shows in a view that a picture is being loaded. For the main thread.
///
/// ``ActivityIndicator``, ``ProgressIndicator`` and ``WidgetIndicator`` are there to be used. An indicator has the state of one view, so
/// each view needs one of its own.
@MainActor
public protocol WebImageIndicator: AnyObject {
    /// A load has begun, or one that is under way is this indicator's from now on. Called for each of the view's loads, so also while it
    /// is shown already.
    ///
    /// - Parameter view: whose load it is. Not to be kept.
    func startAnimating(in view: UnsafeMutableRawPointer)

    /// A part of the picture has come.
    ///
    /// - Parameter progress: 0...1; 0 when the length is not known.
    func updateProgress(_ progress: Double)

    /// No load is under way any more, or the view has another indicator now. May be called when nothing was begun.
    func stopAnimating()
}

/// An indicator that shows itself some time after the load has begun.
@MainActor
protocol DelayedIndicator: WebImageIndicator {
    /// Whether the time has passed.
    var isVisible: Bool { get }
    /// Shows it before its time, if a load is under way.
    func show()
}
