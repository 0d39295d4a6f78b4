import CTIFFShims
import WebImageCodecs

/// What is read at a time, and how much that is for the whole picture.
struct TIFFBlock {
    /// Bytes of a row, or of the tiles next to each other, of one plane.
    let planeBytes: Int
    /// The same of all planes that are looked at.
    let byteCount: Int

    /// How many bytes may be decoded for each pixel that the limits allow: as many as RGBA of 32 bits has. A file of a few
    /// bytes can have thousands of samples of which one is looked at, and all of them must be decoded.
    private static let mostBytesPerPixel = 16

    /// - Throws: ``WebImageError/Code/badImageData`` for rows that are too short for what is to be read from them,
    ///   ``WebImageError/Code/limitExceeded``.
    init(_ info: webimage_tiff_info, _ pixels: TIFFPixels, _ limits: ImageLimits) throws(WebImageError) {
        guard !info.tiled || info.tile_width > 0 && info.tile_height > 0 else {
            throw WebImageError(.badImageData, "TIFF: tiles without size")
        }
        let unit = info.tiled ? info.tile_bytes : info.row_bytes
        let needed = Self.leastBytes(info, pixels)
        guard unit >= needed, unit > 0, needed > 0 else {
            throw WebImageError(.badImageData, "TIFF: rows of \(unit) bytes for \(needed)")
        }
        let (width, height) = (Int(info.width), Int(info.height))
        let across = info.tiled ? (width + Int(info.tile_width) - 1) / Int(info.tile_width) : 1
        let down = info.tiled ? (height + Int(info.tile_height) - 1) / Int(info.tile_height) : height
        let planes = info.separate_planes ? pixels.channels.count : 1
        planeBytes = Self.product(Int(clamping: unit), across)
        byteCount = Self.product(planeBytes, planes)
        try limits.check(decodedByteCount: byteCount)
        try Self.check(Self.product(byteCount, down), limits)
    }

    /// Holds what is decoded for a whole picture, most of which may be looked at by nobody, against the limit of pixels.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    static func check(_ byteCount: Int, _ limits: ImageLimits) throws(WebImageError) {
        let most = product(limits.maximumPixelCount, mostBytesPerPixel)
        guard byteCount <= most else {
            throw .limitExceeded("TIFF bytes to decode", allowed: most, required: byteCount)
        }
    }

    /// What a row or a tile must hold for what is read from it; the greatest number for more than that.
    private static func leastBytes(_ info: webimage_tiff_info, _ pixels: TIFFPixels) -> UInt64 {
        // 16 bits each, and 32: no overflow.
        let perPixel = UInt64(pixels.bits) * UInt64(info.separate_planes ? 1 : pixels.samples)
        let width = UInt64(info.tiled ? info.tile_width : info.width)
        let row = (perPixel * width + 7) / 8
        guard info.tiled else { return row }
        let (bytes, overflow) = row.multipliedReportingOverflow(by: UInt64(info.tile_height))
        return overflow ? .max : bytes
    }

    /// At most the greatest number.
    static func product(_ left: Int, _ right: Int) -> Int {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : product
    }
}
