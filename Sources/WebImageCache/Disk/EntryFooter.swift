/// The last bytes of a cache file, read.
package struct EntryFooter: Sendable {
    /// Why a file is no entry.
    enum Failure: Error, Hashable {
        /// There is no footer: not written by this library, or torn.
        case absent
        /// A later version wrote it.
        case unknownVersion
        /// Lengths do not match the file, or the hash does not match.
        case damaged
    }

    package let bodyLength: Int
    /// Of each of the two; 0 when there are none.
    let slotSize: Int
    let recordsLength: Int
    package let created: Int64
    let bodyHash: UInt64
    let trailerHash: UInt64

    /// The hash of the bytes as everybody else has it, who takes 0 for unknown.
    var contentHash: UInt64 { max(bodyHash, 1) }

    var slots: ResponseSlots? { slotSize > 0 ? ResponseSlots(size: slotSize, seed: trailerHash) : nil }

    var slotsRange: Range<Int> { bodyLength..<(bodyLength + 2 * slotSize) }

    /// Bytes of slots, records and footer.
    var trailerLength: Int { 2 * slotSize + recordsLength + EntryTrailer.footerSize }

    /// Reads and checks the footer and the hash of the trailer. Nil when the end of the file that is given holds less than both.
    static func read(from tail: UnsafeRawBufferPointer, fileSize: Int) throws(Failure) -> EntryFooter? {
        guard isFooter(tail) else { throw .absent }
        guard let content = Int(exactly: number(at: 0, in: tail) as UInt64),
            let records = Int(exactly: number(at: 8, in: tail) as UInt64)
        else { throw .damaged }
        let (sum, overflow) = content.addingReportingOverflow(records)
        guard !overflow, sum == fileSize - EntryTrailer.footerSize else { throw .damaged }
        let start = tail.count - EntryTrailer.footerSize
        guard records <= start else { return nil }
        let hashed = UnsafeRawBufferPointer(rebasing: tail[(start - records)..<(start + 40)])
        let hash: UInt64 = number(at: 40, in: tail)
        guard Hashing.xxh3(hashed) == hash else { throw .damaged }
        guard let slotSize = slotSize(in: tail) else { throw .unknownVersion }
        if number(at: 32, in: tail) == EntryTrailer.versionWithSlots {
            let sizes = ResponseSlots.headerSize...ResponseSlots.largestSize
            guard sizes.contains(slotSize), 2 * slotSize <= content else { throw .damaged }
        }
        return EntryFooter(
            bodyLength: content - 2 * slotSize,
            slotSize: slotSize,
            recordsLength: records,
            created: number(at: 16, in: tail),
            bodyHash: number(at: 24, in: tail),
            trailerHash: hash
        )
    }

    /// How much of the end of the file holds the whole trailer, by what the footer says, which is not checked; nil when there is
    /// no footer, or it cannot be right.
    static func claimedTrailerLength(in tail: UnsafeRawBufferPointer) -> Int? {
        guard isFooter(tail) else { return nil }
        let others = UInt64(2 * (slotSize(in: tail) ?? 0) + EntryTrailer.footerSize)
        let (length, overflow) = (number(at: 8, in: tail) as UInt64).addingReportingOverflow(others)
        return overflow ? nil : Int(exactly: length)
    }

    private static func isFooter(_ tail: UnsafeRawBufferPointer) -> Bool {
        tail.count >= EntryTrailer.footerSize && number(at: 48, in: tail) == EntryTrailer.magic
    }

    /// Nil for a later version.
    private static func slotSize(in tail: UnsafeRawBufferPointer) -> Int? {
        switch number(at: 32, in: tail) as UInt32 {
        case EntryTrailer.version: 0
        case EntryTrailer.versionWithSlots: Int(number(at: 36, in: tail) as UInt32)
        default: nil
        }
    }

    /// A number of the footer that the bytes end with.
    private static func number<Number: FixedWidthInteger>(at offset: Int, in tail: UnsafeRawBufferPointer) -> Number {
        tail.littleEndian(at: tail.count - EntryTrailer.footerSize + offset)
    }
}

extension UnsafeRawBufferPointer {
    /// A number that is within the bytes.
    func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
