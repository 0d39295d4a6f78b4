/// What the chunks of a PNG file say besides pixels.
///
/// Found by stepping from chunk to chunk, without checksums and without copying; the pixels' decoder verifies what it uses.
struct PNGHeader: Sendable {
    var width = 0
    var height = 0
    var bitDepth = 0
    var colorType = 0
    var isInterlaced = false
    var hasTransparencyChunk = false
    var color = PNGColor()
    /// Where the EXIF block lies in the file.
    var exif: Range<Int>?
    /// Frames of the animation; 0 for a still picture.
    var animationFrameCount = 0
    /// How often it plays; 0 is for ever.
    var animationPlayCount = 0
    /// The delays found, in seconds.
    var animationDelays: [Double] = []

    var hasAlpha: Bool { colorType & 4 != 0 || hasTransparencyChunk }
    var isGray: Bool { colorType & 2 == 0 }

    /// Reads the chunks.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when the file does not begin as PNG does,
    ///   ``WebImageError/Code/limitExceeded`` for a size that is refused.
    init(_ bytes: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        guard ImageFormat(detecting: bytes) == .png else { throw WebImageError(.badImageData, "not a PNG file") }
        let reader = ByteReader(bytes)
        guard let length = reader.bigEndian32(8), let type = reader.bigEndian32(12), length == 13,
            type == fourCC("IHDR"), let header = reader.slice(16, 13)
        else { throw WebImageError(.badImageData, "the PNG file has no header") }
        try readHeader(ByteReader(header))
        try limits.check(width: width, height: height)
        readChunks(reader, limits: limits)
    }

    private mutating func readHeader(_ chunk: ByteReader) throws(WebImageError) {
        guard let width = chunk.bigEndian32(0), let height = chunk.bigEndian32(4), let depth = chunk.byte(8),
            let type = chunk.byte(9), let interlace = chunk.byte(12)
        else { throw WebImageError(.badImageData, "the PNG file has no header") }
        self.width = Int(width)
        self.height = Int(height)
        bitDepth = Int(depth)
        colorType = Int(type)
        isInterlaced = interlace != 0
    }

    private mutating func readChunks(_ reader: ByteReader, limits: ImageLimits) {
        var offset = 33
        var hasPixels = false
        while let length = reader.bigEndian32(offset), let type = reader.bigEndian32(offset + 4),
            let chunk = reader.slice(offset + 8, Int(length))
        {
            switch type {
            case fourCC("IDAT"): hasPixels = true
            case fourCC("IEND"): return
            case fourCC("eXIf"): exif = exif ?? (offset + 8..<offset + 8 + Int(length))
            case fourCC("fcTL") where animationDelays.count < limits.maximumFrameCount:
                readFrameControl(ByteReader(chunk))
            case fourCC("acTL") where !hasPixels: readAnimationControl(ByteReader(chunk))
            case fourCC("tRNS") where !hasPixels: hasTransparencyChunk = true
            default:
                if !hasPixels { color.read(type, ByteReader(chunk)) }
            }
            offset += 12 + Int(length)
        }
    }

    private mutating func readAnimationControl(_ chunk: ByteReader) {
        guard animationFrameCount == 0, let frames = chunk.bigEndian32(0), let plays = chunk.bigEndian32(4) else {
            return
        }
        animationFrameCount = Int(frames)
        animationPlayCount = Int(plays)
    }

    private mutating func readFrameControl(_ chunk: ByteReader) {
        guard animationDelays.count < animationFrameCount, let numerator = chunk.bigEndian16(20),
            let denominator = chunk.bigEndian16(22)
        else { return }
        animationDelays.append(
            FrameDuration.corrected(Double(numerator) / Double(denominator == 0 ? 100 : denominator))
        )
    }
}
