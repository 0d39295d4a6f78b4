import CLinux
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache
@testable import WebImageIsolation
@testable import WebImageLoading

/// Calls of a cache's disk level, with whether they were made on the watched thread.
private final class WatchedDisk: DiskCaching {
    let real: DiskCache
    private let calls = Lock<[(name: String, isWatched: Bool)]>([])
    private let watched: UInt

    init(_ real: DiskCache, watching thread: pthread_t) {
        self.real = real
        watched = UInt(thread)
    }

    var onWatchedThread: [String] { calls.withLock { $0.filter(\.isWatched).map(\.name) } }
    var names: Set<String> { calls.withLock { Set($0.map(\.name)) } }

    private func note(_ name: String = #function) {
        let isWatched = UInt(pthread_self()) == watched
        calls.withLock { $0.append((name, isWatched)) }
    }

    var path: String { real.path }
    func apply(_ config: ImageCacheConfig) { real.apply(config) }
    func cachePath(forKey key: String) -> String { real.cachePath(forKey: key) }

    func entry(forKey key: String) -> CachedImageData? {
        note()
        return real.entry(forKey: key)
    }
    func containsData(forKey key: String) -> Bool {
        note()
        return real.containsData(forKey: key)
    }
    func store(_ data: Data, forKey key: String, extendedData: Data?) -> Bool {
        note()
        return real.store(data, forKey: key, extendedData: extendedData)
    }
    func store(_ entry: CachedImageData, forKey key: String) -> Bool {
        note()
        return real.store(entry, forKey: key)
    }
    func amend(extendedData: Data??, validators: CacheValidators??, forKey key: String) {
        note()
        real.amend(extendedData: extendedData, validators: validators, forKey: key)
    }
    func removeData(forKey key: String) {
        note()
        real.removeData(forKey: key)
    }
    func removeAllData() {
        note()
        real.removeAllData()
    }
    func removeExpiredData(timeLimit: Double?) -> DiskCacheCleanup {
        note()
        return real.removeExpiredData(timeLimit: timeLimit)
    }
    func usage() -> (count: Int, size: Int) {
        note()
        return real.usage()
    }
}

extension TrapTests {
    @Test func `Trap 7: a load makes no file system call on the caller's thread`() async throws {
        let image = try Fixtures.data("JPEG/baseline-420.jpg")
        let directory = TemporaryDirectory()
        let left = Monitor(0)
        let finished = Monitor<(disk: WatchedDisk, cache: ImageCache)?>(nil)
        startThread {
            let watched = Monitor<WatchedDisk?>(nil)
            let thread = UInt(pthread_self())
            var config = ImageCacheConfig()
            config.makeDiskCache = { path, config in
                let disk = WatchedDisk(DiskCache(path: path, config: config), watching: pthread_t(thread))
                watched.withLock { $0 = disk }
                return disk
            }
            let cache = ImageCache(path: directory.path("cache"), config: config, clock: .system)
            Self.useEverything(cache, image: image, left: left)
            finished.withLock { $0 = watched.withLock { $0 }.map { ($0, cache) } }
        }
        let (disk, cache) = try #require(await finished.value { $0 })
        #expect(await left.value { $0 == 0 ? true : nil } == true)
        await cache.flush()
        #expect(disk.onWatchedThread.isEmpty)
        // All these calls were made by other threads.
        #expect(disk.names.count >= 7, "\(disk.names)")
    }

    /// Every call of a manager and of a cache that is not marked as synchronous.
    private static func useEverything(_ cache: ImageCache, image: Data, left: Monitor<Int>) {
        @Sendable func end() { left.withLock { $0 -= 1 } }
        func begin(_ body: () -> Void) {
            left.withLock { $0 += 1 }
            body()
        }
        let manager = WebImageManager(
            cache: cache,
            loader: StaticLoader { _ in .success(image) },
            pipeline: Pipeline()
        )
        let small = WebImageContext.with {
            $0.callbackQueue = .inline
            $0.thumbnailPixelSize = ImageSize(width: 10, height: 10)
        }
        let inline = WebImageContext.with { $0.callbackQueue = .inline }
        for url in [testURL("/a"), testURL("/b"), testURL("/a")] {
            for context in [inline, small] {
                begin { manager.loadImage(with: url, options: .waitStoreCache, context: context) { _ in end() } }
                begin {
                    manager.loadImage(with: url, options: .refreshCached, context: context, end: end) { _ in }
                }
                begin { manager.loadImage(with: url, options: .fromCacheOnly, context: context) { _ in end() } }
            }
        }
        for key in ["http://example.test/a", "other"] {
            begin { cache.store(ImageStoreRequest(key: key + "2", data: image)) { end() } }
            begin { cache.setExtendedData(Data([1]), forKey: key + "3") { end() } }
            begin { cache.queryImage(forKey: key, options: .queryMemoryData, context: inline) { _ in end() } }
            begin { cache.queryImage(forKey: key, context: inline, cacheType: .disk) { _ in end() } }
            begin { _ = cache.queryDisk(forKey: key, priority: .normal) { _ in end() } }
            begin { cache.containsImage(forKey: key, in: .disk) { _ in end() } }
            begin { cache.removeImage(forKey: key, from: .all) { end() } }
        }
        begin { cache.calculateSize(callbackQueue: .inline) { _, _ in end() } }
        begin { cache.removeExpiredData(callbackQueue: .inline) { _ in end() } }
        cache.didEnterBackground()
        cache.config.maxDiskSize = 1 << 20
        // Done by the same thread, this would have ended already; by others, it replaces pending work.
        _ = left.wait { $0 == 0 ? true : nil }
        begin { cache.clear(.all) { end() } }
    }
}
