/// The counters of a pipeline's work, updated without a lock.
final class WorkTotals: Sendable {
    let downloads = Counter()
    let downloadFailures = Counter()
    let runningDownloads = Counter()
    let retries = Counter()
    let receivedByteCount = Counter()
    let storedByteCount = Counter()
    let decodes = Counter()
    let decodedPixelCount = Counter()
    let encodes = Counter()

    func noteDecode(pixelCount: Int) {
        decodes.add()
        decodedPixelCount.add(pixelCount)
    }

    /// Counts a started download.
    func noteDownload() {
        downloads.add()
        runningDownloads.add()
    }

    /// Counts the end of a download.
    func noteEnd(of result: Result<LoadedImageData, WebImageError>) {
        runningDownloads.add(-1)
        switch result {
        case .success(let loaded):
            let count = loaded.metrics?.receivedByteCount ?? 0
            receivedByteCount.add(count > 0 ? Int(clamping: count) : loaded.data.count)
        case .failure(let error):
            // "Not modified" is not a failure.
            if error.code != .cancelled, error.code != .cacheNotModified { downloadFailures.add() }
        }
    }
}
