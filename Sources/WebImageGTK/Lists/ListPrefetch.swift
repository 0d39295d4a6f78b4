import FoundationEssentials
import WebImage

/// The loads of a list without a bound cell: prefetches, and loads of cells that were just unbound.
@MainActor
final class ListPrefetch {
    /// Loads by URL. A finished load stays until its URL is not wanted any more, so that it is not started again.
    private var loads: [URL: WebImageLoadOperation] = [:]

    isolated deinit { cancelAll() }

    /// The URLs that are loading, or have finished and are still wanted.
    var urls: Set<URL> { Set(loads.keys) }

    /// Starts a load, unless the URL has one already.
    ///
    /// - Parameter start: starts the load.
    func add(_ url: URL, start: (URL) -> WebImageLoadOperation) {
        if loads[url] == nil { loads[url] = start(url) }
    }

    /// Cancels the load of a URL that a cell loads now. The cell's load must have joined it, so that received data is not lost.
    func remove(_ url: URL) { loads.removeValue(forKey: url)?.cancel() }

    /// Sets the wanted URLs: starts missing loads in order, and cancels all others.
    func want(_ urls: [URL], start: (URL) -> WebImageLoadOperation) {
        let wanted = Set(urls)
        for (url, load) in loads where !wanted.contains(url) {
            loads[url] = nil
            load.cancel()
        }
        for url in urls { add(url, start: start) }
    }

    /// Cancels all loads.
    func cancelAll() {
        for load in loads.values { load.cancel() }
        loads = [:]
    }
}
