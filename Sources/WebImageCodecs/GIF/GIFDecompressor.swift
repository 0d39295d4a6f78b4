/// Decompresses the LZW codes of a GIF frame.
///
/// giflib is not used because it reads a file only from its start, keeps the description of every frame it passes, and calls back for every
/// few bytes. This decoder works on any frame of a file in memory, and was measured a quarter faster on an image of 1 megapixel, colours
/// included.
struct GIFDecompressor {
    private static let tableSize = 4096

    private var bytes: UnsafeRawBufferPointer
    /// The next byte of the file, and the end of the current sub-block.
    private var offset: Int
    private var blockEnd: Int
    private var bits: UInt64 = 0
    private var bitCount = 0
    private let minimumCodeSize: Int
    /// The table's next free entry, the code size and the previous code, between calls of ``run(_:_:)``.
    private var next = 0
    private var codeSize = 0
    private var previous = -1
    /// The number of palette indices written.
    private(set) var written = 0

    /// Creates a decompressor of codes that begin at `offset` with the byte for their size. Some encoders write sizes above 8 bits, although no
    /// colour needs them.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for an invalid size.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(WebImageError) {
        guard offset < bytes.count, (1...11).contains(bytes[offset]) else {
            throw WebImageError(.badImageData, "GIF: invalid LZW code size")
        }
        self.bytes = bytes
        minimumCodeSize = Int(bytes[offset])
        self.offset = offset + 1
        blockEnd = offset + 1
        codeSize = minimumCodeSize + 1
    }

    /// Fills `output`; further data in the file is ignored.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when a code is invalid or the codes end too early.
    mutating func decode(into output: UnsafeMutableBufferPointer<UInt8>) throws(WebImageError) {
        let isComplete = withUnsafeTemporaryAllocation(of: Entry.self, capacity: Self.tableSize) { table in
            prepare(table)
            return run(table, output)
        }
        guard isComplete else { throw Self.damage }
    }

    private static var damage: WebImageError {
        WebImageError(.badImageData, "GIF: the image data is damaged or truncated")
    }

    /// The number of bytes of the table for ``resume(_:isWhole:table:into:)``.
    static var tableByteCount: Int { tableSize * MemoryLayout<Entry>.stride }

    /// Continues filling `output` with newly received data.
    ///
    /// - Parameters:
    ///   - bytes: all of the file so far; bytes that were already read are not accessed.
    ///   - isWhole: the bytes are complete.
    ///   - table: memory of ``tableByteCount`` bytes, the same at every call.
    /// - Returns: whether `output` is full.
    /// - Throws: as ``decode(into:)``.
    mutating func resume(
        _ bytes: UnsafeRawBufferPointer,
        isWhole: Bool,
        table: ScratchBuffer,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(WebImageError) -> Bool {
        self.bytes = bytes
        // The bytes may be at another address in the next call.
        defer { self.bytes = UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = table.base.bindMemory(to: Entry.self, capacity: Self.tableSize)
        let entries = UnsafeMutableBufferPointer(start: start, count: Self.tableSize)
        if next == 0 { prepare(entries) }
        if run(entries, output) { return true }
        // A code can only be missing where the bytes end.
        guard isStarved, !isWhole else { throw Self.damage }
        return false
    }

    /// A string of the table: another string followed by one byte.
    private struct Entry {
        var prefix: UInt16
        var length: UInt16
        var first: UInt8
        var last: UInt8
    }

    private mutating func prepare(_ table: UnsafeMutableBufferPointer<Entry>) {
        let clear = 1 << minimumCodeSize
        for value in 0..<clear {
            let color = UInt8(truncatingIfNeeded: value)
            table[value] = Entry(prefix: 0, length: 1, first: color, last: color)
        }
        // Never used as strings, but a damaged file may refer to them.
        table[clear] = table[0]
        table[clear + 1] = table[0]
        next = clear + 2
    }

    /// Returns whether everything is written; if not, ``isStarved`` indicates why.
    private mutating func run(
        _ table: UnsafeMutableBufferPointer<Entry>,
        _ output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let clear = 1 << minimumCodeSize
        var (next, codeSize, previous, written) = (self.next, self.codeSize, self.previous, self.written)
        defer { (self.next, self.codeSize, self.previous, self.written) = (next, codeSize, previous, written) }
        while written < output.count {
            guard let code = readCode(codeSize) else { return false }
            if code == clear {
                next = clear + 2
                codeSize = minimumCodeSize + 1
                previous = -1
                continue
            }
            guard code != clear + 1, code < next || (code == next && previous >= 0) else {
                isStarved = false
                return false
            }
            if previous >= 0, next < Self.tableSize {
                let base = table[previous]
                let first = code == next ? base.first : table[code].first
                table[next] = Entry(
                    prefix: UInt16(truncatingIfNeeded: previous),
                    length: base.length &+ 1,
                    first: base.first,
                    last: first
                )
                next += 1
                if next == 1 << codeSize, codeSize < 12 { codeSize += 1 }
            }
            written = Self.write(code, of: table, to: output, at: written)
            previous = code
        }
        return true
    }

    /// Writes a string from its end to its beginning; the part that does not fit is dropped.
    @inline(__always)
    private static func write(
        _ code: Int,
        of table: UnsafeMutableBufferPointer<Entry>,
        to output: UnsafeMutableBufferPointer<UInt8>,
        at start: Int
    ) -> Int {
        var entry = table[code]
        let end = start + Int(entry.length)
        var position = end
        while position > output.count {
            entry = table[Int(entry.prefix)]
            position -= 1
        }
        while position > start {
            position -= 1
            output[position] = entry.last
            entry = table[Int(entry.prefix)]
        }
        return min(end, output.count)
    }

    /// A Boolean value that indicates whether a code is missing because the bytes end, and not because the sub-blocks end.
    private var isStarved = false

    @inline(__always)
    private mutating func readCode(_ size: Int) -> Int? {
        if bitCount < size, !refill(size) { return nil }
        let code = Int(bits & ((1 << UInt64(size)) - 1))
        bits >>= UInt64(size)
        bitCount -= size
        return code
    }

    /// Refills the bits from the sub-blocks; returns false at their end.
    private mutating func refill(_ size: Int) -> Bool {
        isStarved = false
        while bitCount <= 56 {
            if offset == blockEnd {
                guard offset < bytes.count else {
                    isStarved = true
                    return bitCount >= size
                }
                guard bytes[offset] > 0 else { return bitCount >= size }
                blockEnd = offset + 1 + Int(bytes[offset])
                offset += 1
            }
            guard offset < bytes.count else {
                isStarved = true
                return bitCount >= size
            }
            bits |= UInt64(bytes[offset]) << UInt64(bitCount)
            bitCount += 8
            offset += 1
        }
        return true
    }
}
