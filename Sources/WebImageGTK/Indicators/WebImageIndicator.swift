/// Shows in a view that a picture is being loaded. For the main thread.
@MainActor
public protocol WebImageIndicator: AnyObject {
    /// A load has begun.
    ///
    /// - Parameter view: whose load it is. Not to be kept.
    func startAnimating(in view: UnsafeMutableRawPointer)

    /// A part of the picture has come.
    ///
    /// - Parameter progress: 0...1; 0 when the length is not known.
    func updateProgress(_ progress: Double)

    /// The load has ended, or the view has another indicator now.
    func stopAnimating()
}
