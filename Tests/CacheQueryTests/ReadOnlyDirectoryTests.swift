import CacheTestSupport
import FoundationEssentials
import Glibc
import LoadingTestSupport
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

@Suite struct ReadOnlyDirectoryTests {
    let directory = TemporaryDirectory()
    let key = "http://h/a.png"
    let plain = [UInt8](FakeCoder.data(tail: [1]))

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> ImageCache {
        var config = ImageCacheConfig()
        change(&config)
        return ImageCache(path: directory.path("cache"), config: config, clock: ManualClock().source)
    }

    private func makeDirectory(_ name: String) -> String {
        mkdir(directory.path(name), 0o700)
        return directory.path(name)
    }

    @Test func `An SDWebImage directory is read, with and without extension, and never changed`() async {
        let old = makeDirectory("old")
        // The output of `printf %s KEY | md5sum`.
        let withExtension = old + "/9ef778804fd929ca71a038547aea542b.png"
        let without = old + "/992d2a62da44b8d47c4fbf59a99680cf"
        writeBytes(plain, withExtension)
        writeBytes(plain + [2], without)
        for path in [withExtension, without] { setTimes(path, 1_600_000_000) }
        chmod(old, 0o500)
        defer { chmod(old, 0o700) }
        let cache = make { $0.readOnlyDirectories = [old] }
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        #expect(cache.diskEntry(forKey: "http://h/b.jpg")?.data == Data(plain + [2]))
        #expect(cache.diskEntry(forKey: "http://h/c.jpg") == nil)
        #expect(await cache.diskData(forKey: key) == Data(plain))
        var context = WebImageContext()
        context.imageCoder = FakeCoder()
        context.callbackQueue = .inline
        let result = await cache.queryImage(forKey: key, context: context)
        #expect(result.image != nil && result.cacheType == .disk)
        // Neither changes nor removals of entries affect it.
        await cache.setExtendedData(Data([1]), forKey: key)
        await cache.removeImage(forKey: key)
        await cache.removeExpiredData()
        await cache.clear()
        #expect(cache.prepareForExit(within: 20))
        #expect(names(in: old).count == 2)
        for (path, bytes) in [(withExtension, plain), (without, plain + [2])] {
            #expect(readBytes(path) == bytes)
            #expect(fileStatus(path).st_mtim.tv_sec == 1_600_000_000)
        }
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain), "a removal does not reach there")
    }

    @Test func `The cache's own entry is found first, then the directories in order, then the additional path`() {
        let (first, second) = (makeDirectory("first"), makeDirectory("second"))
        let last = directory.path("last")
        let name = CacheFileName(key: key).string
        writeBytes([4], last)
        writeBytes([3], second + "/" + name)
        writeBytes([2], first + "/" + Hashing.md5Hex(key))
        let cache = make { $0.readOnlyDirectories = [first, second, first] }
        cache.additionalCachePath = { _ in last }
        #expect(cache.readOnlyDirectories == [first, second])
        cache.storeDataToDisk(Data([1]), forKey: key)
        #expect(cache.diskEntry(forKey: key)?.data == Data([1]))
        cache.removeImageFromDisk(forKey: key)
        #expect(cache.diskEntry(forKey: key)?.data == Data([2]))
        cache.readOnlyDirectories = [second, first, ""]
        #expect(cache.diskEntry(forKey: key)?.data == Data([3]))
        cache.config.readOnlyDirectories = []
        #expect(cache.diskEntry(forKey: key)?.data == Data([4]))
    }

    @Test func `Another cache's directory is read with its metadata`() {
        let other = ImageCache(path: directory.path("other"), config: ImageCacheConfig(), clock: .system)
        other.storeDataToDisk(Data(plain), forKey: key, extendedData: Data([7]))
        let cache = make { $0.readOnlyDirectories = [other.diskCachePath] }
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        #expect(cache.diskEntry(forKey: key)?.extendedData == Data([7]))
    }

    @Test func `Another key's entry is not served`() {
        let other = ImageCache(path: directory.path("other"), config: ImageCacheConfig(), clock: .system)
        other.storeDataToDisk(Data(plain), forKey: "http://h/other.png")
        let stored = other.diskCache.cachePath(forKey: "http://h/other.png")
        rename(stored, other.diskCachePath + "/" + CacheFileName(key: key).string)
        let cache = make { $0.readOnlyDirectories = [other.diskCachePath] }
        #expect(cache.diskEntry(forKey: key) == nil)
    }

    @Test func `Contains does not search read-only directories`() async {
        let old = makeDirectory("old")
        writeBytes(plain, old + "/" + CacheFileName(key: key).string)
        let cache = make { $0.readOnlyDirectories = [old] }
        #expect(!cache.diskDataExists(forKey: key))
        #expect(await cache.containsImage(forKey: key) == .none)
        #expect(await cache.extendedData(forKey: key) == nil)
        #expect(cache.totalDiskCount == 0)
    }

    @Test func `Links, pipes, directories and damaged entries are skipped`() throws {
        let (bad, good) = (makeDirectory("bad"), makeDirectory("good"))
        let name = CacheFileName(key: key).string
        writeBytes(plain, good + "/" + name)
        let cache = make { $0.readOnlyDirectories = ["/nowhere", bad, good] }
        symlink(good + "/" + name, bad + "/" + name)
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        unlink(bad + "/" + name)
        mkfifo(bad + "/" + name, 0o600)
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        unlink(bad + "/" + name)
        mkdir(bad + "/" + name, 0o700)
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        rmdir(bad + "/" + name)
        let other = ImageCache(path: directory.path("other"), config: ImageCacheConfig(), clock: .system)
        other.storeDataToDisk(Data([1, 2, 3]), forKey: key)
        var bytes = readBytes(other.diskCache.cachePath(forKey: key))
        bytes[0] ^= 1
        writeBytes(bytes, bad + "/" + name)
        #expect(cache.diskEntry(forKey: key)?.data == Data(plain))
        #expect(readBytes(bad + "/" + name) == bytes)
    }
}
