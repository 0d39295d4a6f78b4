import FoundationEssentials
import Glibc
import TestSupport
import WebImage

@testable import WebImageCache

/// A file of the cache with arbitrary contents.
enum EntryCheck {
    /// Reads the bytes unchanged, and with corrected hashes, without which all others would be refused.
    static func run(_ data: Data) throws(FuzzFinding) {
        try read(data)
        if let mended = mended([UInt8](data)) { try read(mended) }
    }

    /// One for each process.
    private static let directory = TemporaryDirectory()
    private static let reader = EntryReader(calls: .system)

    private static func read(_ data: Data) throws(FuzzFinding) {
        guard let entry = try load(data) else { return }
        let footer = entry.footer
        try must(footer.bodyLength >= 0 && footer.bodyLength <= data.count, "an image reaches beyond its file")
        try must(footer.bodyLength + footer.trailerLength == data.count, "the parts are not the file")
        try must(entry.data == data.prefix(footer.bodyLength), "the image's bytes differ")
        let content = entry.content
        let trailer = entry.trailer
        try inMemory(data, footer, key: trailer.key)
        // We do not write two records of a kind; such a file only has to be readable.
        guard Set(trailer.records.map(\.tag)).count == trailer.records.count else { return }
        try must(trailer.extendedData == content.extendedData, "extended data depends on the reader")
        guard let tail = trailer.encoded(bodyLength: footer.bodyLength, bodyHash: footer.bodyHash) else {
            throw FuzzFinding("a trailer that was read is not written")
        }
        guard let again = try load(entry.data + tail) else {
            throw FuzzFinding("an entry that was written is not read")
        }
        let other = again.trailer
        try must(other.key == trailer.key && other.created == trailer.created, "an entry's key or time changes")
        try must(Set(other.records) == Set(trailer.records), "records change by being written and read")
        try must(again.content.validators == content.validators, "validators change by being written and read")
    }

    /// The same bytes as a value of a remote cache.
    private static func inMemory(_ data: Data, _ footer: EntryFooter, key: String) throws(FuzzFinding) {
        let parts = EntryFile.layout(of: data)
        guard let parts, let content = EntryFile.decode(data, forKey: key) else {
            throw FuzzFinding("an entry is none in memory")
        }
        try must(content.data == data.prefix(parts.imageByteCount), "in memory, the image's bytes differ")
        let slots = parts.imageByteCount..<parts.recordsOffset
        try must(
            parts.slots.allSatisfy { slots.contains($0.lowerBound) && $0.upperBound <= slots.upperBound },
            "a slot is elsewhere"
        )
        let validators = CacheValidators(etag: "\"fuzz\"", lastModified: nil)
        guard
            let change = EntryFile.amendment(ofFileWithEnd: data, byteCount: data.count, forKey: key, to: validators)
        else { return }
        let end = change.offset + change.bytes.count
        try must(change.offset >= slots.lowerBound && end <= slots.upperBound, "an amendment is elsewhere")
        var amended = data
        amended.replaceSubrange(change.offset..<end, with: change.bytes)
        try must(EntryFile.decode(amended, forKey: key)?.validators?.etag == "\"fuzz\"", "an amendment is not read")
    }

    /// Puts the bytes into a file and reads it in both ways.
    private static func load(_ data: Data) throws(FuzzFinding) -> LoadedEntry? {
        let path = directory.path("entry")
        guard write(data, path) else { throw FuzzFinding("the file cannot be written") }
        var alone: LoadedTrailer?
        if let (file, status) = try? reader.open(path) {
            alone = reader.trailer(file, status: status)
            close(file)
        }
        guard case .entry(let entry) = reader.read(path, key: nil, mapped: data.count % 2 == 1) else { return nil }
        guard let alone else { throw FuzzFinding("a trailer is there for only one of two readers") }
        try must(alone.trailer.key == entry.trailer.key, "a key depends on the reader")
        try must(alone.response == entry.found.response, "a slot depends on the reader")
        return entry
    }

    private static func write(_ data: Data, _ path: String) -> Bool {
        let file = path.withCString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        guard file >= 0 else { return false }
        defer { close(file) }
        return data.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == data.count
    }

    /// The same with lengths that fit the file and correct hashes; nil when there is no space for a footer.
    private static func mended(_ file: [UInt8]) -> Data? {
        var file = file
        let footer = file.count - EntryTrailer.footerSize
        guard footer >= 0 else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int {
            file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func put(_ value: UInt64, at offset: Int, _ count: Int = 8) {
            for index in 0..<count { file[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        }
        let records = number(footer + 8, 2) % (footer + 1)
        let content = footer - records
        let slotSize = number(footer + 36, 2) % (content / 2 + 1)
        let hasSlots = file[footer + 32] & 1 == 0 && slotSize >= ResponseSlots.headerSize
        let body = content - (hasSlots ? 2 * slotSize : 0)
        put(UInt64(content), at: footer)
        put(UInt64(records), at: footer + 8)
        put(hash(file[..<body]), at: footer + 24)
        put(hasSlots ? 2 : 1, at: footer + 32, 4)
        put(hasSlots ? UInt64(slotSize) : 0, at: footer + 36, 4)
        let seed = hash(file[(footer - records)..<(footer + 40)])
        put(seed, at: footer + 40)
        put(EntryTrailer.magic, at: footer + 48)
        if hasSlots {
            for slot in [body, body + slotSize] {
                let length = min(number(slot + 16, 2), slotSize - ResponseSlots.headerSize)
                put(UInt64(length), at: slot + 16)
                put(hash(file[(slot + 8)..<(slot + ResponseSlots.headerSize + length)], seed: seed), at: slot)
            }
        }
        return Data(file)
    }

    private static func hash(_ bytes: ArraySlice<UInt8>, seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { Hashing.xxh3($0, seed: seed) }
    }
}
