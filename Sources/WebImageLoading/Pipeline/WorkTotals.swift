/// What a pipeline has done in all: plain counters that are added to without a lock.
final class WorkTotals: Sendable {
    let downloads = Counter()
    let downloadFailures = Counter()
    let runningDownloads = Counter()
    let retries = Counter()
    let receivedByteCount = Counter()
    let storedByteCount = Counter()
    let decodes = Counter()
    let decodedPixelCount = Counter()

    func noteDecode(pixelCount: Int) {
        decodes.add()
        decodedPixelCount.add(pixelCount)
    }

    /// The loader was asked.
    func noteDownload() {
        downloads.add()
        runningDownloads.add()
    }

    /// The loader has answered.
    func noteEnd(of result: Result<LoadedImageData, WebImageError>) {
        runningDownloads.add(-1)
        switch result {
        case .success(let loaded):
            let count = loaded.metrics?.receivedByteCount ?? 0
            receivedByteCount.add(count > 0 ? Int(clamping: count) : loaded.data.count)
        case .failure(let error):
            // A refresh that finds nothing new has not failed.
            if error.code != .cancelled, error.code != .cacheNotModified { downloadFailures.add() }
        }
    }
}
