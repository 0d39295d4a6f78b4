/// The complete frames of an animation, found chunk by chunk as data is received.
///
/// libwebp's incremental demuxer (`WebPDemuxPartial`) reads all chunks again whenever data arrives; this continues with the new ones. The complete
/// file is checked by libwebp.
struct IncrementalWebPFrames {
    private(set) var complete: [WebPContainer.Frame] = []
    /// The loop count; 0 means infinite.
    private(set) var loopCount = 0
    /// A Boolean value that indicates whether no further frame will be found.
    private(set) var hasEnded = false
    private var isCut = false
    private var offset = 12
    private let frameLimit: Int

    /// - Parameter frameLimit: the maximum number of frames to read.
    init(frameLimit: Int) { self.frameLimit = max(frameLimit, 1) }

    /// The number of complete frames; one more than the limit if the file has more frames than may be read.
    var count: Int { complete.count + (isCut ? 1 : 0) }

    /// Continues with newly received data.
    ///
    /// - Parameter bytes: all bytes so far, from the start.
    mutating func read(_ bytes: UnsafeRawBufferPointer, onCanvasOf width: Int, by height: Int) {
        // As in libwebp, bytes after the length that the file states are ignored.
        guard !hasEnded, let length = ByteReader(bytes).littleEndian32(4) else { return }
        let reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.prefix(8 + Int(length))))
        while !hasEnded, let type = reader.bigEndian32(offset), let size = reader.littleEndian32(offset + 4) {
            let content = offset + 8..<offset + 8 + Int(size) + Int(size & 1)
            switch type {
            case fourCC("ANMF"):
                guard content.upperBound <= reader.count else { return }
                add(WebPContainer.Frame(reader, at: content, onCanvasOf: width, by: height))
            case fourCC("ANIM"):
                guard let loops = reader.littleEndian16(offset + 12) else { return }
                loopCount = loops
            default: break
            }
            offset = content.upperBound
        }
    }

    private mutating func add(_ frame: WebPContainer.Frame?) {
        guard let frame, complete.count < frameLimit else {
            isCut = frame != nil
            hasEnded = true
            return
        }
        complete.append(frame)
    }
}

extension WebPContainer.Frame {
    /// Reads a complete frame chunk: a header, and the chunks of an image; nil if it is damaged.
    fileprivate init?(_ reader: ByteReader, at content: Range<Int>, onCanvasOf width: Int, by height: Int) {
        var start: Int?
        var offset = content.lowerBound + Self.headByteCount
        while let type = reader.bigEndian32(offset), let size = reader.littleEndian32(offset + 4) {
            let next = offset + 8 + Int(size) + Int(size & 1)
            guard next <= content.upperBound else { return nil }
            switch type {
            case fourCC("ALPH"): start = start ?? offset
            case fourCC("VP8 "), fourCC("VP8L"):
                guard type == fourCC("VP8 ") || start == nil else { return nil }
                self.init(reader, head: content.lowerBound, image: (start ?? offset)..<next, width, height)
                return
            default: break
            }
            offset = next
        }
        return nil
    }
}
