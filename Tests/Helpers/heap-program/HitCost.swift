import CHeapCounter
import FoundationEssentials
import Glibc
import TestSupport
import WebImage

@testable import WebImageLoading

/// Counts what an image from memory costs a manager, and prints a line for each case:
///
///     hit-cost DIRECTORY      with a cache there
///     NAME BLOCKS CLOCKS      blocks taken from the heap, and readings of the clock, in a thousand loads
///
/// With `list`, counts what going through a disk cache takes:
///
///     hit-cost list DIRECTORY
///     ENTRIES BYTES           the entries listed, and the bytes of the heap that were in use at once beyond those before
///
/// With `loads` (of a manager) or `downloads` (without one), counts what so many take that wait for their turn:
///
///     hit-cost loads COUNT
///     BYTES MILLISECONDS      bytes of the heap for each of them, and the processor time to cancel them
enum HitCost {
    static func run(_ arguments: [String]) throws {
        switch (arguments.first, arguments.count) {
        case ("list", 2): listEntries(in: arguments[1])
        case ("loads", 2): queueLoads(try count(arguments[1]))
        case ("downloads", 2): queueDownloads(try count(arguments[1]))
        case (let directory?, 1): try measureHits(directory)
        default: throw UsageError()
        }
    }

    private static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw UsageError() }
        return count
    }
}

// MARK: - Hits

/// Counts readings.
private final class CountingClock: Sendable {
    private let count = Lock(0)
    var readings: Int { count.withLock { $0 } }
    var source: ClockSource {
        ClockSource(
            wallTime: { 0 },
            monotonicNanoseconds: {
                self.count.withLock { count in
                    count += 1
                    return UInt64(count)
                }
            }
        )
    }
}

extension HitCost {
    private static func measureHits(_ directory: String) throws {
        let clock = CountingClock()
        func measure(_ name: String, _ body: () -> Void) {
            for _ in 0..<100 { body() }
            let (blocks, readings) = (bench_allocation_count(), clock.readings)
            for _ in 0..<1000 { body() }
            print(name, bench_allocation_count() - blocks, clock.readings - readings)
        }

        let cache = ImageCache(directory: directory)
        let manager = WebImageManager(
            cache: cache,
            loader: ImageLoadersManager(loaders: []),
            pipeline: Pipeline(clock: clock.source),
            clock: clock.source
        )
        guard let url = URL(string: "http://host/picture.png") else { throw UsageError() }
        var request = ImageStoreRequest(key: url.absoluteString, image: .tiny())
        request.cacheType = .memory
        cache.store(request, completion: nil)
        var context = WebImageContext()
        context.callbackQueue = .inline
        let plain = context
        var observed = context
        observed.observer = LoadRecording()
        let withObserver = observed

        func load() { manager.loadImage(with: url, context: plain) { _ in } }
        // All the work without the manager, before observers existed.
        measure("lookup") { _ = cache.memoryImage(forKey: url.absoluteString) }
        measure("before") { load() }
        measure("observed") { manager.loadImage(with: url, context: withObserver) { _ in } }
        measure("after") { load() }
        manager.observer = LoadRecording()
        measure("observed-manager") { load() }
        manager.observer = nil
        measure("last") { load() }
        storeValidators(in: cache, key: url.absoluteString)
        let key = url.absoluteString
        measure("known") { if cache.knownValidators(forKey: key)?.validators?.etag == nil { exit(1) } }
        measure("unknown") { if cache.knownValidators(forKey: "http://host/other.png") != nil { exit(1) } }
    }

    /// Stores a hundred entries that have validators, one of them for the key.
    private static func storeValidators(in cache: ImageCache, key: String) {
        let validators = CacheValidators(
            record: HTTPCacheRecord(
                statusCode: 200,
                headers: ["cache-control": "max-age=60", "etag": "\"an entity tag of more than fifteen bytes\""],
                requestTime: 0,
                responseTime: 0
            )
        )
        for number in 0..<100 {
            var request = ImageStoreRequest(key: key + (number == 0 ? "" : "\(number)"), data: Data([1]))
            request.validators = validators
            cache.store(request, completion: nil)
        }
        // Counts the work of all threads.
        _ = cache.prepareForExit(within: 20)
    }
}

// MARK: - Lists and queues

extension HitCost {
    private static func listEntries(in directory: String) {
        let cache = DiskCache(path: directory)
        // Created once, with the first entry.
        _ = cache.totalCount
        cache.forEachEntry { _ in }
        var count = 0
        let peak = heapPeak { cache.forEachEntry { _ in count += 1 } }
        print(count, peak.byteCount)
    }

    /// Queues loads behind a downloader that starts none, and cancels them all.
    private static func queueLoads(_ count: Int) {
        let downloader = WebImageDownloader()
        downloader.isSuspended = true
        let manager = WebImageManager(
            cache: ImageCache(directory: "/nonexistent"),
            loader: downloader,
            pipeline: Pipeline()
        )
        var context = WebImageContext()
        context.callbackQueue = .inline
        context.queryCacheType = .memory
        context.originalQueryCacheType = ImageCacheType.none
        measureQueue(count) { url, ended in
            manager.loadImage(with: url, context: context) { _ in ended.add() }
        } cancel: {
            manager.cancelAll()
        }
    }

    /// The same without a manager.
    private static func queueDownloads(_ count: Int) {
        let downloader = WebImageDownloader()
        downloader.isSuspended = true
        measureQueue(count) { url, ended in
            downloader.downloadData(with: url, callbackQueue: .inline) { _ in ended.add() }
        } cancel: {
            downloader.cancelAllDownloads()
        }
    }

    private static func measureQueue(_ count: Int, start: (URL, Counter) -> Void, cancel: () -> Void) {
        let urls = (0...count).compactMap { URL(string: "http://host.test/pictures/\($0).jpg") }
        let ended = Counter()
        // Created once.
        start(urls[count], ended)
        cancel()
        let (before, endedBefore) = (bench_heap_bytes(), ended.value)
        for url in urls.prefix(count) { start(url, ended) }
        let bytes = bench_heap_bytes() - before
        // Processor time, which does not depend on other processes.
        let began = processorSeconds()
        cancel()
        let milliseconds = Int((processorSeconds() - began) * 1000)
        guard ended.value - endedBefore == count else { exit(2) }
        print(bytes / count, milliseconds)
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
