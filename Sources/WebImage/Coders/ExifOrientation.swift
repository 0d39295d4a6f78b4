/// Finds the orientation tag in an EXIF block.
enum ExifOrientation {
    /// The orientation; `.up` when the block has none or is damaged.
    ///
    /// - Parameter block: a TIFF structure, with or without `Exif\0\0` before it.
    static func read(_ block: UnsafeRawBufferPointer) -> ImageOrientation {
        let hasPrefix = block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0])
        let reader = ByteReader(hasPrefix ? UnsafeRawBufferPointer(rebasing: block.dropFirst(6)) : block)
        let isLittleEndian = reader.byte(0) == UInt8(ascii: "I")
        func number16(_ offset: Int) -> Int? {
            isLittleEndian ? reader.littleEndian16(offset) : reader.bigEndian16(offset)
        }
        guard reader.byte(0) == reader.byte(1), isLittleEndian || reader.byte(0) == UInt8(ascii: "M"),
            number16(2) == 42, let stored = reader.bigEndian32(4)
        else { return .up }
        let directory = Int(isLittleEndian ? stored.byteSwapped : stored)
        guard let count = number16(directory) else { return .up }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = number16(entry) else { return .up }
            // A short, or a long as some programs write it, whose low half is at another place in big-endian files.
            guard tag == 0x0112, let type = number16(entry + 2) else { continue }
            let value = number16(entry + (type == 4 && !isLittleEndian ? 10 : 8))
            return ImageOrientation(exif: value ?? 1)
        }
        return .up
    }
}
