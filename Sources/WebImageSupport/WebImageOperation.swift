/// Something under way that can be given up.
public protocol WebImageOperation: AnyObject, Sendable {
    /// Gives up. May be called from any thread, any number of times; has no effect once the operation has finished.
    /// The operation's completion is still called once, with a cancellation error where it has an error.
    func cancel()
    /// Whether ``cancel()`` was called before the operation finished.
    var isCancelled: Bool { get }
}
