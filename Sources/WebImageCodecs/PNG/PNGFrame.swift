/// One frame of an animated PNG, from its control chunk.
struct PNGFrame: Sendable, Hashable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
    /// The duration in seconds, corrected.
    var duration: Double
    var disposal: AnimationFrame.Disposal
    /// A Boolean value that indicates whether transparent pixels also replace those below.
    var replaces: Bool
    /// A Boolean value that indicates whether the pixels are those of the default image, which programs without animation support show.
    var isDefaultImage: Bool
    /// The range of the file that holds the chunks with the pixels.
    var chunks: Range<Int>

    func covers(width: Int, height: Int) -> Bool {
        left == 0 && top == 0 && self.width == width && self.height == height
    }
}

extension PNGFrame {
    /// Reads the content of a control chunk; nil if it is invalid for a canvas of that size.
    init?(_ chunk: ByteReader, canvasWidth: Int, canvasHeight: Int, isDefaultImage: Bool) {
        guard chunk.count == 26, let width = chunk.bigEndian32(4), let height = chunk.bigEndian32(8),
            let left = chunk.bigEndian32(12), let top = chunk.bigEndian32(16), let numerator = chunk.bigEndian16(20),
            let denominator = chunk.bigEndian16(22), let disposal = chunk.byte(24), let blending = chunk.byte(25)
        else { return nil }
        self.left = Int(left)
        self.top = Int(top)
        self.width = Int(width)
        self.height = Int(height)
        guard self.width > 0, self.height > 0, self.left + self.width <= canvasWidth,
            self.top + self.height <= canvasHeight, disposal <= 2, blending <= 1
        else { return nil }
        self.isDefaultImage = isDefaultImage
        duration = FrameDuration.corrected(Double(numerator) / Double(denominator == 0 ? 100 : denominator))
        self.disposal = disposal == 2 ? .previous : disposal == 1 ? .background : .keep
        replaces = blending == 0
        chunks = 0..<0
        guard !isDefaultImage || covers(width: canvasWidth, height: canvasHeight) else { return nil }
    }
}
