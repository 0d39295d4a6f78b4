package import FoundationEssentials

/// The content of a cache file as bytes in memory, for caches that keep it elsewhere.
package enum EntryFile {
    /// Returns the bytes of the file that a ``DiskCache`` would write; nil if a part is too long for its format.
    ///
    /// - Parameter created: the time of the store, in seconds since 1970.
    package static func encode(_ entry: CachedImageData, forKey key: String, created: Double) -> Data? {
        guard let nanoseconds = Int64(exactly: (created * 1e9).rounded()) else { return nil }
        let trailer = EntryTrailer(key: key, created: nanoseconds, entry)
        let tail = entry.data.withBytes { trailer.encoded(bodyLength: $0.count, bodyHash: Hashing.xxh3($0)) }
        return tail.map { entry.data + $0 }
    }

    /// A change of a file in place.
    package struct Amendment: Sendable, Hashable {
        /// The position of the bytes in the file.
        package let offset: Int
        package let bytes: Data
        /// The slot that the bytes are the beginning of, 0 or 1.
        package let index: Int
        /// The last bytes of the file, which it must still have: they are those of the image and its records.
        package let footer: Data
    }

    /// Returns the change that replaces the validators in a file; nil if it is not an entry of the key and of the bytes that they belong to, if
    /// it has them already, or if it has no room for them.
    ///
    /// - Parameters:
    ///   - end: the end of the file, of at least the length that ``endByteCount`` has.
    ///   - byteCount: the length of the file.
    package static func amendment(
        ofFileWithEnd end: Data,
        byteCount: Int,
        forKey key: String,
        to validators: CacheValidators?
    ) -> Amendment? {
        end.withBytes { end -> Amendment? in
            guard let footer = try? EntryFooter.read(from: end, fileSize: byteCount), footer.trailerLength <= end.count,
                let slots = footer.slots,
                let found = EntryReader(calls: .system).trailer(in: end, footer, nil), found.trailer.hasKey(key)
            else { return nil }
            let trailer = found.amended(by: EntryAmendment(validators: .some(validators)))
            guard trailer.records != found.trailer.records,
                let change = slots.amendment(to: trailer.response ?? Data(), after: found.response)
            else { return nil }
            return Amendment(
                offset: footer.slotsRange.lowerBound + change.offset,
                bytes: Data(change.bytes),
                index: change.offset == 0 ? 0 : 1,
                footer: Data(end.suffix(EntryTrailer.footerSize))
            )
        }
    }

    /// The positions of the parts of a file.
    package struct Layout: Sendable, Hashable {
        /// The image is at the beginning.
        package let imageByteCount: Int
        /// The used bytes of the two slots for the response; empty for a file without slots.
        package let slots: [Range<Int>]
        /// Records and footer are at the end.
        package let recordsOffset: Int
    }

    /// Returns the positions of the parts of a file; nil if it has no valid footer.
    package static func layout(of file: Data) -> Layout? {
        file.withBytes { bytes -> Layout? in
            guard let footer = try? EntryFooter.read(from: bytes, fileSize: bytes.count),
                footer.trailerLength <= bytes.count
            else { return nil }
            let range = footer.slotsRange
            let slots = (footer.slotSize > 0 ? [0, 1] : []).map { index -> Range<Int> in
                let start = range.lowerBound + index * footer.slotSize
                let length = Int(bytes.littleEndian(at: start + 16, as: UInt32.self))
                let room = footer.slotSize - ResponseSlots.headerSize
                return start..<(start + ResponseSlots.headerSize + (length <= room ? length : room))
            }
            return Layout(imageByteCount: footer.bodyLength, slots: slots, recordsOffset: range.upperBound)
        }
    }

    /// The bytes at the end of a file that nearly always contain all metadata.
    package static let endByteCount = 8 << 10

    /// Returns the entry in the bytes of a file, after the same checks as on disk: lengths, hashes, key. Nil if one fails.
    package static func decode(_ file: Data, forKey key: String) -> CachedImageData? {
        file.withBytes { bytes -> CachedImageData? in
            // Nil instead of an error for the end of a file that was not read far enough, which cannot be.
            guard let footer = try? EntryFooter.read(from: bytes, fileSize: bytes.count),
                footer.trailerLength <= bytes.count,
                let found = EntryReader(calls: .system).trailer(in: bytes, footer, nil),
                found.trailer.hasKey(key)
            else { return nil }
            let body = UnsafeRawBufferPointer(rebasing: bytes[..<footer.bodyLength])
            guard Hashing.xxh3(body) == footer.bodyHash else { return nil }
            return found.content(Data(body))
        }
    }
}
