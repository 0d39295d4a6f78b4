/// Receives what a downloader reports about a load.
package protocol LoadTelling: Sendable {
    /// Whether anybody observes; events need not be made otherwise.
    var isActive: Bool { get }
    /// The number of callers that the load has.
    var callerCount: Int { get }
    /// Passes an event on to the observers.
    func send(_ event: WebImageLoadEvent.Kind)
    /// Keeps the download, for callers that ask what is known of it.
    func hold(_ download: any ImageLoaderOperation)
    /// Counts another attempt.
    func countRetry()
}
