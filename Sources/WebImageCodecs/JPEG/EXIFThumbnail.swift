import FoundationEssentials

/// Writes the EXIF block of a JPEG file with an embedded thumbnail.
package enum EXIFThumbnail {
    /// The size into which the thumbnail fits, in pixels.
    package static let box = ImageSize(width: 160, height: 160)
    /// The compression quality of the thumbnail.
    static let quality = 0.75
    /// The maximum number of bytes in a marker segment, without the two bytes of its length.
    private static let mostBytes = 65_533

    /// Returns the content of the marker segment: two directories, the second of which describes the thumbnail; nil when the thumbnail is
    /// too large.
    static func block(_ thumbnail: Data) -> Data? {
        var block = Data("Exif\0\0MM".utf8)
        block += [0, 42, 0, 0, 0, 8]
        // The image's directory only has the orientation: upright. It has 18 bytes; the thumbnail's directory follows it.
        block += directory([(0x0112, 3, 1 << 16)], next: 26)
        // The second directory has 6 entries. Two fractions of 72 dots per inch and the thumbnail follow it.
        let fractions: UInt32 = 26 + 2 + 6 * 12 + 4
        let start = fractions + 16
        block += directory(
            [
                // JPEG compression; resolution in dots per inch.
                (0x0103, 3, 6 << 16), (0x011A, 5, fractions), (0x011B, 5, fractions + 8), (0x0128, 3, 2 << 16),
                // The thumbnail's offset and number of bytes.
                (0x0201, 4, start), (0x0202, 4, UInt32(clamping: thumbnail.count)),
            ],
            next: 0
        )
        for number: UInt32 in [72, 1, 72, 1] { block += bigEndian(number) }
        block += thumbnail
        return block.count <= mostBytes ? block : nil
    }

    /// Returns a directory of entries with one value each: tag, type, and the four bytes of the value or of its offset.
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
