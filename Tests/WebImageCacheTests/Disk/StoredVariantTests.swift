import CacheTestSupport
import FoundationEssentials
import Glibc
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageModel

/// The record of images of other sizes in an original's entry.
@Suite(.tags(.threadSanitizer), .timeLimit(.minutes(10))) struct StoredVariantTests {
    let directory = TemporaryDirectory()
    let key = "http://h/a.png"
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    var hash: UInt64 { Data(bytes).contentHash }

    private func variant(_ side: Int, kind: UInt64 = 5, isExact: Bool = true) -> StoredVariant {
        StoredVariant(
            size: (side, side / 2 + 1),
            sourceSize: (4000, 2000),
            box: ImageSize(width: Double(side), height: 0.333333),
            fit: .inside,
            kind: kind,
            isExact: isExact
        )
    }

    private func add(_ sides: [Int], to cache: DiskCache, hash: UInt64? = nil) {
        var amendment = EntryAmendment()
        amendment.variants = .init(variants: sides.map { variant($0) }, sourceHash: hash ?? self.hash)
        cache.amend(amendment, forKey: key)
    }

    private func entry(_ validators: CacheValidators? = nil, variants: [StoredVariant]? = []) -> CachedImageData {
        var entry = CachedImageData(data: Data(bytes), validators: validators)
        entry.variants.value = variants
        return entry
    }

    private func sides(_ cache: DiskCache) -> [Int]? { cache.details(forKey: key)?.variants.value?.map(\.width) }

    // MARK: Lines

    @Test func `A variant is one line, as documented, and is read back`() throws {
        let all = [
            variant(200), variant(3, kind: .max, isExact: false),
            StoredVariant(size: (1, 2), sourceSize: (3, 4), box: nil, fit: .stretched, kind: 0, isExact: true),
        ]
        #expect(all[0].line == "200 101 4000 2000 200.000000 0.333333 1 1 0000000000000005")
        #expect(all[2].line == "1 2 3 4 0.000000 0.000000 0 1 0000000000000000")
        var lines = ResponseLines(Data("later: 1\n".utf8))
        lines.variants = all
        lines.validators = StoredRecords.validators(3)
        let read = ResponseLines(lines.bytes)
        #expect(read.variants == all && read.validators == StoredRecords.validators(3))
        #expect(String(decoding: lines.bytes, as: UTF8.self).hasPrefix("later: 1\nx-size: 200 101 "))
        lines.variants = []
        #expect(ResponseLines(lines.bytes).variants.isEmpty)
        #expect(String(decoding: lines.bytes, as: UTF8.self).hasPrefix("later: 1\nx-record: "))
    }

    @Test(arguments: [
        "", "1 2 3 4 5 6 1 1", "1 2 3 4 5 6 1 1 0000000000000005 7", "0 2 3 4 5 6 1 1 0000000000000005",
        "-1 2 3 4 5 6 1 1 0000000000000005", "1 2 3 16777217 5 6 1 1 0000000000000005",
        "1 2 3 4 nan 6 1 1 0000000000000005", "1 2 3 4 inf 6 1 1 0000000000000005",
        "1 2 3 4 0 6 1 1 0000000000000005", "1 2 3 4 5 6 3 1 0000000000000005", "1 2 3 4 5 6 1 2 0000000000000005",
        "1 2 3 4 5 6 1 1 5", "1 2 3 4 5 6 1 1 000000000000000g", "1  2 3 4 5 6 1 1 0000000000000005",
    ])
    func `A line that is anything else is not a variant, and stays`(text: String) {
        let line = "x-size: \(text)\n"
        var lines = ResponseLines(Data(line.utf8))
        #expect(lines.variants.isEmpty)
        lines.variants = [variant(10)]
        #expect(lines.bytes == Data("\(line)x-size: \(variant(10).line)\n".utf8))
    }

    @Test func `At most 16 are kept, the latest ones, and each key once`() {
        let all = [StoredVariant]().adding((1...40).map { variant($0) })
        #expect(all.map(\.width) == Array(25...40))
        let again = all.adding([variant(30, isExact: false), variant(30, kind: 6)])
        #expect(again.count == 16 && again.suffix(2).map(\.width) == [30, 30])
        #expect(again.count { $0.width == 30 } == 2 && again.first?.width == 26)
        var lines = ResponseLines(Data((1...40).map { "x-size: \(variant($0).line)\n" }.joined().utf8))
        #expect(lines.variants.map(\.width) == Array(25...40))
        lines.variants = lines.variants
        #expect(ResponseLines(lines.bytes).variants.count == 16)
    }

    // MARK: Entries

    @Test(arguments: [nil, 0, 3000]) func `Sixteen variants fit into the room, and nothing else of the file changes`(
        _ padding: Int?
    ) throws {
        let cache = DiskCache.make(directory)
        let validators = padding.flatMap { StoredRecords.validators(1, padding: $0) }
        cache.store(entry(validators), forKey: key)
        let path = cache.cachePath(forKey: key)
        let before = try #require(EntryFile(path: path))
        #expect(sides(cache) == [] && (padding != nil || before.footer.slotSize == 1536))
        for side in 99_990...100_015 { add([side], to: cache) }
        let after = try #require(EntryFile(path: path))
        var expected = before.bytes
        expected.replaceSubrange(before.footer.slotsRange, with: after.bytes[before.footer.slotsRange])
        #expect(after.bytes == expected)
        #expect(sides(cache) == Array(100_000...100_015))
        #expect(cache.entry(forKey: key) == entry(validators) && cache.verify() == [])
        #expect(cache.entry(forKey: key)?.variants.value?.count == 16)
        #expect(cache.statistics.storeCount == 1 && cache.statistics.amendCount == 26)
        // They stay when the validators change, and when the file is written again.
        cache.amend(extendedData: nil, validators: StoredRecords.validators(2, padding: padding ?? 0), forKey: key)
        cache.setExtendedData(Data([1]), forKey: key)
        #expect(sides(cache)?.last == 100_015 && StoredRecords.number(of: cache.validators(forKey: key)) == 2)
    }

    @Test func `Variants give way to validators that need the room`() throws {
        let cache = DiskCache.make(directory)
        cache.store(entry(StoredRecords.validators(1)), forKey: key)
        add(Array(100..<116), to: cache)
        cache.amend(extendedData: nil, validators: StoredRecords.validators(2, padding: 900), forKey: key)
        let left = try #require(sides(cache))
        #expect(left.count < 16 && left.last == 115 && left.count >= 4)
        #expect(StoredRecords.number(of: cache.validators(forKey: key)) == 2)
        #expect(cache.statistics.storeCount == 1 && cache.statistics.amendCount == 2)
    }

    @Test func `An entry without room, of other bytes, or none at all stays as it is`() {
        let cache = DiskCache.make(directory)
        add([1], to: cache)
        #expect(!cache.containsData(forKey: key))
        cache.store(entry(variants: nil), forKey: key)
        let before = readBytes(cache.cachePath(forKey: key))
        add([1], to: cache)
        #expect(readBytes(cache.cachePath(forKey: key)) == before && sides(cache) == nil)
        cache.store(entry(), forKey: key)
        add([1], to: cache, hash: hash &+ 1)
        #expect(sides(cache) == [])
        add([2], to: cache)
        #expect(sides(cache) == [2])
        // New bytes begin a new record, also if the entry is of a size that was stored with other bytes.
        var other = entry()
        other.data = Data(bytes.reversed())
        cache.store(other, forKey: key)
        #expect(sides(cache) == [])
    }

    @Test func `The bytes as received count if others are stored`() {
        let cache = DiskCache.make(directory)
        cache.store(entry(CacheValidators(record: nil, receivedHash: 77)), forKey: key)
        add([1], to: cache)
        add([2], to: cache, hash: 77)
        #expect(sides(cache) == [2])
    }

    @Test func `A file with several links is shared with a backup, and not changed`() {
        let cache = DiskCache.make(directory)
        cache.store(entry(), forKey: key)
        let path = cache.cachePath(forKey: key)
        #expect(link(path, directory.path("backup")) == 0)
        add([1], to: cache)
        #expect(sides(cache) == [] && fileStatus(path).st_nlink == 2)
    }

    @Test func `A damaged record is none, or the one before, and the image is intact`() throws {
        let cache = DiskCache.make(directory)
        cache.store(entry(), forKey: key)
        add([1], to: cache)
        add([2], to: cache)
        let path = cache.cachePath(forKey: key)
        let file = try #require(EntryFile(path: path))
        let used = try #require(file.content).index
        for position in file.slot(used).prefix(90) {
            var broken = file.bytes
            broken[position] ^= 0x10
            writeBytes(broken, path)
            #expect(sides(cache) == [1] && cache.entry(forKey: key) == entry(), "byte \(position)")
        }
        var broken = file.bytes
        for position in file.footer.slotsRange { broken[position] = 0xA5 }
        writeBytes(broken, path)
        #expect(sides(cache) == [] && cache.entry(forKey: key) == entry())
        add([3], to: cache)
        #expect(sides(cache) == [3])
    }

    @Test func `Two processes that add variants at the same time lose no image, and keep valid records`() async {
        let caches = [DiskCache.make(directory), DiskCache.make(directory)]
        caches[0].store(entry(StoredRecords.validators(1)), forKey: key)
        let (torn, rounds) = (Lock(0), TestEffort.rounds(400))
        let expected = entry(StoredRecords.validators(1))
        await withTaskGroup(of: Void.self) { group in
            for (index, cache) in caches.enumerated() {
                group.addTask {
                    await onThread {
                        for round in 0..<rounds {
                            add([2 * round + index + 1], to: cache)
                            let found = cache.entry(forKey: key)
                            // A record is as one of them wrote it: all of its numbers are of variants that were added.
                            let isWhole = found?.variants.value?.allSatisfy { $0 == variant($0.width) } ?? false
                            if found != expected || !isWhole { torn.withLock { $0 += 1 } }
                        }
                    }
                }
            }
        }
        #expect(torn.withLock { $0 } == 0 && caches[0].verify() == [])
        add([9999], to: caches[1])
        #expect(sides(caches[0])?.last == 9999)
        #expect(caches.allSatisfy { $0.statistics.damagedCount == 0 && $0.statistics.failedStoreCount == 0 })
    }

    // MARK: The write-behind queue

    @Test func `Variants of an original that waits to be written are written with it`() async {
        let cache = ImageCache(directory: directory.path("cache"), coder: nil)
        var request = ImageStoreRequest(key: key, data: Data(bytes))
        request.cacheType = .disk
        request.keepsVariants = true
        cache.store(request, completion: nil)
        cache.record(variant(4), madeOf: hash &+ 1, of: key, completion: nil)
        for side in 1...3 { cache.record(variant(side), madeOf: hash, of: key, completion: nil) }
        let found = await withCheckedContinuation { continuation in
            _ = cache.queryVariants(of: key, priority: .normal) { continuation.resume(returning: $0) }
        }
        #expect(found?.variants.map(\.width) == [1, 2, 3])
        #expect(found?.sourceHash == hash)
        await cache.flush()
        let other = DiskCache(path: cache.diskCachePath)
        #expect(sides(other) == [1, 2, 3])
        await cache.removeImage(forKey: key)
        cache.record(variant(5), madeOf: hash, of: key, completion: nil)
        await cache.flush()
        #expect(!other.containsData(forKey: key))
    }

    @Test func `Changes that are waiting are combined`() {
        let added = { (sides: [Int], hash: UInt64) -> EntryAmendment in
            var amendment = EntryAmendment()
            amendment.variants = .init(variants: sides.map { variant($0) }, sourceHash: hash)
            return amendment
        }
        #expect(EntryAmendment().isEmpty && !added([1], 1).isEmpty && added([1], 1).isOnlyVariants)
        #expect(added([1], 1).followed(by: added([2], 1)) == added([1, 2], 1))
        #expect(added([1], 1).followed(by: added([2], 2)) == added([2], 2))
        let validators = EntryAmendment(validators: .some(nil))
        let both = added([1], 1).followed(by: validators)
        #expect(both.variants?.variants == [variant(1)] && both.validators == .some(nil) && !both.isOnlyVariants)
        #expect(both.applied(to: 2) == validators && both.applied(to: 1) == both && both.applied(to: nil) == both)
    }
}
