import CacheTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import WebImageCache

@Suite struct DiskCacheMigrationTests {
    let directory = TemporaryDirectory()
    var old: String { directory.path("old") }
    var new: String { directory.path("x/y/new") }

    @Test func `Without a destination the directory is renamed, and its parents are created`() {
        DiskCache(path: old).store(Data([1]), forKey: "k")
        let inode = fileStatus(old).st_ino
        DiskCache.moveDirectory(from: old, to: new)
        #expect(!exists(old))
        #expect(fileStatus(new).st_ino == inode)
        #expect(DiskCache(path: new).data(forKey: "k") == Data([1]))
    }

    @Test func `A plain file at the destination is replaced`() {
        DiskCache(path: old).store(Data([1]), forKey: "k")
        writeBytes([1], directory.path("file"))
        DiskCache.moveDirectory(from: old, to: directory.path("file"))
        #expect(DiskCache(path: directory.path("file")).data(forKey: "k") == Data([1]))
    }

    @Test func `Entries are moved into an existing directory, but do not replace others`() {
        let source = DiskCache(path: old)
        source.store(Data([1]), forKey: "both")
        source.store(Data([2]), forKey: "only")
        mkdir(old + "/sub", 0o700)
        writeBytes([7], old + "/sub/deep.jpg")
        let target = DiskCache(path: new)
        target.store(Data([3]), forKey: "both")
        DiskCache.moveDirectory(from: old, to: new)
        #expect(!exists(old))
        #expect(target.data(forKey: "both") == Data([3]))
        #expect(target.data(forKey: "only") == Data([2]))
        #expect(readBytes(new + "/deep.jpg") == [7])
        #expect(target.verify() == [])
    }

    @Test func `The same directory, a missing one, or a file as the source change nothing`() {
        DiskCache(path: old).store(Data([1]), forKey: "k")
        DiskCache.moveDirectory(from: old, to: old)
        DiskCache.moveDirectory(from: old + "/", to: old)
        symlink(old, directory.path("link"))
        DiskCache.moveDirectory(from: old, to: directory.path("link"))
        DiskCache.moveDirectory(from: directory.path("none"), to: new)
        writeBytes([1], directory.path("file"))
        DiskCache.moveDirectory(from: directory.path("file"), to: new)
        #expect(!exists(new))
        #expect(DiskCache(path: old).data(forKey: "k") == Data([1]))
    }

    @Test(.enabled(if: access("/dev/shm", W_OK) == 0, "needs a second file system at /dev/shm"))
    func `Entries are copied from one file system to another`() {
        let other = "/dev/shm/webimage-test-\(getpid())"
        defer { DiskCache.moveDirectory(from: other, to: directory.path("rest")) }
        let source = DiskCache(path: old)
        let clock = ManualClock()
        for number in 0..<10 {
            source.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number))
        }
        setTimes(source.cachePath(forKey: HammerImage.key(3)), clock.wallTime)
        DiskCache.moveDirectory(from: old, to: other)
        let target = DiskCache(path: other)
        #expect(target.totalCount == 10)
        #expect(target.verify() == [])
        #expect(fileStatus(target.cachePath(forKey: HammerImage.key(3))).st_mtim.seconds == clock.wallTime)
        #expect(!exists(old))
    }

    @Test(arguments: [false, true]) func `A directory can be moved into itself`(exists: Bool) {
        let cache = DiskCache.make(directory)
        for number in 0..<5 { cache.store(Data([1]), forKey: "\(number)") }
        let inner = cache.path + "/default"
        let destination = DiskCache(path: exists ? inner : directory.path("other"))
        if exists { destination.store(Data([2]), forKey: "0") }
        DiskCache.moveDirectory(from: cache.path, to: inner)
        let moved = DiskCache(path: inner)
        #expect(Set(moved.entries().map(\.key)) == Set((0..<5).map { "\($0)" }))
        #expect(moved.data(forKey: "0") == Data([exists ? 2 : 1]))
        #expect(cache.totalCount == 0)
    }
}
