/// Finds the first picture of a WebP file, stepping from chunk to chunk as they come.
struct WebPFrameFinder {
    /// What the file says of all of it, if it does.
    struct Canvas {
        var width: Int
        var height: Int
        var hasAlpha: Bool
        var hasEXIF: Bool
        var isAnimated: Bool
    }

    private(set) var canvas: Canvas?
    /// Where the picture begins, with its alpha if that is apart.
    private(set) var start: Int?
    /// Where it ends, as its chunk states; nil before ``isFound``.
    private(set) var end: Int?
    /// Whether no picture will be found.
    private(set) var isLost = false
    private var offset = 12

    /// Whether enough of the picture is there to tell its size.
    var isFound: Bool { end != nil }

    /// Chunks of pictures say how big they are in their first bytes.
    private static let pictureHeaderByteCount = 18

    mutating func find(in bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes)
        while !isFound, !isLost, let type = reader.bigEndian32(offset), let size = reader.littleEndian32(offset + 4) {
            let next = offset + 8 + Int(size) + Int(size & 1)
            switch type {
            case fourCC("VP8X"):
                guard let payload = reader.slice(offset + 8, 10) else { return }
                readCanvas(payload)
            case fourCC("ANMF"):
                // Behind the head of a frame come its chunks.
                guard start == nil else {
                    isLost = true
                    return
                }
                offset += 24
                continue
            case fourCC("ALPH"): start = start ?? offset
            case fourCC("VP8 "), fourCC("VP8L"):
                guard bytes.count >= offset + Self.pictureHeaderByteCount || bytes.count >= next else { return }
                start = start ?? offset
                end = next
                return
            default: break
            }
            offset = next
        }
    }

    private mutating func readCanvas(_ payload: UnsafeRawBufferPointer) {
        guard canvas == nil else { return }
        func side(_ at: Int) -> Int { 1 + Int(payload[at]) + Int(payload[at + 1]) << 8 + Int(payload[at + 2]) << 16 }
        let flags = payload[0]
        canvas = Canvas(
            width: side(4),
            height: side(7),
            hasAlpha: flags & 0x10 != 0,
            hasEXIF: flags & 0x08 != 0,
            isAnimated: flags & 0x02 != 0
        )
    }
}
