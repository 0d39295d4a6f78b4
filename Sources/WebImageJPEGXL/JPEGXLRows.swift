import FoundationEssentials
import WebImageCodecs

/// Reads the rows of the decoder's next frame: decoded directly into the caller's memory if it reads all rows at once, otherwise into a buffer.
final class JPEGXLRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let decoder: JPEGXLDecoder
    private let pixels: JPEGXLPixels
    private let limits: ImageLimits
    private var whole: PixelStorage?
    private var nextRow = 0

    init(_ decoder: JPEGXLDecoder, pixels: JPEGXLPixels, limits: ImageLimits) {
        self.decoder = decoder
        self.pixels = pixels
        self.limits = limits
        width = pixels.width
        height = pixels.height
        layout = pixels.layout
        color = pixels.color
        colorProfile = decoder.colorProfile ?? (layout == .rgbaFloat ? nil : pixels.color?.makeProfile())
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        let isAligned = bytesPerRow == pixels.bytesPerRow || bytesPerRow == (pixels.bytesPerRow + 3) & ~3
        if whole == nil, count == height, isAligned {
            try decoder.decode(into: base, bytesPerRow: bytesPerRow, limits: limits)
        } else {
            let whole = try wholeImage()
            for row in 0..<count {
                let source = whole.base + (nextRow + row) * pixels.bytesPerRow
                (base + row * bytesPerRow).copyMemory(from: source, byteCount: pixels.bytesPerRow)
            }
        }
        nextRow += count
    }

    private func wholeImage() throws(WebImageError) -> PixelStorage {
        if let whole { return whole }
        let byteCount = pixels.bytesPerRow * height
        try limits.check(decodedByteCount: byteCount)
        let storage = try PixelStorage.allocate(byteCount: byteCount)
        try decoder.decode(into: storage.base, bytesPerRow: pixels.bytesPerRow, limits: limits)
        whole = storage
        return storage
    }
}
