import FoundationEssentials
import Glibc

/// The records of a trailer, in place.
struct EntryRecords {
    /// The bytes of the records, already checked against the hash.
    let bytes: UnsafeRawBufferPointer

    /// Calls `body` with each record in turn; false when they do not fill the bytes exactly.
    @discardableResult
    func forEach(_ body: (_ tag: UInt32, _ bytes: UnsafeRawBufferPointer) -> Void) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 8 else { return false }
            let tag = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest.startIndex, as: UInt32.self))
            let length = Int(
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest.startIndex + 4, as: UInt32.self))
            )
            guard rest.count - 8 >= length else { return false }
            let start = rest.startIndex + 8
            body(tag, UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)]))
            rest = bytes[(start + length)...]
        }
        return true
    }

    /// Whether the key stored is `key`, byte for byte.
    func hasKey(_ key: String) -> Bool {
        var copy = key
        return copy.withUTF8 { wanted in
            var matches = false
            forEach { tag, bytes in
                guard tag == EntryTrailer.Tag.key, bytes.count == wanted.count else { return }
                guard let stored = bytes.baseAddress, let other = wanted.baseAddress else {
                    matches = true
                    return
                }
                matches = memcmp(stored, other, bytes.count) == 0
            }
            return matches
        }
    }

    /// Everything in a value of its own, with what a slot holds in the place of a record; nil when there is no key.
    func trailer(of footer: EntryFooter, response: ResponseSlots.Content?) -> EntryTrailer? {
        var trailer = trailer(created: footer.created)
        guard footer.slotSize > 0 else { return trailer }
        trailer?.response = response.flatMap { $0.bytes.isEmpty ? nil : $0.bytes }
        return trailer
    }

    /// Everything in a value of its own; nil when there is no key.
    func trailer(created: Int64) -> EntryTrailer? {
        var key: String?
        var records: [EntryTrailer.Record] = []
        let isWhole = forEach { tag, bytes in
            if tag == EntryTrailer.Tag.key {
                key = String(validating: bytes, as: UTF8.self)
            } else {
                records.append(EntryTrailer.Record(tag: tag, bytes: Data(bytes)))
            }
        }
        guard isWhole, let key else { return nil }
        return EntryTrailer(key: key, created: created, records: records)
    }
}
