import FoundationEssentials
import Testing

@testable import WebImage

@Suite struct EntryTrailerTests {
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

    @Test func `What is written is read again`() throws {
        var trailer = EntryTrailer(key: "http://h/é.jpg", created: 1_700_000_000_123_456_789)
        trailer.extendedData = Data([1, 2, 3])
        trailer.records.append(EntryTrailer.Record(tag: 77, bytes: Data("later".utf8)))
        let bytes = try file([9, 8, 7], trailer)
        let footer = try #require(try footer(bytes))
        #expect(footer.bodyLength == 3)
        #expect(footer.created == trailer.created)
        bytes.withUnsafeBytes { bytes in
            let records = EntryRecords(bytes: UnsafeRawBufferPointer(rebasing: bytes[3..<(3 + footer.recordsLength)]))
            #expect(records.hasKey("http://h/é.jpg"))
            #expect(!records.hasKey("http://h/e.jpg"))
            let read = records.trailer(created: footer.created)
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

    @Test func `Canonically equal keys of other bytes are other keys`() throws {
        let bytes = try file([], EntryTrailer(key: "\u{E9}", created: 0))
        bytes.withUnsafeBytes { bytes in
            let records = EntryRecords(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<10]))
            #expect(records.hasKey("\u{E9}"))
            #expect(!records.hasKey("e\u{301}"))
        }
    }

    @Test func `A file of any other kind has no footer`() throws {
        for bytes in [[], [UInt8](repeating: 0, count: 56), [UInt8](repeating: 0xFF, count: 500), [1, 2, 3]] {
            #expect(throws: EntryFooter.Failure.absent) { try footer(bytes) }
        }
    }

    @Test func `Lengths that do not add up are damage, not a trap`() throws {
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

    @Test func `Bytes in front of the file are damage`() throws {
        let whole = try file([1, 2, 3], EntryTrailer(key: "k", created: 0))
        #expect(throws: EntryFooter.Failure.damaged) { try footer([0] + whole) }
        #expect(throws: EntryFooter.Failure.damaged) { try footer(Array(whole.dropFirst())) }
    }

    @Test func `A later version is told from damage`() throws {
        var bytes = try file([1], EntryTrailer(key: "k", created: 0))
        let start = bytes.count - 56
        bytes[start + 32] = 2
        let hash = bytes[1..<(start + 40)].withUnsafeBytes { Hashing.xxh3($0) }
        withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange((start + 40)..<(start + 48), with: $0) }
        #expect(throws: EntryFooter.Failure.unknownVersion) { try footer(bytes) }
    }

    @Test func `Records that run over the end are not read`() {
        let bytes: [UInt8] = [1, 0, 0, 0, 200, 0, 0, 0, 65, 66]
        bytes.withUnsafeBytes { bytes in
            #expect(!EntryRecords(bytes: bytes).forEach { _, _ in })
            #expect(EntryRecords(bytes: bytes).trailer(created: 0) == nil)
            #expect(!EntryRecords(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<5])).forEach { _, _ in })
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
