import FoundationEssentials
import WebImage

enum ObservingSnippets {
    static func downloads() {
        // snippet: download events
        let observation = WebImageDownloader.shared.observe { event in
            switch event {
            case .started(let download): print("started", download.url, "for", download.callerCount)
            case .willRetry(let download, let error, let seconds): print("again in \(seconds) s", download.url, error)
            case .stopped(let download, let error?, _): print("failed", download.url, error)
            case .finished(let download, let metrics): print("loaded", download.url, metrics.total)
            default: break
            }
        }
        // end
        observation.cancel()
    }

    static func totals() {
        // snippet: totals
        let downloads = WebImageDownloader.shared.statistics
        print("\(downloads.running) run, \(downloads.waiting) wait, \(downloads.receivedByteCount) bytes so far")
        let disk = ImageCache.shared.diskStatistics
        print("\(disk.hitCount) hits, \(disk.missCount) misses, \(disk.evictedCount) evicted")
        // end
    }
}
