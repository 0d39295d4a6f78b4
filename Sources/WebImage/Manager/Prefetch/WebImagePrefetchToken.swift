public import FoundationEssentials

/// A list given to a ``WebImagePrefetcher``.
public final class WebImagePrefetchToken: WebImageOperation {
    /// The list.
    public var urls: [URL] { list.urls }
    private let list: PrefetchList
    /// Nil for an empty list, of which there is nothing to be stopped.
    private let id: PrefetchBook.ListID?
    private let core: PrefetchCore

    init(list: PrefetchList, id: PrefetchBook.ListID?, core: PrefetchCore) {
        self.list = list
        self.id = id
        self.core = core
    }

    /// How far the list is.
    public var progress: PrefetchProgress { list.progress }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool { progress.isCancelled }

    /// Gives up what is not through: URLs that wait are not begun, loads that run are cancelled. The completion is called
    /// with ``PrefetchProgress/isCancelled`` set.
    public func cancel() { if let id { core.cancel(id) } }

    /// Makes the list more or less urgent: what waits, and what runs.
    public func setPriority(_ priority: LoadPriority) { if let id { core.setPriority(priority, of: id) } }
}
