import FoundationEssentials
import Testing

@testable import WebImage

/// The first 4 KiB of a part's file.
@Suite struct PartialHeadTests {
    private func decoded(_ bytes: [UInt8]) -> PartialHead? { bytes.withUnsafeBytes { PartialHead($0) } }

    private func heads() -> [PartialHead] {
        var full = PartialHead.sample(total: 65_536)
        (full.count, full.hash) = (65_536, .max)
        let bare = PartialHead(
            key: PartialKey(urlHash: .max, digest: ""),
            validator: .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")
        )
        return [full, bare, .sample()]
    }

    @Test func `A head is read as it was written`() throws {
        for var head in heads() {
            // A date that is the validator is the date of last modification, too.
            if case .lastModified(let date) = head.validator { head.lastModified = date }
            let bytes = try #require(head.encoded())
            #expect(bytes.count == PartialHead.byteCount)
            #expect(decoded(bytes) == head)
        }
    }

    @Test func `Damage of any byte is found`() throws {
        let bytes = try #require(heads()[0].encoded())
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(decoded(damaged) == nil, "byte \(index)")
        }
    }

    @Test func `Less or more than 4 KiB is no head`() throws {
        let bytes = try #require(heads()[0].encoded())
        #expect(decoded(Array(bytes.dropLast())) == nil)
        #expect(decoded(bytes + [0]) == nil)
        #expect(decoded([]) == nil)
        #expect(decoded([UInt8](repeating: 0, count: PartialHead.byteCount)) == nil)
    }

    @Test func `What a checksum does not tell is looked at all the same`() throws {
        let bytes = try #require(heads()[0].encoded())
        func changed(_ offset: Int, _ new: [UInt8]) -> PartialHead? {
            var changed = bytes
            changed.replaceSubrange(offset..<offset + new.count, with: new)
            let sum = changed[..<(PartialHead.byteCount - 8)].withUnsafeBytes { Hashing.xxh3($0) }
            withUnsafeBytes(of: sum.littleEndian) { changed.replaceSubrange(4088..<4096, with: $0) }
            return decoded(changed)
        }
        #expect(changed(0, []) == heads()[0], "the sum is the right one")
        #expect(changed(0, [0]) == nil, "magic")
        #expect(changed(8, [1]) == nil, "the version with the URL")
        #expect(changed(8, [3]) == nil, "a later version")
        #expect(changed(16, [255, 255, 255, 255, 255, 255, 255, 255]) == nil, "a count that is no number")
        #expect(changed(16, [1, 0, 1]) == nil, "more than the whole")
        #expect(changed(24, [254, 255, 255, 255, 255, 255, 255, 255]) == nil, "a negative total")
        #expect(changed(40, [1, 2, 3]).map { $0.key == heads()[0].key } == false, "another URL")
        #expect(changed(48, [255, 255]) == nil, "a text beyond the end")
        #expect(changed(50, [0xFF]) == nil, "no UTF-8")
        #expect(changed(48, [UInt8](repeating: 0, count: 1000)) == nil, "no validator")
    }

    @Test func `What does not fit is not written`() {
        var head = heads()[0]
        head.key = PartialKey(urlHash: 1, digest: String(repeating: "a", count: 4000))
        #expect(head.encoded() == nil)
        head.key = PartialKey(urlHash: 1, digest: String(repeating: "a", count: 70_000))
        #expect(head.encoded() == nil)
    }

    @Test func `Everything that is kept fits`() throws {
        let request = DownloadRequest.plain("/" + String(repeating: "a", count: 100_000))
        let response = HTTPResponse(
            url: request.url,
            statusCode: 200,
            headers: [
                "ETag": "\"\(String(repeating: "e", count: 510))\"",
                "Last-Modified": String(repeating: "m", count: 64),
                "Content-Type": String(repeating: "t", count: 256),
            ]
        )
        let head = try #require(PartialRules.head(of: response, to: request, now: 0))
        #expect(head.encoded() != nil)
        var others = response
        others.headers["Content-Type"] = String(repeating: "t", count: 257)
        others.headers["Last-Modified"] = String(repeating: "m", count: 65)
        let less = try #require(PartialRules.head(of: others, to: request, now: 0))
        #expect(less.contentType == nil && less.lastModified == nil)
    }

    @Test func `A hash of pieces is that of the whole`() {
        let bytes = noise(10_000)
        for size in [1, 7, 1000, 10_000] {
            var hash = RunningHash()
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { hash.update($0) }
            }
            let value = hash.value
            #expect(value == bytes.withUnsafeBytes { Hashing.xxh3($0) })
        }
    }
}
