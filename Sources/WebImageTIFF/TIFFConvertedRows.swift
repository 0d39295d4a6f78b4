import CTIFFShims
import FoundationEssentials
import WebImageCodecs

/// Reads the rows of an image that libtiff converts to RGB: YCbCr without JPEG compression, LogLuv, old-style JPEG. It converts a strip or
/// a row of tiles at a time, with as much memory again; both must fit into ``ImageLimits/maximumDecodedByteCount``.
final class TIFFConvertedRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout = ScanlineLayout.rgb8
    let colorProfile: Data?

    private let file: TIFFFile
    private let limits: ImageLimits
    /// The width and height of the converted block.
    private let blockWidth: Int
    private let blockHeight: Int
    private let raster: ScratchBuffer
    private var band = -1
    private var nextRow = 0

    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ file: TIFFFile, limits: ImageLimits) throws(WebImageError) {
        self.file = file
        self.limits = limits
        width = file.width
        height = file.height
        let info = file.info
        // YCbCr is converted to the RGB of the profile; the others become sRGB.
        colorProfile = info.photometric == 6 ? file.colorProfile(limits) : nil
        blockWidth = info.tiled ? Int(info.tile_width) : width
        blockHeight = info.tiled ? Int(info.tile_height) : min(Int(info.rows_per_strip), height)
        guard blockWidth > 0, blockHeight > 0 else { throw WebImageError(.badImageData, "TIFF: invalid tile size") }
        let across = (width + blockWidth - 1) / blockWidth
        let bytes = TIFFBlock.product(TIFFBlock.product(across * blockWidth, blockHeight), 4)
        // libtiff needs about as much memory again.
        try limits.check(decodedByteCount: TIFFBlock.product(bytes, 2))
        let unit = Int(clamping: info.tiled ? info.tile_bytes : info.row_bytes)
        let units = info.tiled ? TIFFBlock.product(across, (height + blockHeight - 1) / blockHeight) : height
        try TIFFBlock.check(TIFFBlock.product(unit, units), limits)
        guard webimage_tiff_can_convert(file.reader) else {
            let reason = String(cString: webimage_tiff_error(file.reader))
            throw WebImageError(.badImageData, "TIFF: \(reason)")
        }
        raster = try ScratchBuffer(byteCount: bytes)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for index in 0..<count {
            if nextRow / blockHeight != band { try readBand(nextRow / blockHeight) }
            copyRow(to: (base + index * bytesPerRow).assumingMemoryBound(to: UInt8.self))
            nextRow += 1
        }
    }

    private func readBand(_ number: Int) throws(WebImageError) {
        for (block, x) in stride(from: 0, to: width, by: blockWidth).enumerated() {
            let pixels = (raster.base + block * blockWidth * blockHeight * 4).assumingMemoryBound(to: UInt32.self)
            guard webimage_tiff_convert(file.reader, pixels, UInt32(x), UInt32(number * blockHeight)) else {
                throw TIFFFile.error(of: file.reader, limits)
            }
        }
        band = number
    }

    /// Copies a row. Strips and tiles are stored with the bottom row first; the last strip only has the remaining rows.
    private func copyRow(to output: UnsafeMutablePointer<UInt8>) {
        let rows = file.info.tiled ? blockHeight : min(blockHeight, height - band * blockHeight)
        let row = rows - 1 - (nextRow - band * blockHeight)
        for x in 0..<width {
            let block = x / blockWidth
            let pixel = raster.bytes + 4 * ((block * blockHeight + row) * blockWidth + x % blockWidth)
            for channel in 0..<3 { output[3 * x + channel] = pixel[channel] }
        }
    }
}
