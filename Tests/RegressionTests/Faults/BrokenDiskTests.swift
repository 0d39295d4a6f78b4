import CTestSupport
import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

/// Disks that lose writes, processes that are limited, stopped or slow, clocks that jump.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct BrokenDiskTests {
    private let directory = TemporaryDirectory()

    @Test(.enabled(if: MountedDisk.isPermittedForImages, "mounting a disk in a file needs root and a loop device"))
    func `Entries whose blocks are lost from the disk are misses, and others stay`() throws {
        let image = try #require(DiskImage(in: directory, size: 16))
        let count = 60
        let first = try #require(image.mount())
        do {
            let cache = DiskCache(path: first.path + "/cache")
            for number in 0..<count {
                #expect(cache.store(Data(repeating: UInt8(number), count: 150_000), forKey: "\(number)"))
            }
        }
        #expect(first.unmount())
        let mount = try #require(image.mount())
        defer { withExtendedLifetime(mount) {} }
        let cache = DiskCache(path: mount.path + "/cache")
        #expect(cache.usage().count == count)
        // The end of the disk is torn off under the file system; nothing of it is in memory.
        #expect(truncate(image.path, 6 << 20) == 0)
        Self.dropCaches()
        var hits = 0
        for number in 0..<count {
            guard let data = cache.data(forKey: "\(number)") else { continue }
            hits += 1
            #expect(data == Data(repeating: UInt8(number), count: 150_000), "\(number)")
        }
        #expect(hits < count, "the disk was cut")
        _ = cache.entries()
        _ = cache.removeExpiredData()
    }

    private static func dropCaches() {
        sync()
        let file = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC)
        _ = write(file, "3", 1)
        close(file)
    }

    @Test(.enabled(if: MountedDisk.isPermittedForImages, "mounting a disk in a file needs root and a loop device"))
    func `After a power cut every readable entry equals what was stored`() throws {
        let image = try #require(DiskImage(in: directory, size: 24))
        var (whole, misses) = (0, 0)
        for round in 0..<8 {
            let mount = try #require(image.mount())
            let found = Self.usePowerFails(mount.path, round: round)
            whole += found
            misses += 80 - found
            #expect(mount.unmount())
        }
        #expect(whole > 80 && misses > 80, "\(whole) and \(misses)")
    }

    /// Checks the existing entries, then stores again until the power fails. Returns the number of entries.
    private static func usePowerFails(_ path: String, round: Int) -> Int {
        let cache = DiskCache(path: path + "/cache")
        let begun = ContinuousClock.now
        #expect(cache.isWhole(0..<80), "round \(round)")
        #expect(begun.duration(to: .now) < .seconds(1))
        let found = cache.entries().count
        #expect(cache.verify() == [])
        for number in 0..<80 {
            cache.store(HammerImage.bytes(number, version: round), forKey: HammerImage.key(number))
            // Some of it has reached the disk, in the middle of the rest.
            if number == 10 + round * 8 { synchronize(path) }
        }
        #expect(ctest_cut_power(path) == 0)
        return found
    }

    private static func synchronize(_ path: String) {
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        ctest_synchronize(file)
        close(file)
    }

    @Test(arguments: ["descriptors", "memory", "file-size"])
    func `A process at its limit has misses, and continues when resources are available again`(kind: String)
        async throws
    {
        let run = try await ProgramRun.run(
            ProgramRun.product("test-program"),
            ["disk-faults", "limited", directory.path("cache"), kind]
        )
        #expect(run.status == 0 && run.lines.last == "ok", "\(run.output) \(run.errors)")
    }

    @Test func `On a slow disk only calls that need it wait`() async throws {
        let base = directory.path("base")
        let run = try await FaultHelper.run(["slow", base])
        #expect(run.status == 0)
        #expect(run.lines == ["memory", "task", "disk", "picture"])
    }

    @Test(arguments: [-315_360_000.0, 315_360_000.0])
    func `A clock that jumps by ten years does not remove entries at once`(jump: Double) {
        let clock = ManualClock()
        let cache = DiskCache.make(directory, clock: clock)
        for number in 0..<20 {
            cache.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number))
        }
        clock.jump(jump)
        #expect(cache.removeExpiredData().expiredCount == 0)
        #expect(cache.isWhole(0..<20) && cache.totalCount == 20)
        clock.jump(-jump)
        #expect(cache.removeExpiredData().expiredCount == 0 && cache.totalCount == 20)
    }

    @Test func `Entries of the future and of long ago are read, and their age is never negative`() {
        let clock = ManualClock()
        let cache = DiskCache.make(directory, clock: clock)
        for (number, time) in [1e9, 4e9, 0, -1].enumerated() {
            cache.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number))
            setTimes(cache.cachePath(forKey: HammerImage.key(number)), time)
            #expect(cache.data(forKey: HammerImage.key(number)) != nil)
        }
        cache.removeExpiredData()
        #expect(cache.totalCount == 4, "they were used just now")
    }

    @Test func `Garbage of every kind in the directory is skipped`() throws {
        let path = directory.path("cache")
        mkdir(path, 0o700)
        let hex = String(repeating: "a", count: 32)
        for (number, size) in [0, 1, 55, 56, 57, 4096, 100_000].enumerated() {
            writeBytes(noise(size, seed: UInt64(number)), path + "/" + hex.dropLast() + "\(number)")
        }
        writeBytes([1], path + "/index.sqlite")
        mkdir(path + "/" + hex, 0o700)
        symlink("/etc/passwd", path + "/" + hex.dropLast() + "b")
        mkfifo(path + "/" + hex.dropLast() + "c", 0o600)
        let cache = DiskCache(path: path)
        #expect(cache.entries() == [])
        _ = cache.verify()
        cache.removeExpiredData()
        for number in 0..<50 {
            #expect(cache.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number)))
        }
        #expect(cache.isWhole(0..<50) && cache.entries().count == 50)
        #expect(cache.verify(removingDamaged: true).count == 7 && cache.verify() == [])
        cache.removeAllData()
        #expect(exists("/etc/passwd") && exists(path + "/" + hex) && exists(path + "/index.sqlite"))
    }

    @Test func `Keys of any length and content have an entry each`() {
        let cache = DiskCache.make(directory)
        let keys = [
            String(repeating: "k", count: 100_000), "http://h/a." + String(repeating: "x", count: 300), "/", "..", "\0",
            "http://h/../../../etc/passwd", "a\nb", "\u{1F600}", "http://h/%00/a.%2F",
        ]
        for (number, key) in keys.enumerated() {
            #expect(cache.store(HammerImage.bytes(number, version: 1), forKey: key))
        }
        for (number, key) in keys.enumerated() {
            #expect(cache.data(forKey: key) == HammerImage.bytes(number, version: 1))
        }
        #expect(names(in: cache.path).filter { $0 != "CACHEDIR.TAG" }.count == keys.count)
        #expect(names(in: directory.path) == ["cache"])
    }
}
