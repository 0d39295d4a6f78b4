/// Reads numbers from bytes with bounds checks: returns nil beyond the end and never traps.
package struct ByteReader {
    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var count: Int { bytes.count }

    private func contains(_ offset: Int, _ length: Int) -> Bool {
        offset >= 0 && offset <= bytes.count && length <= bytes.count - offset
    }

    @inline(__always)
    package func byte(_ offset: Int) -> UInt8? { contains(offset, 1) ? bytes[offset] : nil }

    @inline(__always)
    package func bigEndian16(_ offset: Int) -> Int? {
        contains(offset, 2) ? Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))) : nil
    }

    @inline(__always)
    package func bigEndian32(_ offset: Int) -> UInt32? {
        contains(offset, 4) ? UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) : nil
    }

    @inline(__always)
    package func littleEndian16(_ offset: Int) -> Int? {
        contains(offset, 2)
            ? Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))) : nil
    }

    @inline(__always)
    package func littleEndian32(_ offset: Int) -> UInt32? {
        contains(offset, 4) ? UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) : nil
    }

    /// Returns the bytes of a range; nil when it is not completely there.
    package func slice(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer? {
        guard length >= 0, contains(offset, length) else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }
}
