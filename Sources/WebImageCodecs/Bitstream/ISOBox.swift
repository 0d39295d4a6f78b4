/// A box of an ISO base media file (HEIF, AVIF): its type and the range of its content.
package struct ISOBox: Sendable, Hashable {
    package let type: UInt32
    package let content: Range<Int>

    /// The maximum number of sibling boxes that are read; valid images have fewer.
    package static let mostBoxes = 1 << 16

    /// Returns the sibling boxes in a part of a file. A box that extends beyond the end is the last one, and is truncated there.
    package static func boxes(in bytes: ByteReader, _ part: Range<Int>) -> [ISOBox] {
        var boxes: [ISOBox] = []
        var offset = part.lowerBound
        while offset + 8 <= part.upperBound, boxes.count < mostBoxes, let declared = bytes.bigEndian32(offset),
            let type = bytes.bigEndian32(offset + 4)
        {
            var (header, size) = (8, Int(declared))
            if declared == 1 {
                guard let high = bytes.bigEndian32(offset + 8), let low = bytes.bigEndian32(offset + 12), high < 1 << 30
                else { break }
                (header, size) = (16, Int(high) << 32 | Int(low))
            } else if declared == 0 {
                size = part.upperBound - offset
            }
            guard size >= header, offset + header <= part.upperBound else { break }
            let end = min(offset + size, part.upperBound)
            boxes.append(ISOBox(type: type, content: offset + header..<end))
            guard offset + size <= part.upperBound else { break }
            offset += size
        }
        return boxes
    }

    /// Returns the boxes within this one, after the first `skipped` bytes of its content.
    package func children(in bytes: ByteReader, skipping skipped: Int = 0) -> [ISOBox] {
        guard skipped <= content.count else { return [] }
        return Self.boxes(in: bytes, content.lowerBound + skipped..<content.upperBound)
    }

    /// Returns the first box of a type within this one.
    package func child(_ type: StaticString, in bytes: ByteReader) -> ISOBox? {
        let wanted = fourCC(type)
        return children(in: bytes).first { $0.type == wanted }
    }
}
