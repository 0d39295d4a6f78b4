import FoundationEssentials

/// Converts the rows of a source with more than 8 bits to 8-bit sRGB.
final class NarrowedRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    var colorProfile: Data? { nil }
    var extent: (width: Double, height: Double) { source.extent }

    private let source: any ScanlineSource
    private let converter: HighBitDepthConverter
    private let floats: ScratchBuffer
    private let levels: ScratchBuffer?
    private static let rowsAtOnce = 8

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ source: any ScanlineSource, _ converter: HighBitDepthConverter, hasAlpha: Bool) throws(WebImageError) {
        self.source = source
        self.converter = converter
        width = source.width
        height = source.height
        layout = hasAlpha ? .rgba8 : .rgb8
        floats = try ScratchBuffer(byteCount: width * 16 * Self.rowsAtOnce)
        levels = hasAlpha ? nil : try ScratchBuffer(byteCount: width * 4)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        for first in stride(from: 0, to: count, by: Self.rowsAtOnce) {
            let rows = min(Self.rowsAtOnce, count - first)
            try source.readRows(rows, into: floats.base, bytesPerRow: width * 16)
            for row in 0..<rows {
                let target = (base + (first + row) * bytesPerRow).assumingMemoryBound(to: UInt8.self)
                let pixels = floats.floats + row * width * 4
                converter.narrow(pixels, to: levels?.bytes ?? target, count: width)
                guard let levels else { continue }
                for x in 0..<width {
                    target[3 * x] = levels.bytes[4 * x]
                    target[3 * x + 1] = levels.bytes[4 * x + 1]
                    target[3 * x + 2] = levels.bytes[4 * x + 2]
                }
            }
        }
    }
}
