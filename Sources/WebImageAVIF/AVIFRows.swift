import CAVIF
import CPixels
import CYUV
import FoundationEssentials
import WebImage

/// The rows of a decoded picture: its planes are made RGB a band at a time.
final class AVIFRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let file: AVIFFile
    private var nextRow = 0
    /// Rows that were made RGB and not handed out yet.
    private var band: ScratchBuffer?
    private var bandStart = 0
    private var bandCount = 0
    private var bandFirstRow = 0

    /// Rows that are made RGB at a time; even, as chroma wants it.
    private static let bandRows = 64
    /// Rows above and below whose chroma goes into that of a band.
    private static let margin = 2

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ file: AVIFFile, options: ImageDecodeOptions) throws(WebImageError) {
        self.file = file
        width = Int(file.crop.width)
        height = Int(file.crop.height)
        let properties = file.properties
        if properties.isHighDynamicRange || options.keepsWidePixels && properties.isWide {
            layout = .rgbaFloat
        } else {
            layout = properties.hasAlpha ? .rgba8 : .rgb8
        }
        color = file.color
        colorProfile = file.colorProfile ?? (layout == .rgbaFloat ? nil : file.color.makeProfile())
    }

    /// Bytes of a pixel as libavif makes it.
    private var bytesPerPixel: Int { layout == .rgbaFloat ? 8 : 4 }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows were asked for than the picture has")
        }
        if layout == .rgba8, nextRow == 0, count == height {
            try convert(0..<height, into: base, bytesPerRow: bytesPerRow)
            nextRow = height
            return
        }
        for row in 0..<count {
            if nextRow >= bandStart + bandCount { try fillBand() }
            guard let band else { return }
            let pixels = band.base + (nextRow - bandFirstRow) * width * bytesPerPixel
            hand(pixels, to: base + row * bytesPerRow)
            nextRow += 1
        }
    }

    private func hand(_ pixels: UnsafeMutableRawPointer, to row: UnsafeMutableRawPointer) {
        switch layout {
        case .rgb8:
            let bytes = pixels.assumingMemoryBound(to: UInt8.self)
            // What libyuv calls ARGB is BGRA in memory, and RAW is RGB.
            ARGBToRAW(bytes, 0, row.assumingMemoryBound(to: UInt8.self), 0, Int32(width), 1)
        case .rgbaFloat:
            let shorts = pixels.assumingMemoryBound(to: UInt16.self)
            cpixels_shorts_to_floats(shorts, row.assumingMemoryBound(to: Float.self), width * 4, 65_535)
        default: row.copyMemory(from: pixels, byteCount: width * 4)
        }
    }

    private func fillBand() throws(WebImageError) {
        let rows = nextRow..<min(nextRow + Self.bandRows, height)
        let around = max(rows.lowerBound - Self.margin, 0)..<min(rows.upperBound + Self.margin, height)
        let buffer: ScratchBuffer
        if let band {
            buffer = band
        } else {
            let most = min(Self.bandRows + 2 * Self.margin, height)
            buffer = try ScratchBuffer(byteCount: most * width * bytesPerPixel)
        }
        try convert(around, into: buffer.base, bytesPerRow: width * bytesPerPixel)
        band = buffer
        (bandStart, bandCount, bandFirstRow) = (rows.lowerBound, rows.count, around.lowerBound)
    }

    private func convert(
        _ rows: Range<Int>,
        into base: UnsafeMutableRawPointer,
        bytesPerRow: Int
    ) throws(WebImageError) {
        guard let view = avifImageCreateEmpty() else { throw WebImageError(.outOfMemory, "no memory to decode AVIF") }
        defer { avifImageDestroy(view) }
        var rectangle = file.crop
        rectangle.y += UInt32(rows.lowerBound)
        rectangle.height = UInt32(rows.count)
        var result = avifImageSetViewRect(view, file.image, &rectangle)
        if result == AVIF_RESULT_OK {
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, view)
            rgb.depth = layout == .rgbaFloat ? 16 : 8
            rgb.format = layout == .rgb8 ? AVIF_RGB_FORMAT_BGRA : AVIF_RGB_FORMAT_RGBA
            rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BEST_QUALITY
            rgb.ignoreAlpha = file.properties.hasAlpha ? 0 : 1
            rgb.alphaPremultiplied = 0
            rgb.pixels = base.assumingMemoryBound(to: UInt8.self)
            rgb.rowBytes = UInt32(bytesPerRow)
            result = avifImageYUVToRGB(view, &rgb)
        }
        guard result == AVIF_RESULT_OK else {
            throw WebImageError(.badImageData, "AVIF: \(String(cString: avifResultToString(result)))")
        }
    }
}
