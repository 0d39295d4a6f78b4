import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

/// The configuration of one cache. Tests of process-wide configuration run in a separate process.
@Suite(.timeLimit(.minutes(1))) struct CacheConfigTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private let data = FakeCoder.data()

    private func make(_ config: ImageCacheConfig = ImageCacheConfig()) -> ImageCache {
        ImageCache(path: directory.path("cache"), config: config, clock: clock.source)
    }

    @Test func `The defaults of a cache are the documented ones`() {
        let config = ImageCacheConfig()
        #expect(config.writesCacheDirectoryTag && config.shouldCacheImagesInMemory && !config.shouldUseWeakMemoryCache)
        #expect(config.shouldRemoveExpiredDataWhenTerminate && config.shouldRemoveExpiredDataWhenEnterBackground)
        #expect(!config.mapsDiskData && !config.writesWithoutOverwriting && config.readOnlyDirectories.isEmpty)
        #expect(config.maxDiskAge == 7 * 86_400 && config.maxDiskSize == 0 && config.diskCacheExpireType == .accessDate)
        #expect(config.maxMemoryCost == MemoryCache.defaultCostLimit && config.maxMemoryCount == 0)
        #expect(config.expiryInterval == 3_600 && config.maxPendingWriteBytes == 64 << 20)
        #expect(config.maxConcurrentDiskOperations == 4)
        #expect(config.makeMemoryCache == nil && config.makeDiskCache == nil)
        #expect(make().additionalCachePath == nil)
        let memory = MemoryCache()
        #expect(memory.maxMemoryCost == MemoryCache.defaultCostLimit && memory.maxMemoryCount == 0)
        #expect(!memory.usesWeakCache)
    }

    @Test func `The template configures caches made afterwards`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            // The shared cache must not be created while the template is another.
            _ = ImageCache.shared
            let usual = ImageCacheConfig.default
            let before = ImageCache(namespace: "before", directory: directory.path)
            let age: Double = 40 * 86_400
            ImageCacheConfig.default.maxDiskAge = age
            ImageCacheConfig.default.maxMemoryCount = 123_456
            let after = ImageCache(namespace: "after", directory: directory.path)
            let disk = DiskCache(path: directory.path("disk"))
            ImageCacheConfig.default = usual
            #expect(before.config.maxDiskAge == 7 * 86_400 && before.config.maxMemoryCount == 0)
            #expect(after.config.maxDiskAge == age && after.config.maxMemoryCount == 123_456)
            #expect(after.memoryCache.maxMemoryCount == 123_456, "its levels work by it")
            #expect((after.diskCache as? DiskCache)?.config.maxDiskAge == age)
            #expect(disk.config.maxDiskAge == age)
            let again = ImageCache(namespace: "again", directory: directory.path).config
            #expect(again.maxDiskAge == 7 * 86_400 && again.maxMemoryCount == 0)
        }
    }

    @Test func `Each cache has its own configuration`() {
        var config = ImageCacheConfig()
        config.maxDiskAge = 10
        let cache = make(config)
        config.maxDiskAge = 20
        #expect(cache.config.maxDiskAge == 10)
        cache.config.maxDiskAge = 30
        #expect(config.maxDiskAge == 20 && (cache.diskCache as? DiskCache)?.config.maxDiskAge == 30)
    }

    @Test func `The directory tag is written again after a clear and a move`() async {
        let tag = "/CACHEDIR.TAG"
        let cache = make()
        #expect(exists(cache.diskCachePath + tag))
        unlink(cache.diskCachePath + tag)
        await cache.clear(.disk)
        #expect(exists(cache.diskCachePath + tag))
        let moved = directory.path("moved")
        unlink(cache.diskCachePath + tag)
        DiskCache.moveDirectory(from: cache.diskCachePath, to: moved)
        #expect(exists(moved + tag))
        unlink(moved + tag)
        DiskCache.moveDirectory(from: moved, to: directory.path("untagged"), writesTag: false)
        #expect(exists(directory.path("untagged")) && !exists(directory.path("untagged") + tag))
    }

    @Test func `A default directory, once set, is used by caches made afterwards`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            // The shared cache must not be created while another directory is set.
            _ = ImageCache.shared
            let usual = ImageCache.defaultDiskCacheDirectory
            let before = ImageCache.diskCachePath(namespace: "n")
            #expect(usual.hasSuffix("/webimage"))
            ImageCache.defaultDiskCacheDirectory = directory.path("chosen")
            #expect(ImageCache.defaultDiskCacheDirectory == directory.path("chosen"))
            #expect(ImageCache(namespace: "n").diskCachePath == directory.path("chosen/n"))
            #expect(
                ImageCache(namespace: "n", directory: directory.path("own")).diskCachePath == directory.path("own/n")
            )
            #expect(ImageCache.diskCachePath(namespace: "n") == directory.path("chosen/n"))
            #expect(
                ImageCache.diskCachePath(namespace: "n", directory: directory.path("own")) == directory.path("own/n")
            )
            ImageCache.defaultDiskCacheDirectory = ""
            #expect(ImageCache.defaultDiskCacheDirectory == usual)
            #expect(ImageCache.diskCachePath(namespace: "n") == before)
        }
    }

    @Test func `Expired entries are removed on request, and the completion is called`() async {
        var config = ImageCacheConfig()
        // Only requested passes.
        config.expiryInterval = 0
        let cache = make(config)
        cache.storeDataToDisk(data, forKey: "old")
        clock.advance(8 * 86_400)
        cache.storeDataToDisk(data, forKey: "new")
        let told: DiskCacheCleanup? = await wait { done in
            cache.removeExpiredData(callbackQueue: .inline) { done($0) }
        }
        #expect(told?.expiredCount == 1 && told?.isComplete == true)
        #expect(!cache.diskDataExists(forKey: "old") && cache.diskDataExists(forKey: "new"))
        clock.advance(8 * 86_400)
        #expect(await cache.removeExpiredData().expiredCount == 1)
        cache.storeDataToDisk(data, forKey: "old")
        clock.advance(8 * 86_400)
        cache.removeExpiredData(completion: nil)
        await wait(while: cache.totalDiskCount > 0)
    }
}
