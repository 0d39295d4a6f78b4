import CWebP

/// Finds the first image of a WebP file, reading chunk by chunk as data is received.
struct WebPFrameFinder {
    /// The contents of the `VP8X` chunk, if there is one.
    struct Canvas {
        var width: Int
        var height: Int
        var hasAlpha: Bool
        /// A Boolean value that indicates whether metadata after the image may contain an orientation.
        var hasMetadata: Bool
        var isAnimated: Bool
    }

    private(set) var canvas: Canvas?
    /// The offset of the image, including a separate alpha chunk.
    private(set) var start: Int?
    /// The offset of the first frame's header in an animation.
    private var frameHead: Int?
    /// The offset of the content of the image's `VP8 ` chunk; nil if the image is lossless.
    private(set) var lossyStart: Int?
    /// The offset of the image's end, as its chunk states; nil before ``isFound``.
    private(set) var end: Int?
    /// A Boolean value that indicates whether no image will be found.
    private(set) var isLost = false
    private var offset = 12

    /// A Boolean value that indicates whether enough of the image is there to know its size.
    var isFound: Bool { end != nil }

    /// The number of bytes at the start of an image chunk that contain its size.
    private static let imageHeaderByteCount = 18

    mutating func find(in bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes)
        while !isFound, !isLost, let type = reader.bigEndian32(offset), let size = reader.littleEndian32(offset + 4) {
            let next = offset + 8 + Int(size) + Int(size & 1)
            switch type {
            case fourCC("VP8X"):
                guard let payload = reader.slice(offset + 8, 10) else { return }
                readCanvas(payload)
            case fourCC("ANMF"):
                // A frame header is followed by the frame's chunks.
                guard start == nil, frameHead == nil else {
                    isLost = true
                    return
                }
                frameHead = offset + 8
                offset += 24
                continue
            case fourCC("ALPH"): start = start ?? offset
            case fourCC("VP8 "), fourCC("VP8L"):
                guard bytes.count >= offset + Self.imageHeaderByteCount || bytes.count >= next else { return }
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

    /// Returns the first frame of an animation, once ``isFound``; nil for a still image, and when the frame's header contradicts its image.
    func frame(in bytes: UnsafeRawBufferPointer) -> WebPContainer.Frame? {
        guard let canvas, canvas.isAnimated, let frameHead, let start, let end,
            start <= end
        else { return nil }
        return WebPContainer.Frame(
            ByteReader(bytes),
            head: frameHead,
            image: start..<end,
            canvas.width,
            canvas.height
        )
    }
}

extension WebPContainer.Frame {
    /// The number of bytes of a frame's header.
    static let headByteCount = 16

    /// Reads a frame of an animation; nil if it lies outside the canvas, or its header contradicts its image.
    ///
    /// - Parameters:
    ///   - head: the offset of the frame's header.
    ///   - image: the range of its image in the file, of which the end may be missing.
    init?(_ reader: ByteReader, head: Int, image range: Range<Int>, _ canvasWidth: Int, _ canvasHeight: Int) {
        guard let head = reader.slice(head, Self.headByteCount),
            let encoded = reader.slice(range.lowerBound, min(range.upperBound, reader.count) - range.lowerBound)
        else { return nil }
        func number(_ at: Int) -> Int { Int(head[at]) | Int(head[at + 1]) << 8 | Int(head[at + 2]) << 16 }
        var features = WebPBitstreamFeatures()
        let first = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard WebPGetFeatures(first, encoded.count, &features) == VP8_STATUS_OK else { return nil }
        self.init(
            x: 2 * number(0),
            y: 2 * number(3),
            width: 1 + number(6),
            height: 1 + number(9),
            hasAlpha: features.has_alpha != 0,
            isLossless: features.format == 2,
            duration: FrameDuration.corrected(Double(number(12)) / 1000),
            disposesToBackground: head[15] & 1 != 0,
            replaces: head[15] & 2 != 0,
            bytes: range
        )
        let fits = x + width <= canvasWidth && y + height <= canvasHeight
        guard fits, Int(features.width) == width, Int(features.height) == height else { return nil }
    }
}
