import FoundationEssentials
import Glibc
import WebImageCodecs

extension RowBuffer {
    /// The number of rows from the top in which no part is missing.
    ///
    /// In an image stored as squares, libjxl renders missing ones in one colour: that of the last square, which is decoded last. It does not report
    /// which ones are missing. A square that really has that colour counts as missing, which only delays its rows.
    var arrivedRowCount: Int {
        let side = Self.smallestSquare
        let missing = [UInt8](UnsafeBufferPointer(start: pixel(width - 1, height - 1), count: layout.bytesPerPixel))
        for top in stride(from: 0, to: height, by: side) {
            for left in stride(from: 0, to: width, by: side)
            where isOfColor(missing, left..<min(left + side, width), top..<min(top + side, height)) {
                return top
            }
        }
        return height
    }

    /// The smallest side of a square in pixels; the standard also has two, four and eight times as many.
    private static var smallestSquare: Int { 128 }

    private func pixel(_ column: Int, _ row: Int) -> UnsafeMutablePointer<UInt8> {
        address(of: row) + column * layout.bytesPerPixel
    }

    private func isOfColor(_ color: [UInt8], _ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
        rows.allSatisfy { row in
            let first = pixel(columns.lowerBound, row)
            // All pixels are equal if each equals the one before it.
            return memcmp(first, color, color.count) == 0
                && memcmp(first, first + color.count, (columns.count - 1) * color.count) == 0
        }
    }
}

/// Rows with unpremultiplied alpha, as previews need them; the decoder still needs the premultiplied ones.
final class StraightRows: ReceivedRows {
    private let buffer: RowBuffer
    private let pixels: JPEGXLPixels
    private let line: ScratchBuffer

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ buffer: RowBuffer, _ pixels: JPEGXLPixels) throws(WebImageError) {
        self.buffer = buffer
        self.pixels = pixels
        line = try ScratchBuffer(byteCount: pixels.bytesPerRow)
    }

    var width: Int { buffer.width }
    var height: Int { buffer.height }
    var extent: (width: Double, height: Double) { buffer.extent }
    var layout: ScanlineLayout { buffer.layout }
    var colorProfile: Data? { buffer.colorProfile }

    func row(_ row: Int) -> UnsafePointer<UInt8>? {
        guard let source = buffer.row(row) else { return nil }
        line.base.copyMemory(from: source, byteCount: pixels.bytesPerRow)
        pixels.straighten(line.base)
        return UnsafePointer(line.bytes)
    }
}
