import FoundationEssentials
import WebImage

// snippet: load observer
final class SlowLoads: WebImageLoadObserver {
    func loadDid(_ event: WebImageLoadEvent) {
        guard case .delivered(let source) = event.kind, event.time > 500_000_000 else { return }
        print(event.url?.absoluteString ?? "", "took \(event.time / 1_000_000) ms from", source)
    }
}
// end

enum ObservingSnippets {
    static func recording(url: URL) async throws {
        // snippet: recording
        let recording = LoadRecording()
        var context = WebImageContext()
        context.observer = recording
        _ = try await WebImageManager.shared.image(with: url, context: context)
        print(recording.explanation)
        // end
    }

    static func observer() {
        // snippet: manager's observer
        WebImageManager.shared.observer = SlowLoads()
        // end
    }

    static func statistics() {
        // snippet: statistics
        let statistics = WebImageManager.shared.statistics
        print("memory: \(statistics.memory.hitRatio), disk: \(statistics.disk.hitRatio)")
        print("\(statistics.runningLoads) loads run")
        print("\(statistics.waitingDownloads) downloads and \(statistics.waitingDecodes) decodes wait")
        // end
    }

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
        print("\(disk.storeCount) files written, \(disk.amendCount) times only an entry's metadata")
        // end
    }
}
