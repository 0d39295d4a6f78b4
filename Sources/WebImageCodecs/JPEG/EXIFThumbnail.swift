import FoundationEssentials

/// The EXIF block of a JPEG file with a small copy of its picture.
package enum EXIFThumbnail {
    /// What the copy fits into, in pixels.
    package static let box = ImageSize(width: 160, height: 160)
    /// Of the copy.
    static let quality = 0.75
    /// A marker holds no more, with the two bytes that say how many.
    private static let mostBytes = 65_533

    /// The content of the marker: two directories, the second of which describes the copy; nil when it is too big.
    static func block(_ thumbnail: Data) -> Data? {
        var block = Data("Exif\0\0MM".utf8)
        block += [0, 42, 0, 0, 0, 8]
        // The picture's directory has the orientation alone: upright. It is 18 bytes long; the copy's comes next.
        block += directory([(0x0112, 3, 1 << 16)], next: 26)
        // That one has 6 entries, and then come two fractions of 72 dots per inch, and the copy.
        let fractions = UInt32(26 + 2 + 6 * 12 + 4)
        let start = fractions + 16
        block += directory(
            [
                // JPEG; dots per inch.
                (0x0103, 3, 6 << 16), (0x011A, 5, fractions), (0x011B, 5, fractions + 8), (0x0128, 3, 2 << 16),
                // Where it lies, and its bytes.
                (0x0201, 4, start), (0x0202, 4, UInt32(clamping: thumbnail.count)),
            ],
            next: 0
        )
        for number: UInt32 in [72, 1, 72, 1] { block += bigEndian(number) }
        block += thumbnail
        return block.count <= mostBytes ? block : nil
    }

    /// Entries of one value each: tag, type, and the four bytes of the value or of its place.
    private static func directory(_ entries: [(tag: UInt16, type: UInt16, value: UInt32)], next: UInt32) -> Data {
        var data = Data([0, UInt8(entries.count)])
        for entry in entries {
            data += bigEndian(UInt32(entry.tag) << 16 | UInt32(entry.type))
            data += bigEndian(1) + bigEndian(entry.value)
        }
        return data + bigEndian(next)
    }

    private static func bigEndian(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
}
