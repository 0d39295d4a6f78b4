import CPNGShims

/// The contents of a PNG file's chunks except pixels.
///
/// Found by reading chunk by chunk, without checksums and without copying; the pixels' decoder verifies the chunks that it uses.
package struct PNGHeader: Sendable {
    var width = 0
    var height = 0
    var bitDepth = 0
    var colorType = 0
    var isInterlaced = false
    var hasTransparencyChunk = false
    var color = PNGColor()
    /// The location of the EXIF block in the file.
    var exif: Range<Int>?
    /// The orientation in an XMP packet.
    var xmpOrientation: ImageOrientation?
    /// The frames of an animation.
    var animation: PNGAnimation

    /// The offset of the next chunk.
    private var offset = 33
    private var hasPixels = false
    private var hasEnded = false

    var hasAlpha: Bool { colorType & 4 != 0 || hasTransparencyChunk }
    var isGray: Bool { colorType & 2 == 0 }
    /// The first frame of the animation, if it differs from the default image.
    var poster: PNGFrame? { animation.frames.first.flatMap { $0.isDefaultImage ? nil : $0 } }

    /// Reads the chunks of a whole file.
    ///
    /// - Throws: as ``init(beginning:limits:)``.
    init(_ bytes: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        try self.init(beginning: bytes, limits: limits)
        read(bytes, isWhole: true)
    }

    /// Reads the first chunk, which is followed by calls of ``read(_:isWhole:)``.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` when the file has no PNG signature, ``WebImageError/Code/limitExceeded`` for a size
    ///   above the limits.
    init(beginning bytes: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        animation = PNGAnimation(frameLimit: limits.maximumFrameCount)
        guard ImageFormat(detecting: bytes) == .png else { throw WebImageError(.badImageData, "not a PNG file") }
        let reader = ByteReader(bytes)
        guard let length = reader.bigEndian32(8), let type = reader.bigEndian32(12), length == 13,
            type == fourCC("IHDR"), let header = reader.slice(16, 13)
        else { throw WebImageError(.badImageData, "the PNG file has no header") }
        try readHeader(ByteReader(header))
        try limits.check(width: width, height: height)
    }

    /// Continues with the complete chunks that have been received.
    ///
    /// - Parameters:
    ///   - bytes: all bytes so far, from the start.
    ///   - isWhole: the bytes are complete.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        guard !hasEnded else { return }
        let reader = ByteReader(bytes)
        readChunks(reader)
        guard isWhole, !hasEnded else { return }
        hasEnded = true
        // The file ends within a chunk. That matters only if the chunk has pixels.
        let rest = reader.bigEndian32(offset + 4)
        let isPixels = rest == nil || rest == fourCC("IDAT") || rest == fourCC("fdAT")
        animation.finish(isTruncated: offset < reader.count && isPixels)
    }

    /// Returns whether the image's pixels begin within these bytes: at least the head of their first chunk is there.
    func hasReachedPixels(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasPixels || !hasEnded && ByteReader(bytes).bigEndian32(offset + 4) == fourCC("IDAT")
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

    private mutating func readChunks(_ reader: ByteReader) {
        while let length = reader.bigEndian32(offset), let type = reader.bigEndian32(offset + 4),
            let chunk = reader.slice(offset + 8, Int(length)),
            let checksum = reader.bigEndian32(offset + 8 + Int(length))
        {
            let place = offset..<offset + 12 + Int(length)
            switch type {
            case fourCC("IEND"):
                hasEnded = true
                return animation.finish(isTruncated: false)
            case fourCC("eXIf"): exif = exif ?? (offset + 8..<offset + 8 + Int(length))
            case fourCC("iTXt") where xmpOrientation == nil:
                // A compressed packet, which XMP does not allow, does not match this text.
                let keyword: StaticString = "XML:com.adobe.xmp\0"
                if chunk.starts(
                    with: UnsafeRawBufferPointer(start: keyword.utf8Start, count: keyword.utf8CodeUnitCount)
                ) {
                    xmpOrientation = XMPOrientation.read(packet: chunk)
                }
            case fourCC("fcTL"), fourCC("acTL"):
                // Other chunks are verified when they are used.
                let checked = reader.slice(offset + 4, Int(length) + 4)
                guard webimage_png_checksum(checked?.baseAddress, Int(length) + 4) == checksum else {
                    animation.finish(isTruncated: false)
                    break
                }
                animation.read(type, ByteReader(chunk), at: place, on: (width, height))
            case fourCC("IDAT"), fourCC("fdAT"):
                hasPixels = hasPixels || type == fourCC("IDAT")
                animation.read(type, ByteReader(chunk), at: place, on: (width, height))
            case fourCC("tRNS") where !hasPixels: hasTransparencyChunk = true
            default:
                if !hasPixels { color.read(type, ByteReader(chunk)) }
            }
            offset = place.upperBound
        }
    }
}
