import Glibc

/// Finds the orientation in an XMP packet, for files without an EXIF orientation. Previewers of macOS write such PNG files when a user rotates an
/// image.
package enum XMPOrientation {
    /// The search stops after this many bytes of a packet.
    private static let maximumByteCount = 1 << 20

    /// Returns the value of the first `tiff:Orientation`, an attribute or an element; nil if it is missing or not from 1 to 8.
    package static func read(packet: UnsafeRawBufferPointer) -> ImageOrientation? {
        let name: StaticString = "tiff:Orientation"
        let length = name.utf8CodeUnitCount
        var rest = packet.prefix(maximumByteCount)
        while rest.count > length, let start = packet.baseAddress?.advanced(by: rest.startIndex),
            let found = memchr(start, Int32(name.utf8Start[0]), rest.count - length)
        {
            rest = rest.dropFirst(UnsafeRawPointer(found) - start)
            if memcmp(found, name.utf8Start, length) == 0, let value = value(after: rest.dropFirst(length)) {
                return ImageOrientation(exif: value)
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Parses what follows the name: `="6"` with optional space around the sign and either quote, or `>6</`.
    private static func value(after name: Slice<UnsafeRawBufferPointer>) -> Int? {
        var text = name.prefix(64)
        func skipSpace() { text = text.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }
        skipSpace()
        guard let sign = text.popFirst() else { return nil }
        skipSpace()
        var end = UInt8(ascii: "<")
        if sign == UInt8(ascii: "=") {
            guard let quote = text.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                return nil
            }
            end = quote
        } else if sign != UInt8(ascii: ">") {
            return nil
        }
        guard let digit = text.popFirst(), (UInt8(ascii: "1")...UInt8(ascii: "8")).contains(digit) else { return nil }
        skipSpace()
        return text.first == end ? Int(digit - UInt8(ascii: "0")) : nil
    }
}
