import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing

@testable import WebImageCache

@Suite(.tags(.addressSanitizer)) struct EntryTrailerTests {
    private func file(_ body: [UInt8], _ trailer: EntryTrailer) throws -> [UInt8] {
        let hash = body.withUnsafeBytes { Hashing.xxh3($0) }
        return body + (try #require(trailer.encoded(bodyLength: body.count, bodyHash: hash)))
    }

    private func footer(_ bytes: [UInt8]) throws(EntryFooter.Failure) -> EntryFooter? {
        let result = bytes.withUnsafeBytes { bytes -> Result<EntryFooter?, EntryFooter.Failure> in
            do throws(EntryFooter.Failure) {
                return .success(try EntryFooter.read(from: bytes, fileSize: bytes.count))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    @Test func `A written trailer is read again`() throws {
        var trailer = EntryTrailer(key: "http://h/é.jpg", created: 1_700_000_000_123_456_789)
        trailer.extendedData = Data([1, 2, 3])
        trailer.records.append(EntryTrailer.Record(tag: 77, bytes: Data("later".utf8)))
        let bytes = try file([9, 8, 7], trailer)
        let footer = try #require(try footer(bytes))
        #expect(footer.bodyLength == 3)
        #expect(footer.created == trailer.created)
        bytes.withUnsafeBytes { bytes in
            let records = UnsafeRawBufferPointer(rebasing: bytes[3..<(3 + footer.recordsLength)])
            let read = EntryTrailer(records: records, created: footer.created)
            #expect(read?.hasKey("http://h/é.jpg") == true)
            #expect(read?.hasKey("http://h/e.jpg") == false)
            #expect(read?.key == trailer.key)
            #expect(read?.extendedData == Data([1, 2, 3]))
            #expect(read?.records == trailer.records)
        }
    }

    @Test func `The footer is laid out as documented`() throws {
        let bytes = try file(Array("body".utf8), EntryTrailer(key: "k", created: 0x0102_0304_0506_0708))
        #expect(bytes.count == 4 + 9 + 56)
        #expect(Array(bytes[4..<13]) == [1, 0, 0, 0, 1, 0, 0, 0, UInt8(ascii: "k")])
        #expect(Array(bytes[13..<21]) == [4, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[21..<29]) == [9, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[29..<37]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(Array(bytes[45..<49]) == [1, 0, 0, 0])
        #expect(Array(bytes[61...]) == Array("WICF\r\n\u{1A}\n".utf8))
    }

    @Test func `Canonically equal keys of different bytes are different keys`() throws {
        let bytes = try file([], EntryTrailer(key: "\u{E9}", created: 0))
        bytes.withUnsafeBytes { bytes in
            let read = EntryTrailer(records: UnsafeRawBufferPointer(rebasing: bytes[..<10]), created: 0)
            #expect(read?.hasKey("\u{E9}") == true)
            #expect(read?.hasKey("e\u{301}") == false)
            for expected in ["e\u{301}", "\u{E9}"] {
                let other = EntryTrailer(
                    records: UnsafeRawBufferPointer(rebasing: bytes[..<10]),
                    created: 0,
                    expectedKey: expected
                )
                #expect(other?.hasKey("\u{E9}") == true)
                #expect(other?.hasKey("e\u{301}") == false)
            }
        }
    }

    @Test func `A file of another kind has no footer`() throws {
        for bytes in [[], [UInt8](repeating: 0, count: 56), [UInt8](repeating: 0xFF, count: 500), [1, 2, 3]] {
            #expect(throws: EntryFooter.Failure.absent) { try footer(bytes) }
        }
    }

    @Test func `Inconsistent lengths are damage, not a trap`() throws {
        let whole = try file([1, 2, 3], EntryTrailer(key: "k", created: 0))
        let start = whole.count - 56
        for offset in [0, 8] {
            for value in [UInt64.max, UInt64(Int64.max), 0, 1 << 40, 4] {
                var bytes = whole
                withUnsafeBytes(of: value.littleEndian) {
                    bytes.replaceSubrange((start + offset)..<(start + offset + 8), with: $0)
                }
                guard bytes != whole else { continue }
                #expect(throws: EntryFooter.Failure.damaged) { try footer(bytes) }
            }
        }
    }

    @Test func `Bytes before the file are damage`() throws {
        let whole = try file([1, 2, 3], EntryTrailer(key: "k", created: 0))
        #expect(throws: EntryFooter.Failure.damaged) { try footer([0] + whole) }
        #expect(throws: EntryFooter.Failure.damaged) { try footer(Array(whole.dropFirst())) }
    }

    @Test func `A later version is distinguished from damage`() throws {
        var bytes = try file([1], EntryTrailer(key: "k", created: 0))
        let start = bytes.count - 56
        bytes[start + 32] = 3
        let hash = bytes[1..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange((start + 40)..<(start + 48), with: $0) }
        #expect(throws: EntryFooter.Failure.unknownVersion) { try footer(bytes) }
    }

    @Test func `Records beyond the end are not read`() {
        let bytes: [UInt8] = [1, 0, 0, 0, 200, 0, 0, 0, 65, 66]
        bytes.withUnsafeBytes { bytes in
            #expect(EntryTrailer(records: bytes, created: 0) == nil)
            #expect(EntryTrailer(records: UnsafeRawBufferPointer(rebasing: bytes[..<5]), created: 0) == nil)
        }
    }

    /// Returns the bytes with another number in the footer, and the matching hash.
    private func changed(_ bytes: [UInt8], bodyLength: Int, at offset: Int, to number: some FixedWidthInteger)
        -> [UInt8]
    {
        var bytes = bytes
        let start = bytes.count - 56
        withUnsafeBytes(of: number.littleEndian) {
            bytes.replaceSubrange((start + offset)..<(start + offset + $0.count), with: $0)
        }
        let hash = bytes[bodyLength..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange((start + 40)..<(start + 48), with: $0) }
        return bytes
    }

    @Test func `With validators there are slots before the records, as documented`() throws {
        var trailer = EntryTrailer(key: "k", created: 7)
        trailer.validators = CacheValidators(etag: "\"1\"", lastModified: nil)
        trailer.extendedData = Data([5])
        let bytes = try file(Array("body".utf8), trailer)
        #expect(bytes.count == 4 + 1024 + 9 + 9 + 56)
        let start = bytes.count - 56
        #expect(Array(bytes[1028..<1037]) == [1, 0, 0, 0, 1, 0, 0, 0, UInt8(ascii: "k")])
        #expect(bytes[start...].starts(with: [4, 4, 0, 0, 0, 0, 0, 0]))
        #expect(bytes[(start + 8)...].starts(with: [18, 0, 0, 0, 0, 0, 0, 0]))
        #expect(bytes[(start + 32)...].starts(with: [2, 0, 0, 0, 0, 2, 0, 0]))
        let footer = try #require(try footer(bytes))
        #expect(footer.bodyLength == 4 && footer.slotSize == 512 && footer.recordsLength == 18)
        #expect(footer.slotsRange == 4..<1028 && footer.trailerLength == 1098)
        let slots = ResponseSlots(size: 512, seed: footer.trailerHash)
        let slot = try #require(slots.encoded(Data("etag: \"1\"\n".utf8), sequence: 1))
        #expect(Array(bytes[4..<(4 + slot.count)]) == slot)
        #expect(bytes[(4 + slot.count)..<1028].allSatisfy { $0 == 0 })
        // For readers of version 1, which check these before the version, it is a later version and not damage.
        let content = 1028
        #expect(content + 18 == bytes.count - 56)
        let hash = bytes[content..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        #expect(hash == footer.trailerHash)
    }

    @Test func `Without metadata that may change there are no slots, as in version 1`() throws {
        var trailer = EntryTrailer(key: "k", created: 7)
        trailer.validators = CacheValidators(etag: nil, lastModified: nil, receivedHash: 8)
        let bytes = try file([1], trailer)
        let footer = try #require(try footer(bytes))
        #expect(footer.slotSize == 0 && footer.slots == nil && footer.bodyLength == 1)
        #expect(bytes[bytes.count - 56 + 32] == 1)
    }

    @Test func `Impossible slots are damage, not a trap`() throws {
        var trailer = EntryTrailer(key: "k", created: 7)
        trailer.validators = CacheValidators(etag: "\"1\"", lastModified: nil)
        let whole = try file([1, 2, 3], trailer)
        let records = 3 + 1024
        for size in [UInt32.max, UInt32(Int32.max), 0, 1, 23, 514, 1 << 20, UInt32(ResponseSlots.largestSize + 1)] {
            let bytes = changed(whole, bodyLength: records, at: 36, to: size)
            #expect(throws: EntryFooter.Failure.damaged, "\(size)") { try self.footer(bytes) }
        }
        // Other sizes that fit are empty slots.
        let other = try #require(try footer(changed(whole, bodyLength: records, at: 36, to: UInt32(100))))
        #expect(other.bodyLength == 827)
        // In version 1 that number has no meaning.
        let first = try #require(try footer(changed(whole, bodyLength: records, at: 32, to: UInt32(1))))
        #expect(first.bodyLength == 1027 && first.slotSize == 0)
        for version in [0, 3, UInt32.max] {
            let bytes = changed(whole, bodyLength: records, at: 32, to: version)
            #expect(throws: EntryFooter.Failure.unknownVersion) { try self.footer(bytes) }
        }
    }

    @Test func `Overflowing trailer lengths in a footer are damage`() {
        var random = SeededGenerator(seed: 5)
        for number: UInt64 in [.max, UInt64(Int64.max), .max - 56, 1 << 62] {
            var bytes = [UInt8](repeating: 0, count: 56)
            withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(8..<16, with: $0) }
            withUnsafeBytes(of: EntryTrailer.magic.littleEndian) { bytes.replaceSubrange(48..<56, with: $0) }
            bytes[32] = 2
            for index in 36..<40 { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            let length = bytes.withUnsafeBytes { EntryFooter.claimedTrailerLength(in: $0) }
            #expect(length == nil || length ?? 0 > 1 << 61)
            #expect(bytes.dropFirst().withUnsafeBytes { EntryFooter.claimedTrailerLength(in: $0) } == nil)
        }
    }

    @Test func `Extended data is replaced, not added`() {
        var trailer = EntryTrailer(key: "k", created: 0)
        trailer.extendedData = Data([1])
        trailer.extendedData = Data([2])
        #expect(trailer.records.count == 1)
        trailer.extendedData = nil
        #expect(trailer.records.isEmpty)
    }
}
