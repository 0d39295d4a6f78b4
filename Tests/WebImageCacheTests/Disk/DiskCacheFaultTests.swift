import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageSupport

/// Makes system calls fail.
private final class Faults: Sendable {
    struct State {
        var open: [Int32] = []
        var openDirectory: [Int32] = []
        var read: [Int] = []
        var write: [Int] = []
        var close: [Int32] = []
        var rename: [Int32] = []
        var openFiles = 0
    }

    let state = Lock(State())

    /// The system's calls. Each first returns the values left in its list: 0 stands for the real call, for a write a
    /// positive number for a short one.
    var calls: FileCalls {
        let system = FileCalls.system
        return FileCalls(
            open: { directory, path, flags in
                let fault = self.state.withLock { state -> Int32 in
                    if flags & O_DIRECTORY != 0 {
                        return state.openDirectory.isEmpty ? 0 : state.openDirectory.removeFirst()
                    }
                    return state.open.isEmpty ? 0 : state.open.removeFirst()
                }
                let file = fault == 0 ? system.open(directory, path, flags) : -fault
                if file >= 0 { self.state.withLock { $0.openFiles += 1 } }
                return file
            },
            read: { file, buffer, count in
                let fault = self.state.withLock { $0.read.isEmpty ? 0 : $0.read.removeFirst() }
                if fault > 0 { return system.read(file, buffer, min(fault, count)) }
                return fault == 0 ? system.read(file, buffer, count) : fault
            },
            write: { file, pieces, count in
                let fault = self.state.withLock { $0.write.isEmpty ? 0 : $0.write.removeFirst() }
                guard fault > 0 else { return fault == 0 ? system.write(file, pieces, count) : fault }
                var piece = pieces[0].iov_len > 0 ? pieces[0] : pieces[1]
                piece.iov_len = min(piece.iov_len, fault)
                return system.write(file, &piece, 1)
            },
            close: { file in
                self.state.withLock { $0.openFiles -= 1 }
                let fault = self.state.withLock { $0.close.isEmpty ? 0 : $0.close.removeFirst() }
                let result = system.close(file)
                return fault == 0 ? result : -fault
            },
            rename: { directory, from, to, exclusive in
                let fault = self.state.withLock { $0.rename.isEmpty ? 0 : $0.rename.removeFirst() }
                return fault == 0 ? system.rename(directory, from, to, exclusive) : -fault
            }
        )
    }

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    var openFiles: Int { state.withLock { $0.openFiles } }
}

@Suite struct DiskCacheFaultTests {
    let directory = TemporaryDirectory()
    private let faults = Faults()
    let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func make(_ change: (inout ImageCacheConfig) -> Void = { _ in }) -> DiskCache {
        .make(directory, calls: faults.calls, change)
    }

    private func expectClean(_ cache: DiskCache) {
        #expect(!names(in: cache.path).contains { $0.hasSuffix(".tmp") })
        #expect(faults.openFiles == 0)
        #expect(cache.verify() == [])
    }

    @Test(arguments: [EIO, EROFS, EACCES, EMFILE, ENFILE, EDQUOT, ENOSPC, EPERM])
    func `A store that cannot create a file is dropped, and the old entry stays`(number: Int32) {
        let cache = make()
        cache.store(Data([1]), forKey: "k")
        faults.set { $0.open = [number, number] }
        #expect(!cache.store(bytes, forKey: "k"))
        faults.set { $0.open = [] }
        #expect(cache.lastError?.description.contains(String(cString: strerror(number))) == true)
        #expect(cache.statistics.failedStoreCount == 1)
        // A full disk is trimmed, which may remove the old entry; other errors do not.
        if number != ENOSPC, number != EDQUOT { #expect(cache.data(forKey: "k") == Data([1])) }
        expectClean(cache)
        #expect(cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == bytes)
    }

    @Test(arguments: [EIO, EFBIG, EPERM]) func `A write that fails half-way leaves no trace`(number: Int32) {
        let cache = make()
        cache.store(Data([1]), forKey: "k")
        for good in 0..<5 {
            faults.set { $0.write = Array(repeating: 1000, count: good) + [-Int(number)] }
            #expect(!cache.store(bytes, forKey: "k"))
            faults.set { $0.write = [] }
            #expect(cache.data(forKey: "k") == Data([1]))
            expectClean(cache)
        }
    }

    @Test func `Short and interrupted writes continue where they stopped`() {
        let cache = make()
        faults.set { $0.write = [1, -Int(EINTR), 999, 8999, -Int(EINTR), 1, 3, 40] }
        #expect(cache.store(bytes, forKey: "k", extendedData: Data([1, 2])))
        #expect(cache.entry(forKey: "k") == CachedImageData(data: bytes, extendedData: Data([1, 2])))
        expectClean(cache)
    }

    @Test func `Short and interrupted reads continue where they stopped`() {
        let cache = make()
        cache.store(bytes, forKey: "k")
        faults.set { $0.read = [1, -Int(EINTR), 999, -Int(EINTR), -Int(EINTR), 5000] }
        #expect(cache.data(forKey: "k") == bytes)
        expectClean(cache)
    }

    @Test func `An entry with a read error is removed`() {
        let cache = make()
        cache.store(bytes, forKey: "k")
        faults.set { $0.read = [1000, -Int(EIO)] }
        #expect(cache.data(forKey: "k") == nil)
        #expect(!cache.containsData(forKey: "k"))
        expectClean(cache)
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, EACCES])
    func `An entry that cannot be opened at the moment is a miss, and stays`(
        number: Int32
    ) {
        let cache = make()
        cache.store(bytes, forKey: "k")
        faults.set { $0.open = [number] }
        #expect(cache.data(forKey: "k") == nil)
        #expect(cache.data(forKey: "k") == bytes)
        #expect(cache.lastError != nil)
        expectClean(cache)
    }

    @Test(arguments: [EXDEV, EIO, EROFS, EPERM]) func `A failed rename leaves the old entry and no temporary file`(
        number: Int32
    ) {
        let cache = make()
        cache.store(Data([1]), forKey: "k")
        faults.set { $0.rename = [number] }
        #expect(!cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == Data([1]))
        expectClean(cache)
    }

    @Test(arguments: [ENOSPC, EIO, EDQUOT]) func `An error of close does not publish the entry`(
        number: Int32
    ) {
        let cache = make()
        faults.set { $0.close = [number, number] }
        _ = cache.store(bytes, forKey: "k")
        faults.set { $0.close = [] }
        #expect(cache.data(forKey: "k") == nil)
        expectClean(cache)
    }

    @Test func `A full disk is trimmed by the oldest entries, once`() {
        let clock = ManualClock()
        let cache = DiskCache.make(directory, clock: clock, calls: faults.calls)
        for number in 0..<100 {
            cache.store(bytes, forKey: "\(number)")
            clock.advance(10)
        }
        faults.set { $0.write = [-Int(ENOSPC)] }
        #expect(cache.store(bytes, forKey: "new"))
        #expect(cache.data(forKey: "new") == bytes)
        #expect(cache.statistics.evictedCount >= 8)
        #expect(cache.totalCount == 101 - cache.statistics.evictedCount)
        for number in 0..<8 { #expect(!cache.containsData(forKey: "\(number)")) }
        #expect(cache.containsData(forKey: "99"))
        faults.set { $0.write = [-Int(ENOSPC), -Int(ENOSPC)] }
        #expect(!cache.store(bytes, forKey: "newer"))
        expectClean(cache)
    }

    @Test func `When the directory cannot be listed, a pass reports it and the limit is enforced a little later`() {
        let cache = make { $0.maxDiskSize = 100_000 }
        for number in 0..<8 { cache.store(bytes, forKey: "\(number)") }
        // The sweep, then the scan.
        faults.set { $0.openDirectory = [EMFILE, EMFILE] }
        #expect(!cache.removeExpiredData().isComplete)
        #expect(cache.lastError?.description.contains(String(cString: strerror(EMFILE))) == true)
        faults.set { $0.openDirectory = [EMFILE] }
        for number in 8..<20 { cache.store(bytes, forKey: "\(number)") }
        #expect(faults.state.withLock { $0.openDirectory.isEmpty })
        var size = 0
        DirectoryScan(path: cache.path).forEachEntry { _, status in
            size += status.allocatedSize
            return true
        }
        #expect(size <= 100_000)
        expectClean(cache)
    }

    @Test func `A deleted directory is created again by the next store`() throws {
        let cache = make()
        cache.store(bytes, forKey: "k")
        try FileManager.default.removeItem(atPath: cache.path)
        #expect(cache.data(forKey: "k") == nil)
        #expect(cache.totalCount == 0)
        #expect(cache.entries() == [])
        cache.removeData(forKey: "k")
        cache.removeExpiredData()
        #expect(cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == bytes)
        #expect(names(in: cache.path).contains("CACHEDIR.TAG"))
        #expect(fileStatus(cache.path).st_mode & 0o777 == 0o700)
        // With its parents.
        try FileManager.default.removeItem(atPath: directory.path)
        #expect(cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == bytes)
    }

    @Test func `A directory that was moved away is created again`() {
        let cache = make()
        cache.store(bytes, forKey: "k")
        #expect(rename(cache.path, cache.path + "-old") == 0)
        #expect(cache.data(forKey: "k") == nil)
        #expect(cache.store(Data([2]), forKey: "k"))
        #expect(cache.data(forKey: "k") == Data([2]))
    }

    @Test(arguments: [false, true])
    func `A directory that is moved or opened to others after reads of it is not read in the next tick`(isMoved: Bool) {
        let cache = make()
        cache.store(bytes, forKey: "k")
        for _ in 0..<3 { #expect(cache.data(forKey: "k") == bytes) }
        if isMoved {
            #expect(rename(cache.path, cache.path + "-old") == 0)
            mkdir(cache.path, 0o700)
        } else {
            #expect(chmod(cache.path, 0o777) == 0)
        }
        Self.awaitTick()
        #expect(cache.data(forKey: "k") == nil)
    }

    /// Returns in the next tick of the clock of the system, which has a few hundred per second.
    private static func awaitTick() {
        func tick() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            return time.tv_nsec
        }
        let start = tick()
        while tick() == start { sched_yield() }
    }

    @Test func `A directory that cannot be created is an empty cache`() {
        let file = directory.path("file")
        writeBytes([1], file)
        let cache = DiskCache(path: file + "/below/cache")
        #expect(!cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == nil)
        #expect(!cache.containsData(forKey: "k"))
        #expect(cache.totalCount == 0)
        #expect(cache.verify() == [])
        cache.removeAllData()
        #expect(cache.removeExpiredData() == DiskCacheCleanup())
        #expect(cache.lastError?.code == .fileAccessFailed)
        #expect(DiskCache(path: file).store(bytes, forKey: "k") == false)
        #expect(readBytes(file) == [1])
        // It is tried again: the obstacle may be gone.
        unlink(file)
        #expect(cache.store(bytes, forKey: "k"))
    }

    @Test func `A world-writable directory is refused`() {
        let path = directory.path("shared")
        mkdir(path, 0o700)
        chmod(path, 0o777)
        let cache = DiskCache(path: path)
        #expect(!cache.store(bytes, forKey: "k"))
        #expect(cache.data(forKey: "k") == nil)
        #expect(names(in: path) == [])
        #expect(cache.lastError?.description.contains(path) == true)
    }

    @Test func `The directory is private and tagged, as configured`() {
        let cache = DiskCache(path: directory.path("a/b/c"))
        #expect(fileStatus(directory.path("a")).st_mode & 0o777 == 0o700)
        #expect(fileStatus(cache.path).st_mode & 0o777 == 0o700)
        let tag = String(decoding: readBytes(cache.path + "/CACHEDIR.TAG"), as: UTF8.self)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        let untagged = make { $0.writesCacheDirectoryTag = false }
        #expect(names(in: untagged.path) == [])
        #expect(untagged.totalCount == 0)
        #expect(cache.totalCount == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a small file system needs root"))
    func `On a file system of one megabyte stores continue, and no entry is torn`() async throws {
        let mount = directory.path("mount")
        mkdir(mount, 0o700)
        let command = try await ProgramRun.run(
            "/bin/mount",
            ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", mount]
        )
        guard command.status == 0 else {
            print("cannot mount a tmpfs here, even as root: the test of a full disk is left out")
            return
        }
        defer { _ = try? ProgramRun("/bin/umount", ["-l", mount]) }
        let cache = DiskCache(path: mount + "/cache")
        for number in 0..<400 {
            let key = HammerImage.key(number)
            #expect(cache.store(HammerImage.bytes(number, version: 1), forKey: key), "\(number)")
            #expect(cache.data(forKey: key).map { HammerImage.isWhole($0, number: number) } == true, "\(number)")
        }
        #expect(cache.statistics.evictedCount > 0)
        #expect(cache.verify() == [])
        #expect(!names(in: cache.path).contains { $0.hasSuffix(".tmp") })
        // More than the whole file system holds.
        let before = cache.statistics.failedStoreCount
        let count = cache.totalCount
        #expect(!cache.store(Data(repeating: 1, count: 2 << 20), forKey: "big"))
        #expect(cache.statistics.failedStoreCount == before + 1)
        // Removing everything else would not have helped, so nothing was removed.
        #expect(cache.totalCount == count)
        #expect(!names(in: cache.path).contains { $0.hasSuffix(".tmp") })
        #expect(cache.store(bytes, forKey: "small"))
    }
}
