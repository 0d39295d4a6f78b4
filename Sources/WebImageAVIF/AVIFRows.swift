import CAVIF
import CPixels
import FoundationEssentials
import WebImageCodecs

/// Reads the rows of a decoded image: its planes are converted to RGB one band of rows at a time.
final class AVIFRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let file: AVIFFile
    private var nextRow = 0
    /// The converted rows that were not returned yet.
    private var band: ScratchBuffer?
    private var bandRows = 0..<0
    /// The place of the band in the stored image, including margins.
    private var bandArea = avifCropRect()

    /// The number of rows that are converted at a time; even because of chroma.
    private static let mostBandRows = 64
    /// The pixels around a band whose chroma contributes to it.
    private static let margin = 2

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ file: AVIFFile, options: ImageDecodeOptions) throws(WebImageError) {
        self.file = file
        width = Int(file.crop.width)
        height = Int(file.crop.height)
        let properties = file.properties
        let needsHighBitDepth =
            file.color.needsHighBitDepthRows(bitsPerComponent: properties.bitsPerComponent) && file.colorProfile == nil
        if needsHighBitDepth || options.keepsHighBitDepth && properties.isHighBitDepth {
            layout = .rgbaFloat
        } else {
            layout = properties.hasAlpha ? .rgba8 : .rgb8
        }
        color = file.color
        colorProfile = file.colorProfile ?? (layout == .rgbaFloat ? nil : file.color.makeProfile())
    }

    private init(_ other: AVIFRows, from row: Int) {
        (file, width, height, layout) = (other.file, other.width, other.height, other.layout)
        (colorProfile, color, nextRow) = (other.colorProfile, other.color, row)
    }

    /// True, as converting only reads the planes.
    var isRandomAccess: Bool { true }
    func source(from row: Int) -> any ScanlineSource { AVIFRows(self, from: row) }

    /// The number of bytes of a pixel as converted by libavif.
    private var bytesPerPixel: Int { layout == .rgbaFloat ? 8 : 4 }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        if layout == .rgba8, nextRow == 0, count == height, !isCropped {
            try convert(file.crop, into: base, bytesPerRow: bytesPerRow)
            for row in 0..<height {
                let bytes = (base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
                cpixels_bgra_to_rgba(bytes, bytes, width)
            }
            nextRow = height
            return
        }
        for row in 0..<count {
            if nextRow >= bandRows.upperBound { try fillBand() }
            guard let band else { return }
            let (x, y) = (Int(file.crop.x - bandArea.x), Int(file.crop.y) + nextRow - Int(bandArea.y))
            let pixels = band.base + (y * Int(bandArea.width) + x) * bytesPerPixel
            hand(pixels, to: base + row * bytesPerRow)
            nextRow += 1
        }
    }

    private var isCropped: Bool {
        file.crop.width != file.image.pointee.width || file.crop.height != file.image.pointee.height
    }

    private func hand(_ pixels: UnsafeMutableRawPointer, to row: UnsafeMutableRawPointer) {
        switch layout {
        case .rgb8:
            let bytes = pixels.assumingMemoryBound(to: UInt8.self)
            cpixels_bgra_to_rgb(bytes, row.assumingMemoryBound(to: UInt8.self), width)
        case .rgbaFloat:
            let shorts = pixels.assumingMemoryBound(to: UInt16.self)
            cpixels_shorts_to_floats(shorts, row.assumingMemoryBound(to: Float.self), width * 4, 65_535)
        default:
            let bytes = pixels.assumingMemoryBound(to: UInt8.self)
            cpixels_bgra_to_rgba(bytes, row.assumingMemoryBound(to: UInt8.self), width)
        }
    }

    private func fillBand() throws(WebImageError) {
        // From the same row on, whichever row is read first.
        let start = nextRow / Self.mostBandRows * Self.mostBandRows
        let rows = start..<min(start + Self.mostBandRows, height)
        let area = area(of: rows)
        // The first band has the fewest rows around it: the others also have some above.
        let most = Int(area.width) * (Self.mostBandRows + 2 * Self.margin) * bytesPerPixel
        let buffer: ScratchBuffer
        if let band {
            buffer = band
        } else {
            buffer = try ScratchBuffer(byteCount: most)
        }
        try convert(area, into: buffer.base, bytesPerRow: Int(area.width) * bytesPerPixel)
        (band, bandRows, bandArea) = (buffer, rows, area)
    }

    /// Returns the area of rows of the crop with their margins. It begins at a chroma sample, since crops do.
    private func area(of rows: Range<Int>) -> avifCropRect {
        let (crop, image) = (file.crop, file.image.pointee)
        let left = max(Int(crop.x) - Self.margin, 0)
        let top = max(Int(crop.y) + rows.lowerBound - Self.margin, 0)
        let right = min(Int(crop.x) + width + Self.margin, Int(image.width))
        let bottom = min(Int(crop.y) + rows.upperBound + Self.margin, Int(image.height))
        return avifCropRect(
            x: UInt32(left),
            y: UInt32(top),
            width: UInt32(right - left),
            height: UInt32(bottom - top)
        )
    }

    private func convert(
        _ area: avifCropRect,
        into base: UnsafeMutableRawPointer,
        bytesPerRow: Int
    ) throws(WebImageError) {
        guard let view = avifImageCreateEmpty() else { throw WebImageError(.outOfMemory, "no memory to decode AVIF") }
        defer { avifImageDestroy(view) }
        var rectangle = area
        var result = avifImageSetViewRect(view, file.image, &rectangle)
        if result == AVIF_RESULT_OK {
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, view)
            rgb.depth = layout == .rgbaFloat ? 16 : 8
            // The order for which libavif has vector code.
            rgb.format = layout == .rgbaFloat ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_BGRA
            // Its vector code truncates instead of rounding.
            rgb.avoidLibYUV = file.properties.bitsPerComponent > 8 ? 1 : 0
            rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BEST_QUALITY
            // Without alpha, the alpha of floats is filled in.
            rgb.ignoreAlpha = layout == .rgb8 ? 1 : 0
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
