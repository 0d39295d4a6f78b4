import CacheTestSupport
import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache
@testable import WebImageModel

@Suite struct ResponseLinesTests {
    private func validators(_ etag: String?, _ lastModified: String?, hash: UInt64? = nil) -> CacheValidators? {
        CacheValidators(etag: etag, lastModified: lastModified, receivedHash: hash)
    }

    @Test func `The record is laid out as documented`() {
        var lines = ResponseLines(Data())
        lines.validators = validators("W/\"a b\"", "Thu, 01 Jan 1970 00:00:00 GMT", hash: 0xAB)
        let text =
            "etag: W/\"a b\"\nlast-modified: Thu, 01 Jan 1970 00:00:00 GMT\nx-received-hash: 00000000000000ab\n"
        #expect(String(decoding: lines.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: ["\"x\"", " \"x\" ", ": :", "é😀", "a\tb", String(repeating: "z", count: 1024)])
    func `A value is read back byte for byte`(value: String) {
        for validators in [
            validators(value, nil), validators(nil, value), validators(value, value, hash: .max),
            validators(nil, nil, hash: 0),
        ] {
            var lines = ResponseLines(Data())
            lines.validators = validators
            #expect(ResponseLines(lines.bytes).validators == validators)
        }
    }

    @Test func `Other lines stay in order, whatever their content`() {
        let other = Data("cache-control: max-age=5\nno colon\n".utf8) + [0xFF, 0xFE, 0x0A] + Data("etags: 1\n".utf8)
        var lines = ResponseLines(other)
        #expect(lines.validators == nil)
        lines.validators = validators("\"1\"", nil)
        lines.validators = validators("\"2\"", nil)
        #expect(lines.bytes == other + Data("etag: \"2\"\n".utf8))
        lines.validators = nil
        #expect(lines.bytes == other)
    }

    @Test(arguments: [
        "", "\n\n", "etag", "etag:", "etag: ", "etag:x", "x-received-hash: 12", "x-received-hash: +00000000000000f",
    ])
    func `A malformed validator reads as none`(text: String) {
        #expect(ResponseLines(Data(text.utf8)).validators == nil)
    }

    @Test(arguments: [0, 5, 3_000]) func `A record is read back with the validators`(padding: Int) throws {
        let validators = try #require(StoredRecords.validators(7, padding: padding))
        for expected in [validators, CacheValidators?.some(validators).with(receivedHash: 9)] {
            var lines = ResponseLines(Data("later: 1\n".utf8))
            lines.validators = expected
            #expect(ResponseLines(lines.bytes).validators == expected && lines.mayChange)
            #expect(String(decoding: lines.bytes, as: UTF8.self).hasPrefix("later: 1\n"))
        }
    }

    @Test func `Values of the record are not stored twice`() {
        var lines = ResponseLines(Data())
        lines.validators = StoredRecords.validators(7)
        let texts = String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n")
        #expect(texts.first == "x-record: 1")
        #expect(texts.filter { $0.lowercased().hasPrefix("etag: ") } == ["etag: \"7\""])
        // A value that differs counts.
        let record = StoredRecords.record(7)
        let other = CacheValidators(etag: "\"other\"", lastModified: "then", record: record)
        lines.validators = other
        let again = ResponseLines(lines.bytes)
        #expect(again.validators == other && other?.etag == "\"other\"" && other?.lastModified == "then")
    }

    @Test func `Validators without a record remove an earlier one, and a server's field names cannot pass for ours`() {
        var record = StoredRecords.record(7)
        record.headers = [
            "x-received-hash": "00000000000000ff", "etag": "\"1\"", "x-record": "1", "last-modified": "a",
        ]
        var lines = ResponseLines(Data())
        lines.validators = CacheValidators(record: record)
        let read = ResponseLines(lines.bytes).validators
        #expect(read?.receivedHash == nil && read?.etag == "\"1\"" && read?.lastModified == "a")
        lines.validators = validators("\"2\"", nil)
        #expect(lines.bytes == Data("etag: \"2\"\n".utf8))
        lines.validators = nil
        #expect(lines.isEmpty && !lines.mayChange)
    }

    @Test func `A record of a later version, or a broken one, loses only the record`() {
        for text in ["etag: \"1\"\nx-record: 2\nwhatever\n", "etag: \"1\"\nx-record: 1\nno colon\n"] {
            let lines = ResponseLines(Data(text.utf8))
            #expect(lines.validators == validators("\"1\"", nil))
            #expect(lines.bytes == Data(text.utf8))
        }
    }

    @Test func `A record that is too long is left out, and its validators stay`() {
        var lines = ResponseLines(Data())
        lines.validators = StoredRecords.validators(7, padding: ResponseLines.longestRecord)
        #expect(lines.validators == validators("\"7\"", nil))
    }

    @Test func `A value that is not text, or too long, reads as none`() {
        #expect(ResponseLines(Data("etag: ".utf8) + [0xFF]).validators == nil)
        #expect(ResponseLines(Data(("etag: " + String(repeating: "a", count: 1025)).utf8)).validators == nil)
    }
}

@Suite struct DiskCacheValidatorsTests {
    let directory = TemporaryDirectory()
    let clock = ManualClock()
    let key = "http://h/a.jpg"
    let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let first = CacheValidators(etag: "\"1\"", lastModified: "Thu, 01 Jan 1970 00:00:00 GMT")
    let second = CacheValidators(etag: nil, lastModified: nil, receivedHash: 77)

    private func make() -> DiskCache { .make(directory, clock: clock) }

    @Test func `Validators are stored with the entry and survive an amendment`() {
        let cache = make()
        let entry = CachedImageData(data: bytes, extendedData: Data([1]), validators: first)
        #expect(cache.store(entry, forKey: key))
        #expect(cache.entry(forKey: key) == entry)
        #expect(make().entry(forKey: key) == entry)
        #expect(DiskCache.readFile(cache.cachePath(forKey: key), mapped: false) == entry)
        cache.setExtendedData(Data([2]), forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes, extendedData: Data([2]), validators: first))
        cache.amend(extendedData: nil, validators: second, forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes, extendedData: Data([2]), validators: second))
        cache.amend(extendedData: .some(nil), validators: .some(nil), forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes))
        #expect(cache.read(key)?.trailer.records == [])
    }

    @Test func `A new store removes the old validators`() {
        let cache = make()
        cache.store(CachedImageData(data: bytes, validators: first), forKey: key)
        cache.store(Data([2]), forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: Data([2])))
    }

    @Test func `An entry of an earlier version has no validators`() throws {
        let cache = make()
        let hash = bytes.withUnsafeBytes { Hashing.xxh3($0) }
        let tail = try #require(EntryTrailer(key: key, created: 5).encoded(bodyLength: bytes.count, bodyHash: hash))
        writeBytes([UInt8](bytes) + tail, cache.cachePath(forKey: key))
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes))
        cache.amend(extendedData: nil, validators: first, forKey: key)
        #expect(cache.entry(forKey: key) == CachedImageData(data: bytes, validators: first))
        #expect(cache.read(key)?.trailer.created == 5)
    }

    @Test func `A later version's lines survive an amendment`() throws {
        let cache = make()
        var trailer = EntryTrailer(key: key, created: 5)
        trailer.records = [
            EntryTrailer.Record(tag: EntryTrailer.Tag.response, bytes: Data("age: 3\netag: \"1\"\nvary: *\n".utf8)),
            EntryTrailer.Record(tag: 99, bytes: Data([9])),
        ]
        let hash = bytes.withUnsafeBytes { Hashing.xxh3($0) }
        let tail = try #require(trailer.encoded(bodyLength: bytes.count, bodyHash: hash))
        writeBytes([UInt8](bytes) + tail, cache.cachePath(forKey: key))
        #expect(cache.entry(forKey: key)?.validators == CacheValidators(etag: "\"1\"", lastModified: nil))
        cache.amend(extendedData: nil, validators: second, forKey: key)
        cache.amend(extendedData: Data([4]), validators: nil, forKey: key)
        let records = try #require(cache.read(key)?.trailer.records)
        let text = records.first { $0.tag == EntryTrailer.Tag.response }.map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
        #expect(text == "age: 3\nvary: *\nx-received-hash: 000000000000004d\n")
        #expect(records.contains(EntryTrailer.Record(tag: 99, bytes: Data([9]))))
        #expect(cache.entry(forKey: key)?.extendedData == Data([4]))
    }

    @Test func `An amendment keeps the entry's times, and writes nothing without a change`() throws {
        let cache = make()
        cache.store(CachedImageData(data: bytes, validators: first), forKey: key)
        let before = try #require(cache.entries().first)
        let inode = fileStatus(before.path).st_ino
        clock.advance(100)
        cache.amend(extendedData: nil, validators: first, forKey: key)
        cache.amend(extendedData: .some(nil), validators: nil, forKey: key)
        cache.amend(extendedData: nil, validators: nil, forKey: key)
        #expect(cache.statistics.storeCount == 1)
        #expect(fileStatus(before.path).st_ino == inode)
        cache.amend(extendedData: nil, validators: second, forKey: key)
        let after = try #require(cache.entries().first)
        #expect(after.created == before.created)
        #expect(after.modified == before.modified)
        #expect(after.accessed == before.accessed)
        #expect(cache.statistics.storeCount == 1 && cache.statistics.amendCount == 1)
    }

    @Test func `An amendment without an entry, or without a key, has no effect`() {
        let cache = make()
        cache.amend(extendedData: Data([1]), validators: first, forKey: key)
        cache.amend(extendedData: Data([1]), validators: first, forKey: "")
        #expect(cache.totalCount == 0)
    }

    @Test func `An amendment does not overwrite another process's concurrent store`() {
        let other = make()
        other.store(CachedImageData(data: bytes), forKey: key)
        let newer = CachedImageData(data: Data([2]), validators: second)
        var calls = FileCalls.system
        calls.write = { file, pieces, count in
            other.store(newer, forKey: "http://h/a.jpg")
            return FileCalls.system.write(file, pieces, count)
        }
        DiskCache.make(directory, clock: clock, calls: calls).amend(
            extendedData: Data([1]),
            validators: first,
            forKey: key
        )
        #expect(other.entry(forKey: key) == newer)
        #expect(other.verify() == [])
    }
}
