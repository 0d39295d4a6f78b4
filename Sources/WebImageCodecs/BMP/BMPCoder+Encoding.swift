public import FoundationEssentials
import Glibc

extension BMPCoder {
    /// Returns whether the format is BMP.
    public func canEncode(to format: ImageFormat) -> Bool { format == .bmp }

    /// Encodes the image without compression: 24 bits per pixel, which every program reads, or 32 bits with an alpha mask for an image with alpha.
    ///
    /// Quality is ignored; the orientation is applied to the pixels. Programs that do not know alpha masks show transparent pixels as black.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` when the file is larger than ``ImageEncodeOptions/maxFileSize`` or than 4 GiB,
    ///   ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/unsupportedFormat`` for another format.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard format == .bmp else { throw WebImageError(.unsupportedFormat, "the BMP coder does not write \(format)") }
        let rows = try EncodableRows(image, options: options)
        return try options.withinFileSize(isLossless: true) { (_) throws(WebImageError) in
            try BMPWriter(rows).write()
        }
    }
}

/// Writes a BMP file: headers, and rows from the bottom up.
private struct BMPWriter {
    private let rows: EncodableRows
    private let bytesPerPixel: Int
    /// Rows are padded to four bytes.
    private let bytesPerRow: Int
    private let headerByteCount: Int
    private let byteCount: Int

    /// - Throws: ``WebImageError/Code/limitExceeded`` for a file whose length does not fit into 32 bits.
    init(_ rows: EncodableRows) throws(WebImageError) {
        self.rows = rows
        bytesPerPixel = rows.hasAlpha ? 4 : 3
        bytesPerRow = (rows.width * bytesPerPixel + 3) & ~3
        headerByteCount = rows.hasAlpha ? 108 : 40
        // The pixels are in memory, so their number does not overflow.
        byteCount = Self.fileHeaderByteCount + headerByteCount + bytesPerRow * rows.height
        let most = Int(UInt32.max)
        guard byteCount <= most else { throw .limitExceeded("bytes of BMP", allowed: most, required: byteCount) }
    }

    private static let fileHeaderByteCount = 14

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func write() throws(WebImageError) -> Data {
        guard let base = malloc(byteCount) else { throw WebImageError(.outOfMemory, "no memory to encode BMP") }
        let head = header
        memcpy(base, head, head.count)
        var row = base + byteCount
        for line in 0..<rows.height {
            row -= bytesPerRow
            write(line, to: row.assumingMemoryBound(to: UInt8.self))
        }
        return Data(bytesNoCopy: base, count: byteCount, deallocator: .free)
    }

    private func write(_ line: Int, to target: UnsafeMutablePointer<UInt8>) {
        guard !rows.hasAlpha else { return rows.writeBGRA(row: line, to: target) }
        let source = rows.bitmap.mutableRow(line).assumingMemoryBound(to: UInt8.self)
        for offset in stride(from: 0, to: rows.width * 3, by: 3) {
            target[offset] = source[offset + 2]
            target[offset + 1] = source[offset + 1]
            target[offset + 2] = source[offset]
        }
        for offset in rows.width * 3..<bytesPerRow { target[offset] = 0 }
    }

    /// The file header, and the information header: `BITMAPINFOHEADER`, or `BITMAPV4HEADER` with masks.
    private var header: [UInt8] {
        var bytes = Array("BM".utf8)
        func add(_ value: Int, _ count: Int = 4) {
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        add(byteCount)
        add(0)
        add(Self.fileHeaderByteCount + headerByteCount)
        add(headerByteCount)
        add(rows.width)
        add(rows.height)
        add(1, 2)
        add(8 * bytesPerPixel, 2)
        // No compression, or masks.
        add(rows.hasAlpha ? 3 : 0)
        add(bytesPerRow * rows.height)
        // 72 pixels per inch, no palette.
        for value in [2835, 2835, 0, 0] { add(value) }
        guard rows.hasAlpha else { return bytes }
        for mask in [0x00FF_0000, 0x0000_FF00, 0x0000_00FF, 0xFF00_0000] { add(mask) }
        // The colour space: sRGB, without further numbers.
        bytes += Array("BGRs".utf8)
        bytes += [UInt8](repeating: 0, count: 48)
        return bytes
    }
}
