/// Finds the orientation tag in a TIFF structure, the content of an EXIF block. Every offset is checked, and only the first directory is
/// read.
package enum EXIFOrientation {
    /// Returns the orientation in `tiff`, bytes that begin with `II*\0` or `MM\0*`; `.up` when there is none.
    package static func read(tiff: UnsafeRawBufferPointer) -> ImageOrientation { tag(tiff: tiff) ?? .up }

    /// Returns the orientation tag; nil when there is none.
    package static func tag(tiff: UnsafeRawBufferPointer) -> ImageOrientation? {
        guard let order = ByteOrder(tiff), order.uint16(tiff, at: 2) == 42,
            let directory = order.uint32(tiff, at: 4), let count = order.uint16(tiff, at: directory)
        else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = order.uint16(tiff, at: entry) else { return nil }
            guard tag == 0x0112 else { continue }
            return value(of: entry, in: tiff, order).map { ImageOrientation(exif: $0) } ?? .up
        }
        return nil
    }

    /// Returns the value of an entry. The type should be SHORT, but some writers use BYTE, LONG or a signed type.
    private static func value(of entry: Int, in tiff: UnsafeRawBufferPointer, _ order: ByteOrder) -> Int? {
        guard let type = order.uint16(tiff, at: entry + 2), let count = order.uint32(tiff, at: entry + 4), count == 1
        else { return nil }
        switch type {
        case 1, 6: return entry + 8 < tiff.count ? Int(tiff[entry + 8]) : nil
        case 3, 8: return order.uint16(tiff, at: entry + 8)
        case 4, 9: return order.uint32(tiff, at: entry + 8)
        default: return nil
        }
    }

    private enum ByteOrder {
        case little, big

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= 8, bytes[0] == bytes[1] else { return nil }
            switch bytes[0] {
            case UInt8(ascii: "I"): self = .little
            case UInt8(ascii: "M"): self = .big
            default: return nil
            }
        }

        func uint16(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - 2 else { return nil }
            let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            return Int(self == .little ? UInt16(littleEndian: value) : UInt16(bigEndian: value))
        }

        func uint32(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - 4 else { return nil }
            let value = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return Int(self == .little ? UInt32(littleEndian: value) : UInt32(bigEndian: value))
        }
    }
}
