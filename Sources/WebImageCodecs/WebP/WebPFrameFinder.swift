import CWebP

/// Finds the first picture of a WebP file, stepping from chunk to chunk as they come.
struct WebPFrameFinder {
    /// What the file says of all of it, if it does.
    struct Canvas {
        var width: Int
        var height: Int
        var hasAlpha: Bool
        /// Whether metadata behind the picture may say how it is turned.
        var hasMetadata: Bool
        var isAnimated: Bool
    }

    private(set) var canvas: Canvas?
    /// Where the picture begins, with its alpha if that is apart.
    private(set) var start: Int?
    /// Where an animation says how its first frame lies on the canvas.
    private var frameHead: Int?
    /// Where its chunk's contents begin if it is lossy.
    private(set) var lossyStart: Int?
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
                guard start == nil, frameHead == nil else {
                    isLost = true
                    return
                }
                frameHead = offset + 8
                offset += 24
                continue
            case fourCC("ALPH"): start = start ?? offset
            case fourCC("VP8 "), fourCC("VP8L"):
                guard bytes.count >= offset + Self.pictureHeaderByteCount || bytes.count >= next else { return }
                start = start ?? offset
                end = next
                if type == fourCC("VP8 ") { lossyStart = offset + 8 }
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
            hasMetadata: flags & 0x0C != 0,
            isAnimated: flags & 0x02 != 0
        )
    }

    /// The first frame of an animation, once ``isFound``; nil of a still picture, and when what its head and its picture say does
    /// not fit together.
    func frame(in bytes: UnsafeRawBufferPointer) -> WebPContainer.Frame? {
        guard let canvas, canvas.isAnimated, let frameHead, let start, let end,
            let head = ByteReader(bytes).slice(frameHead, 16),
            let picture = ByteReader(bytes).slice(start, min(end, bytes.count) - start)
        else { return nil }
        func number(_ at: Int) -> Int { Int(head[at]) | Int(head[at + 1]) << 8 | Int(head[at + 2]) << 16 }
        var features = WebPBitstreamFeatures()
        let first = picture.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard WebPGetFeatures(first, picture.count, &features) == VP8_STATUS_OK else { return nil }
        let frame = WebPContainer.Frame(
            x: 2 * number(0),
            y: 2 * number(3),
            width: 1 + number(6),
            height: 1 + number(9),
            hasAlpha: features.has_alpha != 0,
            isLossless: features.format == 2,
            duration: FrameDuration.corrected(Double(number(12)) / 1000),
            disposesToBackground: head[15] & 1 != 0,
            replaces: head[15] & 2 != 0,
            bytes: start..<end
        )
        let fits = frame.x + frame.width <= canvas.width && frame.y + frame.height <= canvas.height
        let isOfSize = Int(features.width) == frame.width && Int(features.height) == frame.height
        return fits && isOfSize ? frame : nil
    }
}
