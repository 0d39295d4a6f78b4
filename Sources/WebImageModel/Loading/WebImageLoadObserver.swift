/// An observer of all events of loads: set one as ``WebImageManager/observer``, or for one load as ``WebImageContext/observer``.
/// ``LoadRecording`` keeps the events and explains them.
///
/// While no load is observed, nothing is recorded and no clock is read.
public protocol WebImageLoadObserver: AnyObject, Sendable {
    /// Called for each event: in order and one at a time for each load, on any thread, without a lock being held. Must be quick:
    /// the load waits for it. It may cancel loads and start others.
    func loadDid(_ event: WebImageLoadEvent)
}

/// A receiver of a downloader's events about a load.
package protocol LoadEventSink: Sendable {
    /// Indicates whether the load has observers; without them no events need to be created.
    var isActive: Bool { get }
    /// The number of subscribers of the load.
    var callerCount: Int { get }
    /// Sends an event to the observers.
    func send(_ event: WebImageLoadEvent.Kind)
    /// Keeps the download, for callers that ask about it.
    func hold(_ download: any ImageLoaderOperation)
    /// Counts another attempt.
    func countRetry()
}
