import CTestSupport
import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite(.tags(.threadSanitizer, .addressSanitizer), .timeLimit(.minutes(10))) struct ImageCacheTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()
    let coder = FakeCoder()
    let key = "http://h/a.png"
    let data = FakeCoder.data()
    var context: WebImageContext {
        var context = WebImageContext()
        context.imageCoder = coder
        context.callbackQueue = .inline
        return context
    }

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> ImageCache {
        var config = ImageCacheConfig()
        change(&config)
        return ImageCache(path: directory.path("cache"), config: config, clock: clock.source)
    }

    @Test func `Storing caches the image in memory at once and writes its bytes to disk`() async {
        let cache = make()
        let image = FakeCoder.image()
        let isDone = Lock(false)
        cache.store(image, data: data, forKey: key, to: .all, encodeOptions: ImageEncodeOptions()) {
            isDone.withLock { $0 = true }
        }
        #expect(cache.memoryImage(forKey: key) === image)
        await cache.flush()
        #expect(isDone.withLock { $0 })
        #expect(cache.diskCache.data(forKey: key) == data)
        #expect(coder.encodeCount == 0)
    }

    @Test(arguments: [
        (ImageCacheType.none, false, false), (.disk, false, true), (.memory, true, false), (.all, true, true),
    ]) func `The store type selects the levels`(type: ImageCacheType, memory: Bool, disk: Bool) async {
        let cache = make()
        await cache.store(FakeCoder.image(), data: data, forKey: key, to: type)
        #expect((cache.memoryImage(forKey: key) != nil) == memory)
        #expect(cache.diskDataExists(forKey: key) == disk)
        #expect(await cache.containsImage(forKey: key, in: .all) == (memory ? .memory : disk ? .disk : .none))
        #expect(await cache.containsImage(forKey: key, in: .disk) == (disk ? .disk : .none))
        #expect(await cache.containsImage(forKey: key, in: .memory) == (memory ? .memory : .none))
        #expect(await cache.containsImage(forKey: key, in: .none) == .none)
        await cache.removeImage(forKey: key, from: type)
        #expect(await cache.containsImage(forKey: key) == .none)
    }

    @Test func `Removing from one level leaves the other unchanged`() async {
        let cache = make()
        for (type, memory, disk) in [(ImageCacheType.memory, false, true), (.disk, true, false)] {
            await cache.store(FakeCoder.image(), data: data, forKey: key)
            await cache.removeImage(forKey: key, from: type)
            #expect((cache.memoryImage(forKey: key) != nil) == memory)
            #expect(cache.diskDataExists(forKey: key) == disk)
        }
        await cache.store(FakeCoder.image(), data: data, forKey: key)
        cache.removeImageFromMemory(forKey: key)
        #expect(cache.memoryImage(forKey: key) == nil && cache.diskCache.data(forKey: key) == data)
        await cache.store(FakeCoder.image(), data: data, forKey: key)
        cache.removeImageFromDisk(forKey: key)
        #expect(cache.memoryImage(forKey: key) != nil && cache.diskCache.data(forKey: key) == nil)
    }

    @Test func `An empty key has no path, and a key of empty text has one in the directory`() {
        let cache = make()
        #expect(cache.cachePath(forKey: "") == nil)
        #expect(cache.cachePath(forKey: "a") == directory.path("cache/0cc175b9c0f1b6a831c399e269772661"))
        // The output of `md5sum </dev/null`.
        #expect(cache.diskCache.cachePath(forKey: "") == directory.path("cache/d41d8cd98f00b204e9800998ecf8427e"))
    }

    @Test func `A store without image and data, or without a key, completes at once and stores nothing`() {
        let cache = make()
        let count = Lock(0)
        let done: @Sendable () -> Void = { count.withLock { $0 += 1 } }
        cache.store(nil, data: nil, forKey: key, to: .all, encodeOptions: ImageEncodeOptions(), completion: done)
        cache.store(
            FakeCoder.image(),
            data: data,
            forKey: "",
            to: .all,
            encodeOptions: ImageEncodeOptions(),
            completion: done
        )
        cache.removeImage(forKey: "", from: .all, completion: done)
        cache.containsImage(forKey: "", in: .all) { type in
            #expect(type == .none)
            done()
        }
        cache.queryImage(forKey: "", context: context) { result in
            #expect(result.cacheType == .none)
            done()
        }
        #expect(count.withLock { $0 } == 5)
        #expect(cache.totalDiskCount == 0)
        #expect(cache.memoryCache.count == 0)
        #expect(cache.cachePath(forKey: "") == nil)
        cache.storeToMemory(FakeCoder.image(), forKey: "")
        cache.storeDataToDisk(data, forKey: "")
        cache.removeImageFromDisk(forKey: "")
        #expect(cache.diskEntry(forKey: "")?.data == nil)
    }

    @Test func `Data without an image is stored only on disk`() async {
        let cache = make()
        await cache.store(nil, data: data, forKey: key)
        #expect(cache.memoryImage(forKey: key) == nil)
        #expect(cache.diskEntry(forKey: key)?.data == data)
    }

    @Test(arguments: [
        (ImageFormat.png, false, ImageFormat.png), (.jpeg, false, .jpeg), (.jpeg, true, .png), (.webp, false, .jpeg),
        (.webp, true, .png), (.undefined, true, .png), (.undefined, false, .jpeg),
    ]) func `An image without data is encoded, and keeps its alpha`(
        own: ImageFormat,
        alpha: Bool,
        expected: ImageFormat
    ) async {
        let cache = make()
        await cache.store(FakeCoder.image(alpha: alpha, format: own), forKey: key, to: .disk, coder: coder)
        #expect(coder.lastFormat == expected)
        #expect(cache.diskEntry(forKey: key)?.data == FakeCoder.data(alpha: alpha))
    }

    @Test func `A store of an image that cannot be encoded completes without an entry`() async {
        let cache = make()
        await cache.store(FakeCoder.image(), forKey: key, coder: FakeCoder(writing: []))
        #expect(!cache.diskDataExists(forKey: key))
        #expect(cache.memoryImage(forKey: key) != nil)
    }

    @Test func `Extended data is returned with the image`() async {
        let cache = make()
        let image = FakeCoder.image().with(extendedData: .some(Data([4, 2])))
        await cache.store(image, data: data, forKey: key)
        cache.removeImageFromMemory(forKey: key)
        #expect(cache.diskEntry(forKey: key)?.extendedData == Data([4, 2]))
        #expect(cache.imageFromDisk(forKey: key, context: context)?.extendedData == Data([4, 2]))
    }

    @Test func `With the memory cache disabled, stores and queries do not write to it`() async {
        let cache = make { $0.shouldCacheImagesInMemory = false }
        await cache.store(FakeCoder.image(), data: data, forKey: key)
        #expect(cache.memoryImage(forKey: key) == nil)
        #expect(await cache.queryImage(forKey: key, context: context).image != nil)
        #expect(cache.memoryImage(forKey: key) == nil)
        cache.storeToMemory(FakeCoder.image(), forKey: key)
        #expect(cache.memoryImage(forKey: key) != nil)
    }

    @Test func `Clearing affects only the selected levels`() async {
        let cache = make()
        await cache.store(FakeCoder.image(), data: data, forKey: key)
        await cache.clear(.none)
        #expect(await cache.containsImage(forKey: key) == .memory)
        await cache.clear(.memory)
        #expect(await cache.containsImage(forKey: key) == .disk)
        await cache.clear(.disk)
        #expect(await cache.containsImage(forKey: key) == .none)
        #expect(cache.totalDiskCount == 0)
    }

    @Test func `A configuration change takes effect at once`() async {
        let cache = make()
        var config = cache.config
        config.maxMemoryCount = 3
        config.maxMemoryCost = 1 << 20
        config.shouldUseWeakMemoryCache = true
        config.maxConcurrentDiskOperations = 2
        config.maxDiskSize = 1 << 20
        cache.config = config
        #expect(cache.memoryCache.maxMemoryCount == 3)
        #expect(cache.memoryCache.maxMemoryCost == 1 << 20)
        #expect(cache.memoryCache.usesWeakCache)
        #expect(cache.diskQueue.width == 2)
        #expect(cache.diskCache.config.maxDiskSize == 1 << 20)
        config.writesWithoutOverwriting = true
        cache.config = config
        await cache.store(nil, data: Data([1]), forKey: key)
        await cache.store(nil, data: Data([2]), forKey: key)
        #expect(cache.diskEntry(forKey: key)?.data == Data([1]))
    }

    @Test func `Disabled cleaning passes do not run any more`() {
        let cache = make { $0.expiryInterval = 100 }
        cache.config.expiryInterval = 0
        #expect(cache.state.withLock { $0.nextExpiry } == .max)
        cache.config.expiryInterval = 50
        let due = cache.state.withLock { $0.nextExpiry }
        clock.advance(10)
        // Another property does not delay the pass.
        cache.config.maxDiskAge = 1
        #expect(cache.state.withLock { $0.nextExpiry } == due)
    }

    @Test func `Of concurrent configuration changes one wins as a whole`() async {
        let cache = make()
        let done = (0..<2).map { _ in Latch() }
        for thread in 0..<2 {
            startThread {
                var config = ImageCacheConfig()
                for round in 0..<3000 {
                    config.maxMemoryCount = 1 + round * 2 + thread
                    config.maxDiskSize = config.maxMemoryCount
                    cache.config = config
                }
                done[thread].open()
            }
        }
        for latch in done { #expect(await latch.opens(seconds: 60)) }
        #expect(cache.diskCache.config.maxDiskSize == cache.config.maxDiskSize)
        #expect(cache.memoryCache.maxMemoryCount == cache.config.maxMemoryCount)
    }

    @Test func `Creating a cache does not enumerate its directory on the caller's thread`() async {
        // A cache that never looks for leftovers: another one would do so on its own thread, at any time.
        let disk = DiskCache(
            path: directory.path("cache"),
            config: ImageCacheConfig(),
            clock: clock.source,
            calls: .system,
            sweeps: false
        )
        #expect(disk.store(data, forKey: key))
        let leftover = disk.path + "/" + EntryWriter.temporaryName()
        writeBytes([1], leftover)
        setTimes(leftover, clock.wallTime - 10_000)
        let own = ctest_thread_number()
        let walks = Lock<(here: Int, elsewhere: Int)>((0, 0))
        var calls = FileCalls.system
        calls.open = { directory, path, flags in
            if flags & O_DIRECTORY != 0 {
                let isHere = own == ctest_thread_number()
                walks.withLock { if isHere { $0.here += 1 } else { $0.elsewhere += 1 } }
            }
            return FileCalls.system.open(directory, path, flags)
        }
        let again = ImageCache(path: disk.path, config: ImageCacheConfig(), clock: clock.source, calls: calls)
        #expect(walks.withLock { $0.here } == 0)
        await wait(while: exists(leftover))
        #expect(await again.diskData(forKey: key) == data)
        #expect(walks.withLock { $0.elsewhere } == 1)
    }

    @Test func `Sizes count what is on disk`() async throws {
        let cache = make()
        #expect(await cache.calculateSize() == (0, 0))
        for number in 0..<5 { await cache.store(nil, data: data, forKey: "\(number)") }
        let paths = try (0..<5).map { try #require(cache.cachePath(forKey: "\($0)")) }
        let bytes = paths.reduce(0) { $0 + Int(fileStatus($1).st_size) }
        #expect(bytes >= 5 * data.count)
        // Files that are not entries do not count.
        for name in [".hidden", "mine.jpg"] { writeBytes([1, 2, 3], cache.diskCachePath + "/" + name) }
        let (count, size) = await cache.calculateSize()
        #expect(count == 5 && size == bytes)
        #expect((cache.diskCache as? DiskCache)?.totalCount == 5 && (cache.diskCache as? DiskCache)?.totalSize == bytes)
        #expect(cache.totalDiskSize == bytes)
        #expect(cache.totalDiskCount == 5)
        let counted = await wait { done in cache.calculateSize(callbackQueue: .inline) { count, _ in done(count) } }
        #expect(counted == 5)
    }

    // MARK: Directories

    @Test func `Namespaces are separate directories`() {
        let one = ImageCache(namespace: "one", directory: directory.path)
        let two = ImageCache(namespace: "two", directory: directory.path)
        #expect(one.diskCachePath == directory.path("one"))
        one.storeDataToDisk(data, forKey: key)
        #expect(two.diskData(forKey: key) == nil)
        #expect(one.cachePath(forKey: key) == directory.path("one/" + CacheFileName(key: key).string))
        for (name, expected) in [("a/../b", "a_.._b"), ("..", "default"), ("", "default"), (".", "default")] {
            #expect(ImageCache.directoryName(name) == expected)
        }
    }

    @Test(
        arguments: [
            ("/x/cache", "/home/u", "/x/cache"), (nil, "/home/u", "/home/u/.cache"),
            ("relative", "/home/u/", "/home/u/.cache"),
            ("", "/home/u", "/home/u/.cache"), ("/x/cache/", nil, "/x/cache"),
        ] as [(String?, String?, String)]
    )
    func `The default directory follows the XDG rules`(cacheHome: String?, home: String?, expected: String) {
        #expect(ImageCache.userCacheDirectory(cacheHome: cacheHome, home: home) == expected)
    }

    @Test func `Without HOME in the environment the user database gives the home directory`() {
        #expect(ImageCache.userCacheDirectory(cacheHome: nil, home: nil).hasPrefix("/"))
    }

    @Test func `An additional path is read when the disk has no entry, and never written`() async {
        let cache = make()
        let other = ImageCache(path: directory.path("other"), config: ImageCacheConfig(), clock: clock.source)
        other.storeDataToDisk(FakeCoder.data(tail: [1]), forKey: key)
        let plain = directory.path("bundled.fake")
        writeBytes([UInt8](FakeCoder.data(tail: [2])), plain)
        let entry = other.diskCache.cachePath(forKey: key)
        cache.additionalCachePath = { asked in asked == "plain" ? plain : asked == "none" ? "/nowhere" : entry }
        #expect(cache.diskEntry(forKey: "plain")?.data == FakeCoder.data(tail: [2]))
        #expect(cache.diskEntry(forKey: key)?.data == FakeCoder.data(tail: [1]))
        #expect(cache.diskEntry(forKey: "none")?.data == nil)
        #expect(await cache.queryImage(forKey: "plain", context: context).cacheType == .disk)
        #expect(!cache.diskDataExists(forKey: "plain"))
        #expect(await cache.containsImage(forKey: key, in: .disk) == .none)
        #expect(cache.totalDiskCount == 0)
        cache.storeDataToDisk(data, forKey: "plain")
        #expect(cache.diskEntry(forKey: "plain")?.data == data)
        // A damaged entry there is neither served nor removed.
        var bytes = readBytes(entry)
        bytes[2] ^= 1
        writeBytes(bytes, entry)
        #expect(cache.diskEntry(forKey: key)?.data == nil)
        #expect(exists(entry))
    }

    // MARK: Life cycle

    @Test func `Expired entries are removed automatically while the cache is in use`() async {
        let cache = make { $0.expiryInterval = 100 }
        await cache.store(nil, data: data, forKey: "old")
        clock.advance(8 * 86_400)
        await cache.store(nil, data: data, forKey: "new")
        // The pass follows that store in the queue; this follows the pass.
        _ = await cache.diskData(forKey: "new")
        await wait(while: cache.diskStatistics.expiredCount == 0)
        #expect(cache.diskCache.entries().map(\.key) == ["new"])
        let never = CacheMaintenance.nextExpiry(after: clock.source, make { $0.expiryInterval = 0 }.config)
        #expect(never == .max)
    }

    @Test func `At exit pending writes finish and expired entries are removed`() {
        // No automatic passes: one that a store starts may still run at the exit.
        let cache = make { $0.expiryInterval = 0 }
        cache.storeDataToDisk(data, forKey: "old")
        clock.advance(8 * 86_400)
        for number in 0..<50 {
            cache.store(
                nil,
                data: data,
                forKey: "\(number)",
                to: .disk,
                encodeOptions: ImageEncodeOptions(),
                completion: nil
            )
        }
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.totalDiskCount == 50)
        cache.config.shouldRemoveExpiredDataWhenTerminate = false
        clock.advance(8 * 86_400)
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.totalDiskCount == 50)
    }

    @Test func `The exit does not take longer than allowed`() {
        let cache = make()
        let gate = Latch()
        coder.hold(gate)
        cache.store(
            FakeCoder.image(),
            data: nil,
            forKey: key,
            to: .all,
            encodeOptions: ImageEncodeOptions(),
            coder: coder,
            completion: nil
        )
        #expect(!cache.prepareForExit(within: 0.02))
        gate.open()
        #expect(cache.prepareForExit(within: 20))
        #expect(cache.diskDataExists(forKey: key))
    }

    @Test func `A cache whose directory cannot be used still caches in memory`() async {
        writeBytes([1], directory.path("file"))
        let cache = ImageCache(path: directory.path("file/below"), config: ImageCacheConfig(), clock: clock.source)
        await cache.store(FakeCoder.image(), data: data, forKey: key)
        #expect(cache.memoryImage(forKey: key) != nil)
        #expect(await cache.queryImage(forKey: key, context: context).cacheType == .memory)
        cache.removeImageFromMemory(forKey: key)
        #expect(await cache.queryImage(forKey: key, context: context).cacheType == .none)
        #expect(cache.diskStatistics.failedStoreCount == 1)
        await cache.clear()
        await cache.removeExpiredData()
    }
}
