/// The parsed footer of a cache file.
package struct EntryFooter: Sendable {
    /// The reason why a file is not a valid entry.
    enum Failure: Error, Hashable {
        /// There is no footer: the file was not written by this library, or is torn.
        case absent
        /// The file was written by a later version.
        case unknownVersion
        /// Lengths do not match the file, or the hash does not match.
        case damaged
    }

    package let bodyLength: Int
    /// The size of each of the two slots; 0 if there are none.
    let slotSize: Int
    let recordsLength: Int
    package let created: Int64
    let bodyHash: UInt64
    let trailerHash: UInt64

    /// The hash of the bytes in the form used elsewhere, where 0 means unknown.
    var contentHash: UInt64 { max(bodyHash, 1) }

    var slots: ResponseSlots? { slotSize > 0 ? ResponseSlots(size: slotSize, seed: trailerHash) : nil }

    var slotsRange: Range<Int> { bodyLength..<(bodyLength + 2 * slotSize) }

    /// The number of bytes of slots, records and footer.
    var trailerLength: Int { 2 * slotSize + recordsLength + EntryTrailer.footerSize }

    /// Parses the footer and verifies the hash of the trailer. Nil if `tail`, the end of the file, is shorter than records and
    /// footer.
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

    /// Returns the length of the whole trailer as claimed by the unverified footer; nil if there is no footer, or if the length is
    /// impossible.
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

    /// Reads a number of the footer at the end of `tail`.
    private static func number<Number: FixedWidthInteger>(at offset: Int, in tail: UnsafeRawBufferPointer) -> Number {
        tail.littleEndian(at: tail.count - EntryTrailer.footerSize + offset)
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a little-endian number, which must be within the bytes.
    func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
