import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageSupport

/// Entries with torn, cut or corrupt slots.
@Suite(.tags(.addressSanitizer)) struct SlotDamageTests {
    let directory = TemporaryDirectory.inMemory()
    let key = "http://h/a.jpg"
    let bytes = Array("the picture's bytes".utf8)

    /// An entry whose second slot counts, with number 2; the first holds 1.
    private func stored() throws -> (cache: DiskCache, path: String, file: EntryFile) {
        let cache = DiskCache.make(directory)
        cache.store(StoredRecords.entry(bytes, 1, extendedData: Data([1, 2, 3])), forKey: key)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(2), forKey: key)
        let path = cache.cachePath(forKey: key)
        return (cache, path, try #require(EntryFile(path: path)))
    }

    /// What a reader finds that is held up between the two slots: the first one as it was, and the second one while it is written again.
    @Test func `Slots that changed during the read are read again`() throws {
        let (cache, path, file) = try stored()
        for number in 3...4 {
            cache.amend(extendedData: nil, validators: StoredRecords.validators(number), forKey: key)
        }
        let reader = EntryReader(calls: .system, directory: nil)
        let (descriptor, _) = try reader.open(path)
        defer { close(descriptor) }
        var torn = file.bytes
        torn[file.slot(1).lowerBound + 30] ^= 1
        let found = torn.withUnsafeBytes { reader.trailer(in: $0, file.footer, descriptor) }
        #expect(StoredRecords.number(of: found?.trailer.validators) == 4)
        writeBytes(torn, path)
        let same = try reader.open(path)
        defer { close(same.file) }
        let damaged = torn.withUnsafeBytes { reader.trailer(in: $0, file.footer, same.file) }
        #expect(StoredRecords.number(of: damaged?.trailer.validators) == 1, "a write that failed")
    }

    @Test func `A flipped bit outside the slots is detected, and the entry removed`() throws {
        let (cache, path, file) = try stored()
        for position in file.bytes.indices where !file.footer.slotsRange.contains(position) {
            for bit in 0..<8 {
                var broken = file.bytes
                broken[position] ^= 1 << bit
                writeBytes(broken, path)
                #expect(cache.entry(forKey: key) == nil, "byte \(position) bit \(bit)")
                #expect(!exists(path), "byte \(position) bit \(bit)")
            }
        }
    }

    @Test(arguments: [false, true]) func `A flipped bit in a slot loses that slot, not the image`(isMapped: Bool)
        throws
    {
        let (cache, path, file) = try stored()
        cache.config.mapsDiskData = isMapped
        let used = try [0, 1].map { index -> Range<Int> in
            let bytes = Array(file.bytes[file.slot(index)])
            let length = bytes[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
            try #require(length > 100 && length < 488)
            return file.slot(index).lowerBound..<(file.slot(index).lowerBound + 24 + length)
        }
        for position in file.footer.slotsRange {
            var broken = file.bytes
            broken[position] ^= 1 << UInt8(position % 8)
            writeBytes(broken, path)
            let entry = cache.entry(forKey: key)
            #expect(entry?.data == Data(bytes) && entry?.extendedData == Data([1, 2, 3]))
            // The reserved bytes count, too: the hash covers them.
            let expected = used[1].contains(position) ? 1 : 2
            #expect(StoredRecords.number(of: entry?.validators) == expected, "byte \(position)")
            #expect(StoredRecords.number(of: cache.validators(forKey: key)) == expected)
        }
        #expect(cache.verify() == [])
    }

    @Test func `Without a valid slot the entry is served without validators, and gets new ones in place`() throws {
        let (cache, path, file) = try stored()
        var broken = file.bytes
        for position in file.footer.slotsRange { broken[position] = 0xA5 }
        writeBytes(broken, path)
        #expect(cache.entry(forKey: key) == CachedImageData(data: Data(bytes), extendedData: Data([1, 2, 3])))
        #expect(cache.validators(forKey: key) == nil)
        let known = CachedValidators(validators: nil, contentHash: file.footer.contentHash)
        #expect(cache.details(forKey: key).map { CachedValidators($0) } == known)
        #expect(cache.entries().first?.validators == nil && cache.verify() == [])
        cache.amend(extendedData: nil, validators: StoredRecords.validators(3), forKey: key)
        #expect(cache.entry(forKey: key) == StoredRecords.entry(bytes, 3, extendedData: Data([1, 2, 3])))
        #expect(cache.statistics.amendCount == 2)
    }

    @Test func `A file cut at any length, or extended, is detected`() throws {
        let (cache, path, file) = try stored()
        for length in 0..<file.bytes.count {
            writeBytes(Array(file.bytes[..<length]), path)
            #expect(cache.validators(forKey: key) == nil)
            #expect(cache.entry(forKey: key) == nil, "length \(length)")
            #expect(!exists(path))
        }
        for start in stride(from: 0, to: file.bytes.count, by: 3) {
            let hole = min(start + 3, file.bytes.count)
            writeBytes(Array(file.bytes[..<start] + file.bytes[hole...]), path)
            #expect(cache.entry(forKey: key) == nil)
            writeBytes(Array(file.bytes[..<start]) + [0] + file.bytes[start...], path)
            #expect(cache.entry(forKey: key) == nil)
        }
    }

    @Test func `A write that ends after any byte keeps the previous validators`() throws {
        let (_, path, file) = try stored()
        let slots = try #require(file.footer.slots)
        let next = try #require(StoredRecords.validators(3, padding: 40))
        var lines = ResponseLines(Data())
        lines.validators = next
        let whole = try #require(slots.amendment(to: lines.bytes, after: file.content)).bytes.count
        for count in 0...whole {
            writeBytes(file.bytes, path)
            let written = Lock(0)
            var calls = FileCalls.system
            calls.writeAt = { file, bytes, size, offset in
                let room = count - written.withLock { $0 }
                guard room > 0 else { return -Int(EIO) }
                let result = FileCalls.system.writeAt(file, bytes, min(size, room), offset)
                written.withLock { $0 += max(result, 0) }
                return result
            }
            // As in a process killed there: nothing follows.
            calls.open = { directory, name, flags in
                flags & O_CREAT == 0 ? FileCalls.system.open(directory, name, flags) : -EIO
            }
            let cache = DiskCache.make(directory, calls: calls)
            cache.amend(extendedData: nil, validators: next, forKey: key)
            let entry = DiskCache.make(directory).entry(forKey: key)
            #expect(entry?.data == Data(bytes) && entry?.extendedData == Data([1, 2, 3]))
            #expect(StoredRecords.number(of: entry?.validators) == (count == whole ? 3 : 2), "\(count) bytes")
            #expect(cache.statistics.amendCount == (count == whole ? 1 : 0))
        }
    }

    @Test(arguments: [EIO, ENOSPC, EROFS, EBADF, EFBIG]) func `A failed write in place is replaced by a new file`(
        number: Int32
    ) throws {
        let (_, path, file) = try stored()
        let inode = fileStatus(path).st_ino
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, count, offset in
            _ = FileCalls.system.writeAt(file, bytes, count / 2, offset)
            return -Int(number)
        }
        let cache = DiskCache.make(directory, calls: calls)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(3), forKey: key)
        #expect(cache.entry(forKey: key) == StoredRecords.entry(bytes, 3, extendedData: Data([1, 2, 3])))
        #expect(fileStatus(path).st_ino != inode && EntryFile(path: path)?.footer.created == file.footer.created)
    }

    @Test func `Short and interrupted writes in place continue where they stopped`() throws {
        _ = try stored()
        let steps = Lock([1, -Int(EINTR), 7, -Int(EINTR), 100])
        var calls = FileCalls.system
        calls.writeAt = { file, bytes, count, offset in
            let step = steps.withLock { $0.isEmpty ? count : $0.removeFirst() }
            return step < 0 ? step : FileCalls.system.writeAt(file, bytes, min(step, count), offset)
        }
        let cache = DiskCache.make(directory, calls: calls)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(3), forKey: key)
        #expect(cache.statistics.amendCount == 1 && steps.withLock { $0.isEmpty })
        #expect(StoredRecords.number(of: cache.validators(forKey: key)) == 3)
    }

    @Test func `A read-only file gets its amendment with a new file`() throws {
        let (_, path, _) = try stored()
        var calls = FileCalls.system
        calls.open = { directory, name, flags in
            flags & O_RDWR != 0 ? -EACCES : FileCalls.system.open(directory, name, flags)
        }
        let inode = fileStatus(path).st_ino
        let cache = DiskCache.make(directory, calls: calls)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(3), forKey: key)
        #expect(StoredRecords.number(of: cache.validators(forKey: key)) == 3 && fileStatus(path).st_ino != inode)
    }

    @Test func `A copy in another directory keeps its validators`() throws {
        let (cache, path, file) = try stored()
        let other = DiskCache(path: directory.path("other"))
        writeBytes(file.bytes, other.cachePath(forKey: key))
        #expect(other.entry(forKey: key) == cache.entry(forKey: key))
        #expect(StoredRecords.number(of: DiskCache.readFile(path, mapped: true)?.validators) == 2)
        DiskCache.moveDirectory(from: cache.path, to: directory.path("x/y"))
        #expect(StoredRecords.number(of: DiskCache(path: directory.path("x/y")).validators(forKey: key)) == 2)
    }
}
