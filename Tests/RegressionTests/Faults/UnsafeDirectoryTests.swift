import CTestSupport
import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing
import WebImage

@testable import WebImageCache

/// A cache works in a directory that nobody else can put things into, follows no links, and cannot be led out of it.
@Suite(.tags(.addressSanitizer)) struct UnsafeDirectoryTests {
    private let directory = TemporaryDirectory()
    private let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private var path: String { directory.path("cache") }

    private func expectRefused(_ cache: DiskCache, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(!cache.store(bytes, forKey: "k"), sourceLocation: sourceLocation)
        #expect(cache.data(forKey: "k") == nil && !cache.containsData(forKey: "k"), sourceLocation: sourceLocation)
        #expect(cache.extendedData(forKey: "k") == nil && cache.totalCount == 0, sourceLocation: sourceLocation)
        #expect(cache.entries() == [] && cache.verify() == [], sourceLocation: sourceLocation)
        cache.removeData(forKey: "k")
        cache.removeAllData()
        #expect(cache.removeExpiredData() == DiskCacheCleanup(), sourceLocation: sourceLocation)
        let error = cache.lastError?.description ?? ""
        #expect(error.contains(reason) && error.contains(cache.path), "\(error)", sourceLocation: sourceLocation)
    }

    @Test func `A symbolic link in place of the directory is refused, and its target is not changed`() {
        let target = directory.path("target")
        #expect(DiskCache(path: target).store(bytes, forKey: "k"))
        let before = names(in: target)
        symlink(target, path)
        expectRefused(DiskCache(path: path), "symbolic link")
        #expect(names(in: target) == before && DiskCache(path: target).data(forKey: "k") == bytes)
        // A dangling link is not turned into a directory.
        let dangling = directory.path("dangling")
        symlink(directory.path("nothing"), dangling)
        expectRefused(DiskCache(path: dangling), "symbolic link")
        #expect(!exists(directory.path("nothing")))
    }

    @Test func `A link above the directory is allowed`() {
        let target = directory.path("target")
        mkdir(target, 0o700)
        symlink(target, directory.path("link"))
        let cache = DiskCache(path: directory.path("link") + "/cache")
        #expect(cache.store(bytes, forKey: "k") && DiskCache(path: target + "/cache").data(forKey: "k") == bytes)
    }

    @Test(arguments: [(mode_t(0o777), "everybody"), (0o1777, "everybody"), (0o702, "everybody"), (0o770, "group")])
    func `A directory that others may write to is refused`(mode: mode_t, reason: String) {
        mkdir(path, 0o700)
        chmod(path, mode)
        expectRefused(DiskCache(path: path), reason)
        #expect(names(in: path) == [] && fileStatus(path).st_mode & 0o7777 == mode)
        // It is checked again.
        chmod(path, 0o700)
        #expect(DiskCache(path: path).store(bytes, forKey: "k"))
    }

    @Test(arguments: [mode_t(0o755), 0o750, 0o711]) func `A directory that others may only read is used unchanged`(
        mode: mode_t
    ) {
        mkdir(path, 0o700)
        chmod(path, mode)
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "k") && cache.data(forKey: "k") == bytes)
        #expect(fileStatus(path).st_mode & 0o7777 == mode)
        for name in names(in: path) { #expect(fileStatus(path + "/" + name).st_mode & 0o077 == 0, "\(name)") }
    }

    @Test func `Entries of another user are not trusted, those of root are`() {
        var status = fileStatus(directory.path)
        for (owner, user, isTrusted) in [(7, 7, true), (0, 7, true), (8, 7, false), (7, 0, false)] {
            status.st_uid = uid_t(owner)
            #expect((CacheDirectory.distrust(status, user: uid_t(user)) == nil) == isTrusted, "\(owner) \(user)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "giving a directory to another user needs root"))
    func `A directory of another user is refused, also by root`() {
        mkdir(path, 0o700)
        chown(path, 65_534, 65_534)
        expectRefused(DiskCache(path: path), "another user")
    }

    @Test(.enabled(if: geteuid() == 0, "giving a file to another user needs root"))
    func `An entry that another user put there is not served, and a store replaces it`() {
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "k", extendedData: Data([1])))
        chown(cache.cachePath(forKey: "k"), 65_534, 65_534)
        #expect(cache.data(forKey: "k") == nil && cache.extendedData(forKey: "k") == nil && cache.entries() == [])
        cache.setExtendedData(Data([2]), forKey: "k")
        #expect(fileStatus(cache.cachePath(forKey: "k")).st_uid == 65_534, "it is not touched")
        #expect(cache.store(bytes, forKey: "k") && cache.data(forKey: "k") == bytes)
    }

    @Test func `A directory replaced by a link during use is not followed`() {
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "k"))
        let target = directory.path("target")
        #expect(DiskCache(path: target).store(bytes, forKey: "k"))
        let before = names(in: target)
        #expect(rename(path, path + "-old") == 0 && symlink(target, path) == 0)
        expectRefused(cache, "symbolic link")
        #expect(names(in: target) == before)
        unlink(path)
        #expect(cache.store(Data([2]), forKey: "k") && cache.data(forKey: "k") == Data([2]))
        #expect(DiskCache(path: path + "-old").data(forKey: "k") == bytes)
    }

    @Test func `A directory opened to others during use is not used any more`() {
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "k"))
        chmod(path, 0o777)
        expectRefused(cache, "everybody")
        chmod(path, 0o700)
        #expect(cache.data(forKey: "k") == bytes)
    }

    @Test func `The checked directory is the one used, wherever its path leads by then`() throws {
        let cache = DiskCache(path: path)
        let place = try #require(cache.usableDirectory())
        let writer = EntryWriter(directory: place, calls: .system)
        let target = directory.path("target")
        mkdir(target, 0o700)
        #expect(rename(path, path + "-old") == 0 && symlink(target, path) == 0)
        let trailer = EntryTrailer(key: "k", created: 0)
        let now = timespec(seconds: 1_700_000_000)
        let name = CacheFileName(key: "k").string
        _ = try [UInt8](bytes).withUnsafeBytes { body in
            try writer.write(body, trailer: trailer, name: name, times: (now, now), overwriting: true)
        }
        #expect(names(in: target) == [] && exists(path + "-old/" + name))
        unlink(path)
    }

    @Test func `New directories and files are private to the user, for any umask`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let tests = UnsafeDirectoryTests()
            let cache = DiskCache(path: tests.directory.path("a/b/cache"))
            #expect(cache.store(tests.bytes, forKey: "k"))
            for name in ["a", "a/b", "a/b/cache"] {
                #expect(fileStatus(tests.directory.path(name)).st_mode & 0o777 == 0o700, "\(name)")
            }
            for name in names(in: cache.path) {
                #expect(fileStatus(cache.path + "/" + name).st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test func `An entry that has a second name is not written into`() throws {
        let cache = DiskCache.make(directory)
        #expect(cache.store(StoredRecords.entry([UInt8](bytes), 1), forKey: "k"))
        let backup = directory.path("backup")
        #expect(link(cache.cachePath(forKey: "k"), backup) == 0)
        let before = readBytes(backup)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(2), forKey: "k")
        #expect(readBytes(backup) == before)
        #expect(StoredRecords.number(of: cache.validators(forKey: "k")) == 2)
    }

    @Test func `Two keys of one file name never get each other's bytes`() {
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "one"))
        // As if MD5 had given both the same name.
        #expect(rename(cache.cachePath(forKey: "one"), cache.cachePath(forKey: "two")) == 0)
        #expect(cache.data(forKey: "two") == nil && cache.extendedData(forKey: "two") == nil)
        cache.amend(extendedData: Data([1]), validators: nil, forKey: "two")
        #expect(cache.data(forKey: "two") == nil)
        #expect(cache.store(Data([2]), forKey: "two") && cache.data(forKey: "two") == Data([2]))
        #expect(cache.data(forKey: "one") == nil)
    }

    @Test func `Removing, trimming and moving follow no links`() {
        let outside = directory.path("outside")
        mkdir(outside, 0o700)
        let cache = DiskCache(path: path)
        #expect(cache.store(bytes, forKey: "k"))
        let kept = [String(repeating: "b", count: 32), ".webimage-old.tmp"]
        for name in kept {
            writeBytes([1, 2, 3], outside + "/" + name)
            symlink(outside + "/" + name, path + "/" + name)
        }
        let linked = String(repeating: "c", count: 32)
        symlink(outside, path + "/" + linked)
        cache.config.maxDiskSize = 1
        cache.removeExpiredData()
        cache.removeAllData()
        #expect(names(in: outside).count == 2)
        symlink(outside, path + "/folder")
        DiskCache.moveDirectory(from: path, to: directory.path("new"))
        #expect(DiskCache(path: directory.path("new2")).store(bytes, forKey: "k"))
        DiskCache.moveDirectory(from: directory.path("new"), to: directory.path("new2"))
        #expect(names(in: outside).count == 2)
        for name in kept { #expect(readBytes(outside + "/" + name) == [1, 2, 3]) }
        #expect(!exists(directory.path("new")))
    }

    @Test func `A link is neither moved from nor moved to`() {
        let target = directory.path("target")
        #expect(DiskCache(path: target).store(bytes, forKey: "k"))
        symlink(target, path)
        DiskCache.moveDirectory(from: path, to: directory.path("new"))
        #expect(!exists(directory.path("new")) && exists(path))
        let other = directory.path("other")
        #expect(DiskCache(path: other).store(Data([1]), forKey: "other"))
        DiskCache.moveDirectory(from: other, to: path)
        #expect(
            DiskCache(path: target).entries().count == 1 && DiskCache(path: other).data(forKey: "other") == Data([1])
        )
    }

    @Test func `Directories within directories are moved to a depth, and not beyond`() {
        var deep = path
        mkdir(deep, 0o700)
        for _ in 0..<100 {
            deep += "/d"
            mkdir(deep, 0o700)
        }
        writeBytes([1], deep + "/deep.jpg")
        writeBytes([2], path + "/d/d/near.jpg")
        #expect(DiskCache(path: directory.path("new")).store(bytes, forKey: "k"))
        let open = ctest_open_descriptors(directory.path)
        DiskCache.moveDirectory(from: path, to: directory.path("new"))
        #expect(ctest_open_descriptors(directory.path) == open)
        #expect(readBytes(directory.path("new/near.jpg")) == [2] && exists(deep + "/deep.jpg"))
    }

    private func expectWork(in path: String) {
        let cache = DiskCache(path: path)
        for number in 0..<20 {
            #expect(cache.store(HammerImage.bytes(number, version: 1), forKey: HammerImage.key(number)))
        }
        #expect(cache.isWhole(0..<20) && cache.totalCount == 20 && cache.verify() == [])
        cache.setExtendedData(Data([1]), forKey: HammerImage.key(3))
        #expect(cache.extendedData(forKey: HammerImage.key(3)) == Data([1]))
        let again = DiskCache(path: path)
        #expect(again.isWhole(0..<20) && again.data(forKey: HammerImage.key(3)) != nil)
        again.removeAllData()
        #expect(cache.totalCount == 0)
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system without extended attributes needs root"))
    func `Everything works on a file system without extended attributes`() throws {
        let mount = try #require(MountedDisk(at: directory.path("m"), type: "ramfs", options: "mode=0700"))
        #expect(ctest_has_attributes(mount.path) == 0)
        expectWork(in: mount.path + "/cache")
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting an overlay needs root"))
    func `Everything works on an overlay as in containers, also with a directory from the lower layer`() throws {
        let memory = try #require(MountedDisk(at: directory.path("m"), type: "tmpfs", options: "size=8m"))
        for name in ["lower", "upper", "work"] { mkdir(memory.path + "/" + name, 0o700) }
        #expect(DiskCache(path: memory.path + "/lower/cache").store(bytes, forKey: "below"))
        let places = ["lower", "upper", "work"].map { "\($0)dir=\(memory.path)/\($0)" }.joined(separator: ",")
        let mount = try #require(MountedDisk(at: directory.path("o"), type: "overlay", options: places))
        let cache = DiskCache(path: mount.path + "/cache")
        #expect(cache.data(forKey: "below") == bytes)
        #expect(cache.store(bytes, forKey: "above") && cache.data(forKey: "above") == bytes)
        cache.removeAllData()
        #expect(cache.totalCount == 0)
        expectWork(in: mount.path + "/cache")
        withExtendedLifetime(memory) {}
    }

    @Test func `The directory's descriptor is closed with the cache, and when the directory is gone`() throws {
        let open = ctest_open_descriptors(directory.path)
        var cache: DiskCache? = DiskCache(path: path)
        cache?.store(bytes, forKey: "k")
        #expect(ctest_open_descriptors(directory.path) == open + 1)
        try FileManager.default.removeItem(atPath: path)
        #expect(cache?.data(forKey: "k") == nil)
        #expect(ctest_open_descriptors(directory.path) == open)
        cache?.store(bytes, forKey: "k")
        cache = nil
        #expect(ctest_open_descriptors(directory.path) == open)
    }
}
