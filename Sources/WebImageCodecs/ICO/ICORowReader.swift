import FoundationEssentials

/// Reads the rows of a bitmap in an icon, with its alpha or its mask.
final class ICORowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    var colorProfile: Data? { nil }

    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    private let colors: BMPPixelReader
    /// The offset of the mask of one bit per pixel; nil when the mask is not used.
    private let maskOffset: Int?
    private let maskStride: Int
    private var nextRow = 0

    /// - Parameter bytes: the bytes of one image; must stay valid as long as the reader lives.
    /// - Throws: ``WebImageError/Code/badImageData``, also when pixels or mask are missing; ``WebImageError/Code/limitExceeded``.
    init(_ bytes: UnsafeRawBufferPointer, limits: ImageLimits) throws(WebImageError) {
        let header = try BMPHeader(bytes, isIconEntry: true)
        try limits.check(width: header.width, height: header.height)
        self.bytes = bytes
        self.header = header
        width = header.width
        height = header.height
        maskStride = (header.width + 31) / 32 * 4
        guard let pixels = ByteReader(bytes).slice(header.pixelOffset, header.bytesPerRow * header.height) else {
            throw WebImageError(.badImageData, "the icon is damaged: its pixel data is truncated")
        }
        let hasAlpha = header.bitsPerPixel == 32 && Self.hasAlpha(pixels, header)
        colors = BMPPixelReader(bytes, header: header, usesFourthByte: hasAlpha && !header.hasAlphaMask)
        let offset = header.pixelOffset + pixels.count
        // The mask of an image with alpha only repeats the alpha at lower precision.
        let masks =
            if hasAlpha || header.hasAlphaMask { false } else {
                try Self.masks(bytes, offset, maskStride * header.height)
            }
        maskOffset = masks ? offset : nil
        layout = masks ? .rgba8 : colors.layout
    }

    /// Returns whether any pixel's fourth byte is not 0: programs without alpha support leave it 0.
    private static func hasAlpha(_ pixels: UnsafeRawBufferPointer, _ header: BMPHeader) -> Bool {
        for offset in stride(from: 3, to: pixels.count, by: 4) where pixels[offset] != 0 { return true }
        return false
    }

    /// Returns whether the mask hides any pixel.
    private static func masks(
        _ bytes: UnsafeRawBufferPointer,
        _ offset: Int,
        _ length: Int
    ) throws(WebImageError) -> Bool {
        guard let mask = ByteReader(bytes).slice(offset, length) else {
            throw WebImageError(.badImageData, "the icon is damaged: its mask is truncated")
        }
        return mask.contains { $0 != 0 }
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        try colors.readRows(count, into: base, bytesPerRow: bytesPerRow)
        guard let maskOffset else {
            nextRow += count
            return
        }
        for index in 0..<count {
            let output = (base + index * bytesPerRow).assumingMemoryBound(to: UInt8.self)
            let stored = header.isTopDown ? nextRow : height - 1 - nextRow
            let mask = maskOffset + stored * maskStride
            for x in stride(from: width - 1, through: 0, by: -1) {
                let pixel = (output[3 * x], output[3 * x + 1], output[3 * x + 2])
                let isHidden = bytes[mask + x / 8] >> (7 - UInt8(x % 8)) & 1 == 1
                (output[4 * x], output[4 * x + 1], output[4 * x + 2]) = pixel
                output[4 * x + 3] = isHidden ? 0 : 255
            }
            nextRow += 1
        }
    }
}
