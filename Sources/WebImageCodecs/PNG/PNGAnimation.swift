import CPNGShims

/// The frames of an animated PNG, found from the chunks. A pure value.
///
/// As in browsers, a violation of the format (a number out of sequence, a frame outside the canvas, a wrong checksum) ends the animation: the frames
/// before it are played. So does the end of the file; a frame with missing chunks is left out. Without any frame the file is a still image.
struct PNGAnimation: Sendable {
    /// The frames with all their chunks.
    private(set) var frames: [PNGFrame] = []
    /// The loop count; 0 means infinite.
    private(set) var playCount = 0
    /// A Boolean value that indicates whether the file has more frames than were read.
    private(set) var isCut = false

    /// The number of frames that the file states; nil before it is read.
    private var statedCount: Int?
    private var nextNumber: UInt32 = 0
    /// The frame whose pixel chunks are being read.
    private var current: PNGFrame?
    private var hasImage = false
    private var hasOtherImage = false
    private var hasEnded = false
    private let frameLimit: Int

    /// A Boolean value that indicates whether the file states that it is animated and nothing has ended the animation so far.
    var isRunning: Bool { statedCount != nil && !hasEnded }
    /// A Boolean value that indicates whether the default image is not a frame, once its pixels are reached.
    var beginsWithOtherImage: Bool { hasImage ? hasOtherImage : isRunning && current == nil }

    /// - Parameter frameLimit: the maximum number of frames to read.
    init(frameLimit: Int) { self.frameLimit = max(frameLimit, 1) }

    /// Reads a complete chunk.
    ///
    /// - Parameters:
    ///   - chunk: the content.
    ///   - place: the range in the file, including length, type and checksum.
    mutating func read(_ type: UInt32, _ chunk: ByteReader, at place: Range<Int>, on canvas: (width: Int, height: Int))
    {
        guard !hasEnded else { return }
        switch type {
        case fourCC("acTL"): readControl(chunk)
        case fourCC("fcTL"): readFrameControl(chunk, on: canvas)
        case fourCC("IDAT"):
            if !hasImage { hasOtherImage = current == nil && statedCount != nil }
            hasImage = true
            if current?.isDefaultImage == true { append(place) }
        case fourCC("fdAT"): readPixels(chunk, at: place)
        default: break
        }
    }

    /// - Parameter isTruncated: the file ends within a chunk of pixels.
    mutating func finish(isTruncated: Bool) {
        if !isTruncated { completeFrame() }
        hasEnded = true
        current = nil
    }

    private mutating func readControl(_ chunk: ByteReader) {
        guard statedCount == nil, !hasImage, let count = chunk.bigEndian32(0), let plays = chunk.bigEndian32(4) else {
            return
        }
        statedCount = Int(count)
        playCount = Int(plays)
    }

    private mutating func readFrameControl(_ chunk: ByteReader, on canvas: (width: Int, height: Int)) {
        guard let statedCount else { return }
        guard completeFrame() else {
            hasEnded = true
            return
        }
        guard frames.count < statedCount, takeNumber(chunk) else {
            hasEnded = true
            return
        }
        guard frames.count < frameLimit else {
            isCut = true
            hasEnded = true
            return
        }
        current = PNGFrame(
            chunk,
            canvasWidth: canvas.width,
            canvasHeight: canvas.height,
            isDefaultImage: !hasImage
        )
        if current == nil { hasEnded = true }
    }

    private mutating func readPixels(_ chunk: ByteReader, at place: Range<Int>) {
        guard statedCount != nil else { return }
        guard let current, !current.isDefaultImage, takeNumber(chunk) else {
            // The frame's pixels continue after the invalid chunk, so it is incomplete.
            self.current = nil
            hasEnded = true
            return
        }
        append(place)
    }

    private mutating func append(_ place: Range<Int>) {
        guard let frame = current else { return }
        current?.chunks = (frame.chunks.isEmpty ? place.lowerBound : frame.chunks.lowerBound)..<place.upperBound
    }

    /// Adds the current frame; returns false when it has no pixels.
    @discardableResult
    private mutating func completeFrame() -> Bool {
        guard let frame = current else { return true }
        current = nil
        guard !frame.chunks.isEmpty else { return false }
        frames.append(frame)
        return true
    }

    /// Checks a chunk's sequence number: all control and pixel chunks of an animation are numbered, from 0.
    private mutating func takeNumber(_ chunk: ByteReader) -> Bool {
        guard chunk.bigEndian32(0) == nextNumber else { return false }
        nextNumber &+= 1
        return true
    }
}
