import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import WebImage

/// Real file systems that are full, read-only, or forbidden to a user.
@Suite(.timeLimit(.minutes(5))) struct FullDiskTests {
    private let directory = TemporaryDirectory()
    private let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func leftovers(_ cache: DiskCache) -> [String] { names(in: cache.path).filter { $0.hasSuffix(".tmp") } }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system of few inodes needs root"))
    func `Without a free inode the oldest entries are removed, and nothing is left behind`() throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=4m,nr_inodes=12"))
        let clock = ManualClock()
        let cache = DiskCache(path: mount.path + "/cache", config: ImageCacheConfig(), clock: clock.source)
        for number in 0..<40 {
            #expect(cache.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number)))
            #expect(cache.containsData(forKey: HammerImage.key(number)))
            clock.advance(10)
        }
        #expect(cache.statistics.evictedCount > 20 && cache.verify() == [] && leftovers(cache) == [])
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a full file system needs root"))
    func `On a disk that others have filled a store fails, and earlier entries stay`() throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=1m"))
        let cache = DiskCache(path: mount.path + "/cache")
        #expect(cache.store(bytes, forKey: "k"))
        let filler = open(mount.path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(filler, block, block.count) == block.count {}
        close(filler)
        let big = Data(repeating: 2, count: 100_000)
        #expect(!cache.store(big, forKey: "big"))
        #expect(cache.data(forKey: "k") == bytes && cache.data(forKey: "big") == nil && leftovers(cache) == [])
        #expect(cache.lastError?.description.contains(String(cString: strerror(ENOSPC))) == true)
        unlink(mount.path + "/filler")
        #expect(cache.store(big, forKey: "big") && cache.data(forKey: "big") == big)
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a full file system needs root"))
    func `Entries that do not fit on another file system stay where they were`() throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=512k"))
        let old = directory.path("old")
        let source = DiskCache(path: old)
        for number in 0..<30 {
            source.store(Data(repeating: UInt8(number), count: 60_000), forKey: HammerImage.key(number))
        }
        let new = mount.path + "/cache"
        DiskCache.moveDirectory(from: old, to: new)
        let target = DiskCache(path: new)
        let moved = target.entries().count
        #expect(moved > 2 && moved < 10)
        #expect(source.entries().count == 30 - moved, "none is lost")
        #expect(target.verify() == [] && source.verify() == [] && leftovers(target) == [])
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system read-only needs root"))
    func `A read-only directory serves hits, and stores are dropped`() throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=4m"))
        let path = mount.path + "/cache"
        #expect(DiskCache(path: path).store(bytes, forKey: "k"))
        #expect(mount.remount("ro"))
        let cache = DiskCache(path: path)
        #expect(cache.data(forKey: "k") == bytes)
        #expect(!cache.store(Data([1]), forKey: "k") && cache.data(forKey: "k") == bytes)
        cache.removeData(forKey: "k")
        cache.removeAllData()
        #expect(cache.removeExpiredData().expiredCount == 0)
        #expect(cache.data(forKey: "k") == bytes)
        #expect(cache.lastError?.description.contains(String(cString: strerror(EROFS))) == true)
        #expect(!DiskCache(path: mount.path + "/new").store(bytes, forKey: "k"))
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system read-only needs root"))
    func `A file system that becomes read-only during use continues to serve`() async throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=4m"))
        let cache = ImageCache(namespace: "default", directory: mount.path)
        await cache.store(nil, data: bytes, forKey: "k")
        #expect(mount.remount("ro"))
        #expect(await cache.diskData(forKey: "k") == bytes)
        let image = Image.tiny()
        await cache.store(image, data: Data([1]), forKey: "other")
        #expect(cache.imageFromMemory(forKey: "other") != nil, "memory works as ever")
        #expect(await cache.diskData(forKey: "other") == nil)
        #expect(mount.remount("rw"))
        await cache.store(nil, data: Data([2]), forKey: "other")
        #expect(await cache.diskData(forKey: "other") == Data([2]))
    }

    /// A Boolean value that indicates whether another user can run the program where it lies.
    private static var nobodyMayRun: Bool {
        let words = ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/test", "-x", helper]
        return geteuid() == 0 && MountedDisk.run("/usr/bin/setpriv", words)
    }

    @Test(.enabled(if: nobodyMayRun, "becoming another user needs root, and a build that others may read"))
    func `A user without write access to the directory has an empty cache, and images all the same`() async throws {
        // Root would have access.
        let base = "/tmp/webimage-faults-\(getpid())"
        mkdir(base, 0o711)
        defer { try? FileManager.default.removeItem(atPath: base) }
        for mode in [mode_t(0o500), 0o000] {
            let closed = base + "/\(mode)"
            mkdir(closed, 0o700)
            chown(closed, 65_534, 65_534)
            chmod(closed, mode)
            let arguments = [
                "--reuid=65534", "--regid=65534", "--clear-groups", Self.helper, "disk-faults", "load-once", closed,
            ]
            let run = try await ProgramRun.run("/usr/bin/setpriv", arguments)
            #expect(run.status == 0 && run.lines == ["ok"], "\(mode): \(run.output) \(run.errors)")
            #expect(names(in: closed).isEmpty)
        }
    }

    private static let helper = ProgramRun.product("test-program")

    @Test(.enabled(if: DiskImage.chattrWorks, "making a file immutable needs root and a file system that can"))
    func `An entry that cannot be removed does not stop a pass`() throws {
        let clock = ManualClock()
        let cache = DiskCache.make(directory, clock: clock) { $0.maxDiskSize = 100_000 }
        cache.store(bytes, forKey: "stuck")
        let path = cache.cachePath(forKey: "stuck")
        #expect(MountedDisk.run("/usr/bin/chattr", ["+i", path]))
        defer { MountedDisk.run("/usr/bin/chattr", ["-i", path]) }
        for number in 0..<30 {
            clock.advance(10)
            #expect(cache.store(bytes, forKey: "\(number)"))
        }
        #expect(cache.entries().reduce(0) { $0 + $1.allocatedSize } <= 100_000)
        #expect(!cache.store(Data([1]), forKey: "stuck") && cache.data(forKey: "stuck") == bytes)
        clock.advance(700_000)
        #expect(cache.removeExpiredData().expiredCount > 0)
        cache.removeData(forKey: "stuck")
        cache.removeAllData()
        #expect(cache.entries().map(\.key) == ["stuck"])
    }

    @Test(.enabled(if: DiskImage.chattrWorks, "making a directory immutable needs root and a file system that can"))
    func `In a directory that cannot be changed hits continue, and nothing loops`() throws {
        let cache = DiskCache.make(directory) { $0.maxDiskSize = 40_000 }
        for number in 0..<3 { cache.store(bytes, forKey: "\(number)") }
        #expect(MountedDisk.run("/usr/bin/chattr", ["+i", cache.path]))
        defer { MountedDisk.run("/usr/bin/chattr", ["-i", cache.path]) }
        for number in 0..<6 { #expect(!cache.store(bytes, forKey: "new \(number)")) }
        cache.config.maxDiskSize = 10_000
        cache.removeExpiredData()
        cache.removeAllData()
        #expect(cache.totalCount == 3 && cache.data(forKey: "1") == bytes)
        #expect(cache.statistics.failedStoreCount == 6)
    }
}

extension DiskImage {
    /// A Boolean value that indicates whether files can be made immutable where tests put theirs.
    static let chattrWorks: Bool = {
        guard geteuid() == 0 else { return false }
        let directory = TemporaryDirectory()
        let path = directory.path("file")
        writeBytes([1], path)
        defer { MountedDisk.run("/usr/bin/chattr", ["-i", path]) }
        return MountedDisk.run("/usr/bin/chattr", ["+i", path]) && unlink(path) != 0
    }()
}
