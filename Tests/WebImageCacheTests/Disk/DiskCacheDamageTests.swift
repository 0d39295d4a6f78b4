import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.addressSanitizer)) struct DiskCacheDamageTests {
    let directory = TemporaryDirectory.inMemory()
    let key = "http://h/a.jpg"
    let bytes = Data("the picture's bytes".utf8)

    private func stored() -> (cache: DiskCache, path: String, file: [UInt8]) {
        let cache = DiskCache.make(directory)
        cache.store(bytes, forKey: key, extendedData: Data([1, 2, 3]))
        let path = cache.cachePath(forKey: key)
        return (cache, path, readBytes(path))
    }

    @Test func `A flipped bit at any position is detected, and the entry removed`() {
        let (cache, path, file) = stored()
        for position in file.indices {
            for bit in [0, 3, 7] {
                var broken = file
                broken[position] ^= 1 << bit
                writeBytes(broken, path)
                #expect(cache.data(forKey: key) == nil, "byte \(position) bit \(bit)")
                // A footer of an unknown version would be left in place; the hash covers the version too.
                #expect(!exists(path), "byte \(position) bit \(bit)")
            }
        }
        #expect(cache.statistics.damagedCount == file.count * 3)
        #expect(cache.store(bytes, forKey: key))
        #expect(cache.data(forKey: key) == bytes)
    }

    @Test func `A file cut at any length, or extended, is detected`() {
        let (cache, path, file) = stored()
        for length in 0..<file.count {
            writeBytes(Array(file[..<length]), path)
            #expect(cache.data(forKey: key) == nil, "length \(length)")
            #expect(!exists(path))
        }
        for tail in [[0], file, [UInt8](repeating: 0, count: 5000)] {
            writeBytes(file + tail, path)
            // The file twice: the second footer fits neither.
            #expect(cache.data(forKey: key) == nil)
        }
    }

    @Test func `A file of zeros, as left by a power cut, is a miss`() {
        let (cache, path, file) = stored()
        writeBytes([UInt8](repeating: 0, count: file.count), path)
        #expect(cache.data(forKey: key) == nil)
        #expect(!exists(path))
        for start in stride(from: 0, to: file.count, by: 8) {
            writeBytes(Array(file[..<start]) + [UInt8](repeating: 0, count: file.count - start), path)
            #expect(cache.data(forKey: key) == nil)
        }
    }

    @Test func `An entry under another key's name is never served, and stays`() {
        let (cache, path, file) = stored()
        let other = cache.cachePath(forKey: "other")
        writeBytes(file, other)
        #expect(cache.data(forKey: "other") == nil)
        #expect(cache.extendedData(forKey: "other") == nil)
        cache.setExtendedData(Data([7]), forKey: "other")
        #expect(readBytes(other) == file)
        #expect(cache.data(forKey: key) == bytes)
        let damaged = cache.verify()
        #expect(damaged.map(\.path) == [other])
        #expect(damaged.first?.isRemoved == false)
        #expect(cache.verify(removingDamaged: true).first?.isRemoved == true)
        #expect(!exists(other))
        #expect(exists(path))
    }

    @Test func `A plain file under an entry's name is a miss and is removed`() {
        let (cache, path, _) = stored()
        writeBytes([UInt8](bytes), path)
        #expect(cache.data(forKey: key) == nil)
        #expect(!exists(path))
    }

    @Test func `Verifying lists every damaged entry with a reason, and touches no other`() {
        let cache = DiskCache.make(directory)
        for number in 0..<20 { cache.store(bytes, forKey: "\(number)") }
        var broken: Set<String> = []
        for number in [3, 7, 11] {
            let path = cache.cachePath(forKey: "\(number)")
            var file = readBytes(path)
            file[number] ^= 1
            writeBytes(file, path)
            broken.insert(path)
        }
        writeBytes([1, 2], cache.path + "/mine.txt")
        let found = cache.verify()
        #expect(Set(found.map(\.path)) == broken)
        #expect(found.allSatisfy { !$0.reason.isEmpty && !$0.isRemoved })
        #expect(cache.totalCount == 20)
        let removed = cache.verify(removingDamaged: true)
        #expect(removed.allSatisfy { $0.isRemoved })
        #expect(cache.verify() == [])
        #expect(cache.totalCount == 17)
        #expect(exists(cache.path + "/mine.txt"))
    }

    @Test func `A damaged file that has been replaced meanwhile is not removed`() throws {
        let (cache, path, file) = stored()
        let old = fileStatus(path)
        cache.store(Data([1]), forKey: key)
        #expect(!fileStatus(path).isUnchanged(since: old))
        let name = try #require(path.split(separator: "/").last)
        #expect(!cache.removeDamaged(String(name), old))
        #expect(cache.data(forKey: key) == Data([1]))
        #expect(!file.isEmpty)
    }

    @Test func `A later version's entry is a miss and stays`() throws {
        let (cache, path, file) = stored()
        var later = file
        let start = later.count - 56
        later[start + 32] = 9
        let hash = later[bytes.count..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        withUnsafeBytes(of: hash.littleEndian) { later.replaceSubrange((start + 40)..<(start + 48), with: $0) }
        writeBytes(later, path)
        #expect(cache.data(forKey: key) == nil)
        #expect(cache.verify() == [])
        #expect(readBytes(path) == later)
        #expect(cache.store(bytes, forKey: key))
        #expect(cache.data(forKey: key) == bytes)
    }

    @Test func `In a directory of two versions each finds its own entries, and removes none of the other's`() throws {
        let clock = ManualClock()
        let cache = DiskCache.make(directory, clock: clock)
        let body = { (number: Int) in Data("picture \(number)".utf8) }
        var later: [Int: [UInt8]] = [:]
        for number in 0..<40 {
            #expect(cache.store(body(number), forKey: "\(number)"))
            guard number % 2 == 1 else { continue }
            // Written as a later version would: another number, and its checksum.
            let path = cache.cachePath(forKey: "\(number)")
            var file = readBytes(path)
            let start = file.count - 56
            file[start + 32] = 3
            let hash = file[body(number).count..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
            withUnsafeBytes(of: hash.littleEndian) { file.replaceSubrange((start + 40)..<(start + 48), with: $0) }
            writeBytes(file, path)
            later[number] = file
        }
        // A process of this version, from its start.
        let process = DiskCache.make(directory, clock: clock)
        for number in 0..<40 {
            #expect(process.data(forKey: "\(number)") == (number % 2 == 0 ? body(number) : nil))
            process.setExtendedData(Data([1]), forKey: "\(number)")
        }
        #expect(process.verify(removingDamaged: true) == [])
        #expect(process.removeExpiredData().expiredCount == 0)
        #expect(process.entries().count == 20)
        for (number, file) in later { #expect(readBytes(process.cachePath(forKey: "\(number)")) == file) }
        // Its own store replaces that entry, only for this key.
        #expect(process.store(body(1), forKey: "1") && process.data(forKey: "1") == body(1))
        #expect(later.allSatisfy { $0 == 1 || readBytes(process.cachePath(forKey: "\($0)")) == $1 })
    }

    @Test func `A later version's entry of any size stays`() throws {
        let cache = DiskCache.make(directory)
        let body = Data(count: 65 << 20)
        #expect(cache.store(body, forKey: key))
        let path = cache.cachePath(forKey: key)
        let file = open(path, O_RDWR)
        defer { close(file) }
        var trailer = [UInt8](repeating: 0, count: Int(fileStatus(path).st_size) - body.count)
        #expect(pread(file, &trailer, trailer.count, body.count) == trailer.count)
        let start = trailer.count - 56
        trailer[start + 32] = 9
        let hash = trailer[..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        withUnsafeBytes(of: hash.littleEndian) { trailer.replaceSubrange((start + 40)..<(start + 48), with: $0) }
        #expect(pwrite(file, trailer, trailer.count, body.count) == trailer.count)
        #expect(cache.data(forKey: key) == nil)
        #expect(cache.verify() == [] && exists(path))
    }

    @Test func `A footer that claims more than the available memory is a miss`() throws {
        let (cache, path, file) = stored()
        var footer = Array(file.suffix(56))
        let records = (1 << 40) - 56 - bytes.count
        withUnsafeBytes(of: UInt64(records).littleEndian) { footer.replaceSubrange(8..<16, with: $0) }
        let sparse = open(path, O_RDWR)
        defer { close(sparse) }
        try #require(ftruncate(sparse, 1 << 40) == 0)
        #expect(pwrite(sparse, footer, footer.count, (1 << 40) - footer.count) == footer.count)
        #expect(cache.data(forKey: key) == nil)
        #expect(cache.extendedData(forKey: key) == nil)
        let found = cache.verify(removingDamaged: true)
        #expect(found.allSatisfy { $0.isRemoved })
    }

    @Test func `A symbolic link planted as an entry is not followed`() {
        let (cache, path, file) = stored()
        let target = directory.path("target")
        writeBytes(file, target)
        unlink(path)
        symlink(target, path)
        #expect(cache.data(forKey: key) == nil)
        #expect(!cache.containsData(forKey: key))
        #expect(cache.totalCount == 0)
        #expect(cache.verify() == [])
        #expect(cache.entries() == [])
        // Storing replaces the link, not its target.
        #expect(cache.store(Data([1]), forKey: key))
        #expect(cache.data(forKey: key) == Data([1]))
        #expect(readBytes(target) == file)
    }

    @Test func `A FIFO planted as an entry does not block`() {
        let (cache, path, _) = stored()
        unlink(path)
        mkfifo(path, 0o600)
        #expect(cache.data(forKey: key) == nil)
        #expect(cache.extendedData(forKey: key) == nil)
        #expect(cache.verify() == [])
        cache.removeExpiredData()
        #expect(cache.store(bytes, forKey: key))
        #expect(cache.data(forKey: key) == bytes)
    }

    @Test func `A directory planted as an entry is a miss, and the store fails without a trap`() {
        let (cache, path, _) = stored()
        unlink(path)
        mkdir(path, 0o700)
        #expect(cache.data(forKey: key) == nil)
        #expect(!cache.containsData(forKey: key))
        #expect(!cache.store(bytes, forKey: key))
        #expect(cache.lastError?.code == .fileAccessFailed)
        #expect(!names(in: cache.path).contains { $0.hasSuffix(".tmp") })
        cache.removeAllData()
        cache.removeExpiredData()
        #expect(cache.store(bytes, forKey: "other"))
    }

    @Test func `A symbolic link planted for the next temporary file cannot be written through`() {
        // Names cannot be guessed, and O_EXCL refuses an existing one.
        #expect(EntryWriter.temporaryName() != EntryWriter.temporaryName())
        #expect(EntryWriter.isTemporaryName(EntryWriter.temporaryName().utf8))
    }

    @Test func `A huge sparse file planted as an entry is not read into memory`() {
        let (cache, path, _) = stored()
        truncate(path, 1 << 40)
        #expect(cache.data(forKey: key) == nil)
        #expect(!exists(path))
    }

    @Test func `A reader keeps the data it has read when the file is truncated`() {
        for mapped in [false, true] {
            let cache = DiskCache.make(directory) { $0.mapsDiskData = mapped }
            let data = Data(pattern(300_000))
            cache.store(data, forKey: key)
            let read = cache.data(forKey: key)
            // The library's own replacing and removing never change the bytes of a file.
            cache.store(Data([1]), forKey: key)
            cache.removeData(forKey: key)
            #expect(read == data)
        }
    }
}
