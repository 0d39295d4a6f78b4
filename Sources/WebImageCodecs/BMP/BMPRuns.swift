/// An index of a run-length encoded bitmap, made without decoding pixels: where each row begins, and whether every pixel gets a colour.
package struct BMPRuns: Sendable {
    /// The offset of a row's commands, and the pixel at which they begin.
    struct Start: Sendable {
        var offset: Int
        var x: Int
    }

    /// The start of each stored row; nil for a row that was skipped.
    private(set) var starts: [Start?]
    /// A Boolean value that indicates whether pixels were skipped; they are transparent.
    private(set) var hasGaps: Bool

    /// A command of the run-length coding.
    enum Command {
        /// `count` pixels of one colour, whose bytes are at the offset.
        case run(count: Int, at: Int)
        /// `count` pixels with a colour each, starting at the offset.
        case pixels(count: Int, at: Int)
        case endOfRow
        case endOfImage
        case move(x: Int, y: Int)
    }

    /// - Throws: ``WebImageError/Code/badImageData`` when the commands end before the image does.
    init(_ bytes: UnsafeRawBufferPointer, header: BMPHeader) throws(WebImageError) {
        let reader = ByteReader(bytes)
        starts = Array(repeating: nil, count: header.height)
        starts[0] = Start(offset: header.pixelOffset, x: 0)
        var (x, y, offset, covered) = (0, 0, header.pixelOffset, 0)
        walk: while y < header.height {
            guard let (command, next) = Self.command(reader, offset, header) else {
                // A missing end command does not matter if all pixels are there.
                if covered == header.width * header.height { break }
                throw BMPHeader.error("its run-length data is truncated")
            }
            offset = next
            switch command {
            case .run(let count, _), .pixels(let count, _):
                covered += min(count, max(header.width - x, 0))
                x += count
            case .endOfRow: (x, y) = (0, y + 1)
            case .move(let right, let down): (x, y) = (x + right, y + down)
            case .endOfImage: break walk
            }
            var isNewRow = false
            if case .endOfRow = command { isNewRow = true }
            if case .move(_, let down) = command { isNewRow = down > 0 }
            if isNewRow, y < header.height { starts[y] = Start(offset: offset, x: x) }
        }
        hasGaps = covered < header.width * header.height
    }

    /// Returns the command at an offset and the offset of the next; nil when it is incomplete.
    static func command(_ reader: ByteReader, _ offset: Int, _ header: BMPHeader) -> (Command, Int)? {
        guard let count = reader.byte(offset), let second = reader.byte(offset + 1) else { return nil }
        let isHighBitDepth = header.compression == .runs24
        if count > 0 {
            guard !isHighBitDepth || reader.slice(offset + 1, 3) != nil else { return nil }
            return (.run(count: Int(count), at: offset + 1), offset + (isHighBitDepth ? 4 : 2))
        }
        switch second {
        case 0: return (.endOfRow, offset + 2)
        case 1: return (.endOfImage, offset + 2)
        case 2:
            guard let right = reader.byte(offset + 2), let down = reader.byte(offset + 3) else { return nil }
            return (.move(x: Int(right), y: Int(down)), offset + 4)
        default:
            let length = header.compression == .runs4 ? (Int(second) + 1) / 2 : Int(second) * (isHighBitDepth ? 3 : 1)
            guard reader.slice(offset + 2, length) != nil else { return nil }
            // Padded to 16-bit words.
            return (.pixels(count: Int(second), at: offset + 2), offset + 2 + ((length + 1) & ~1))
        }
    }
}
