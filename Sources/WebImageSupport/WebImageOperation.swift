/// A running operation that can be cancelled.
public protocol WebImageOperation: AnyObject, Sendable {
    /// Cancels the operation. May be called from any thread, any number of times; has no effect once the operation has finished.
    /// The operation's completion is still called once, with a cancellation error if it can deliver errors.
    func cancel()
    /// Indicates whether ``cancel()`` was called before the operation finished.
    var isCancelled: Bool { get }
}

/// Running work of a job, which can be cancelled and change its priority.
package protocol RunningWork: Sendable {
    func cancel()
    func setPriority(_ priority: LoadPriority)
}
