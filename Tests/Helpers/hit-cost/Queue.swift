import CHeapCounter
import FoundationEssentials
import Glibc
import WebImage

@testable import WebImageLoading

/// Queues loads behind a downloader that starts none, and cancels them all. Prints:
///
///   BYTES MILLISECONDS    bytes of the heap for each of them, and how long it took to cancel them
///
/// - Parameter name: "loads" for those of a manager, "downloads" for downloads without one.
func queueLoads(_ name: String, _ count: Int) {
    let downloader = WebImageDownloader()
    downloader.isSuspended = true
    let ended = Counter()
    guard name == "loads" else {
        return measureQueue(count, ended) { url in
            downloader.downloadData(with: url, callbackQueue: .inline) { _ in ended.add() }
        } cancel: {
            downloader.cancelAllDownloads()
        }
    }
    let manager = WebImageManager(
        cache: ImageCache(directory: "/nonexistent"),
        loader: downloader,
        pipeline: Pipeline()
    )
    var context = WebImageContext()
    context.callbackQueue = .inline
    context.queryCacheType = .memory
    context.originalQueryCacheType = ImageCacheType.none
    measureQueue(count, ended) { url in
        manager.loadImage(with: url, context: context) { _ in ended.add() }
    } cancel: {
        manager.cancelAll()
    }
}

private func measureQueue(
    _ count: Int,
    _ ended: Counter,
    start: (URL) -> Void,
    cancel: () -> Void
) {
    let urls = (0...count).compactMap { URL(string: "http://host.test/pictures/\($0).jpg") }
    // What is made once.
    start(urls[count])
    cancel()
    let (before, endedBefore) = (bench_heap_bytes(), ended.value)
    for url in urls.prefix(count) { start(url) }
    let bytes = bench_heap_bytes() - before
    let clock = ContinuousClock()
    let time = clock.measure(cancel)
    guard ended.value - endedBefore == count else { exit(2) }
    let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    print(Int(bytes) / count, milliseconds)
}
