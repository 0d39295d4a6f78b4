/// The last bytes of a cache file, read.
struct EntryFooter: Sendable {
    /// Why a file is no entry.
    enum Failure: Error, Hashable {
        /// There is no footer: not written by this library, or torn.
        case absent
        /// A later version wrote it.
        case unknownVersion
        /// Lengths do not match the file, or the hash does not match.
        case damaged
    }

    let bodyLength: Int
    /// Of each of the two; 0 when there are none.
    let slotSize: Int
    let recordsLength: Int
    let created: Int64
    let bodyHash: UInt64
    let trailerHash: UInt64

    /// The hash of the bytes as everybody else has it, who takes 0 for unknown.
    var contentHash: UInt64 { max(bodyHash, 1) }

    /// The slots, if there are any.
    var slots: ResponseSlots? { slotSize > 0 ? ResponseSlots(size: slotSize, seed: trailerHash) : nil }

    /// Where in the file the slots are.
    var slotsRange: Range<Int> { bodyLength..<(bodyLength + 2 * slotSize) }

    /// Where in the file the records are.
    var recordsRange: Range<Int> { slotsRange.upperBound..<(slotsRange.upperBound + recordsLength) }

    /// Bytes of slots, records and footer.
    var trailerLength: Int { 2 * slotSize + recordsLength + EntryTrailer.footerSize }

    /// Reads and checks the footer and the hash of the trailer.
    ///
    /// - Parameter tail: the end of the file, at least records and footer; `nil` is returned when it holds less.
    /// - Parameter fileSize: the size of the whole file.
    static func read(from tail: UnsafeRawBufferPointer, fileSize: Int) throws(Failure) -> EntryFooter? {
        guard let fields = Fields(tail), fields.magic == EntryTrailer.magic else { throw .absent }
        guard let content = Int(exactly: fields.contentLength), let records = Int(exactly: fields.recordsLength) else {
            throw .damaged
        }
        let (sum, overflow) = content.addingReportingOverflow(records)
        guard !overflow, sum == fileSize - EntryTrailer.footerSize else { throw .damaged }
        let start = tail.count - EntryTrailer.footerSize
        guard records <= start else { return nil }
        let hashed = UnsafeRawBufferPointer(rebasing: tail[(start - records)..<(start + 40)])
        guard Hashing.xxh3(hashed) == fields.trailerHash else { throw .damaged }
        var slotSize = 0
        switch fields.version {
        case EntryTrailer.version: break
        case EntryTrailer.versionWithSlots: slotSize = Int(fields.slotSize)
        default: throw .unknownVersion
        }
        if fields.version == EntryTrailer.versionWithSlots {
            let sizes = ResponseSlots.headerSize...ResponseSlots.largestSize
            guard sizes.contains(slotSize), 2 * slotSize <= content else { throw .damaged }
        }
        return EntryFooter(
            bodyLength: content - 2 * slotSize,
            slotSize: slotSize,
            recordsLength: records,
            created: fields.created,
            bodyHash: fields.bodyHash,
            trailerHash: fields.trailerHash
        )
    }

    /// How much of the end of the file holds the whole trailer, by what the footer says, which is not checked; nil when there is
    /// no footer, or it cannot be right.
    static func claimedTrailerLength(in tail: UnsafeRawBufferPointer) -> Int? {
        guard let fields = Fields(tail), fields.magic == EntryTrailer.magic else { return nil }
        let slots = fields.version == EntryTrailer.versionWithSlots ? 2 * UInt64(fields.slotSize) : 0
        let (length, overflow) = fields.recordsLength.addingReportingOverflow(slots + UInt64(EntryTrailer.footerSize))
        return overflow ? nil : Int(exactly: length)
    }

    /// What is in the footer, as it is there.
    private struct Fields {
        let contentLength, recordsLength: UInt64
        let created: Int64
        let bodyHash: UInt64
        let version, slotSize: UInt32
        let trailerHash, magic: UInt64

        /// Nil when there are too few bytes for a footer.
        init?(_ tail: UnsafeRawBufferPointer) {
            guard tail.count >= EntryTrailer.footerSize else { return nil }
            let start = tail.count - EntryTrailer.footerSize
            func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
                Number(littleEndian: tail.loadUnaligned(fromByteOffset: start + offset, as: Number.self))
            }
            contentLength = number(at: 0)
            recordsLength = number(at: 8)
            created = number(at: 16)
            bodyHash = number(at: 24)
            version = number(at: 32)
            slotSize = number(at: 36)
            trailerHash = number(at: 40)
            magic = number(at: 48)
        }
    }
}
