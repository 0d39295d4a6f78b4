import FoundationEssentials
import WebImage

/// Loads of a list that no cell waits for: of positions that come next, and of cells that were just given up.
@MainActor
final class ListPrefetch {
    /// By URL; one that has ended stays until its URL is not wanted any more, so that it is not begun again.
    private var loads: [URL: WebImageLoadOperation] = [:]

    isolated deinit { cancelAll() }

    /// URLs that are loaded, or have been and are still wanted.
    var urls: Set<URL> { Set(loads.keys) }

    /// Begins a load, if there is none of the URL.
    ///
    /// - Parameter start: begins it.
    func add(_ url: URL, start: (URL) -> WebImageLoadOperation) {
        if loads[url] == nil { loads[url] = start(url) }
    }

    /// A cell waits for the URL now; it must have begun to, so that what has come so far is not lost.
    func remove(_ url: URL) { loads.removeValue(forKey: url)?.cancel() }

    /// Says all that is wanted: begins what is missing, the first first, and gives up the rest.
    func want(_ urls: [URL], start: (URL) -> WebImageLoadOperation) {
        let wanted = Set(urls)
        for (url, load) in loads where !wanted.contains(url) {
            loads[url] = nil
            load.cancel()
        }
        for url in urls { add(url, start: start) }
    }

    /// Gives up everything.
    func cancelAll() {
        for load in loads.values { load.cancel() }
        loads = [:]
    }
}
