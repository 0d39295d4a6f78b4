import CTIFFShims
import WebImageCodecs

/// The unit of reading, and the total size of the image's data.
struct TIFFBlock {
    /// The number of bytes of a row, or of the tiles next to each other, of one plane.
    let planeBytes: Int
    /// The number of bytes of all planes that are used.
    let byteCount: Int

    /// The maximum number of decoded bytes for each pixel that the limits allow: as many as RGBA of 32 bits. A file of a few bytes can have thousands
    /// of samples per pixel, which all must be decoded even if one is used.
    private static let mostBytesPerPixel = 16

    /// - Parameter width: the number of columns that are read.
    /// - Throws: ``WebImageError/Code/badImageData`` for rows that are too short for their samples, ``WebImageError/Code/limitExceeded``.
    init(
        _ info: webimage_tiff_info,
        _ pixels: TIFFPixels,
        _ limits: ImageLimits,
        width: Int
    ) throws(WebImageError) {
        guard !info.tiled || info.tile_width > 0 && info.tile_height > 0 else {
            throw WebImageError(.badImageData, "TIFF: invalid tile size")
        }
        let unit = info.tiled ? info.tile_bytes : info.row_bytes
        let needed = Self.leastBytes(info, pixels)
        guard unit >= needed, unit > 0, needed > 0 else {
            throw WebImageError(.badImageData, "TIFF: rows have \(unit) bytes, \(needed) are needed")
        }
        let height = Int(info.height)
        let across = info.tiled ? (width + Int(info.tile_width) - 1) / Int(info.tile_width) : 1
        let down = info.tiled ? (height + Int(info.tile_height) - 1) / Int(info.tile_height) : height
        let planes = info.separate_planes ? pixels.channels.count : 1
        planeBytes = Self.product(Int(clamping: unit), across)
        byteCount = Self.product(planeBytes, planes)
        try limits.check(decodedByteCount: byteCount)
        try Self.check(Self.product(byteCount, down), limits)
    }

    /// Checks the number of bytes that are decoded for a whole image, including unused samples, against the limit of pixels.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    static func check(_ byteCount: Int, _ limits: ImageLimits) throws(WebImageError) {
        let most = product(limits.maximumPixelCount, mostBytesPerPixel)
        guard byteCount <= most else {
            throw .limitExceeded("TIFF bytes to decode", allowed: most, required: byteCount)
        }
    }

    /// Returns the minimum number of bytes of a row or a tile for the samples that are read from it; the maximum integer on overflow.
    private static func leastBytes(_ info: webimage_tiff_info, _ pixels: TIFFPixels) -> UInt64 {
        // 16 bits each, and 32: no overflow.
        let perPixel = UInt64(pixels.bits) * UInt64(info.separate_planes ? 1 : pixels.samples)
        let width = UInt64(info.tiled ? info.tile_width : info.width)
        let row = (perPixel * width + 7) / 8
        guard info.tiled else { return row }
        let (bytes, overflow) = row.multipliedReportingOverflow(by: UInt64(info.tile_height))
        return overflow ? .max : bytes
    }

    /// Returns the product, clamped to the maximum integer.
    static func product(_ left: Int, _ right: Int) -> Int {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : product
    }
}
