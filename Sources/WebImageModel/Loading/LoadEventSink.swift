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
