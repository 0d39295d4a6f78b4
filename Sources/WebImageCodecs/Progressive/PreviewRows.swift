import CPixels
import FoundationEssentials
import Glibc

/// The rows of a preview: smaller by an integer factor, in sRGB, transparent where rows are missing.
///
/// Designed to be cheap beside the decoder: each pixel is made from at most four pixels of its cell, and colours are converted after that.
final class PreviewRows: ScanlineSource {
    let width: Int
    let height: Int
    let extent: (width: Double, height: Double)
    var layout: ScanlineLayout { .bgra8Premultiplied }
    var colorProfile: Data? { nil }
    /// A Boolean value that indicates whether no row was available so far.
    private(set) var isEmpty = true

    private let rows: any ReceivedRows
    private let factor: Int
    private let transform: ColorTransform?
    private let reduced: ScratchBuffer
    private let packed: ScratchBuffer
    private var nextRow = 0

    /// - Parameters:
    ///   - factor: the number of pixels along each side that become one, at least 1.
    ///   - limit: the maximum number of bytes of a profile that is used.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ rows: any ReceivedRows, factor: Int, profileLimit limit: Int) throws(WebImageError) {
        self.rows = rows
        self.factor = factor
        width = (rows.width + factor - 1) / factor
        height = (rows.height + factor - 1) / factor
        extent = (rows.extent.width / Double(factor), rows.extent.height / Double(factor))
        transform = ColorTransform.shared(profile: rows.colorProfile, layout: rows.layout, limit: limit)
        reduced = try ScratchBuffer(byteCount: width * 4)
        packed = try ScratchBuffer(byteCount: width * 4)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        for row in 0..<count {
            let target = (base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
            if let pixels = try pixels(ofRow: nextRow + row) {
                convert(pixels, to: target)
                isEmpty = false
            } else {
                memset(target, 0, width * 4)
            }
        }
        nextRow += count
    }

    /// Returns a row in the decoder's layout; nil when not all of its source rows are available.
    private func pixels(ofRow row: Int) throws(WebImageError) -> UnsafePointer<UInt8>? {
        guard factor > 1 else { return try rows.row(row) }
        // Loading rows into the CPU cache dominates the cost: one of many must do.
        let offsets = factor < 4 && rows.layout != .rgba8 ? [factor / 4, 3 * factor / 4] : [factor / 2]
        let lines = offsets.map { min(row * factor + $0, rows.height - 1) }
        if rows.layout == .rgba8 {
            guard let pixels = try rows.row(lines[0]) else { return nil }
            cpixels_pick_pixels(pixels, rows.width, factor, reduced.bytes)
            return UnsafePointer(reduced.bytes)
        }
        for (index, line) in lines.enumerated() {
            guard let pixels = try rows.row(line) else { return nil }
            cpixels_reduce_row(pixels, rows.width, rows.layout.bytesPerPixel, factor, reduced.bytes, index > 0)
        }
        return UnsafePointer(reduced.bytes)
    }

    private func convert(_ input: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>) {
        switch rows.layout {
        case .rgba8:
            memcpy(output, input, width * 4)
            transform?.convert(output, to: output, count: width)
            cpixels_premultiply_rgba_to_bgra(output, output, width)
        case .gray8 where transform == nil: cpixels_gray_to_bgra(input, output, width)
        case .rgb8 where transform == nil: cpixels_rgb_to_bgra(input, output, width)
        case .gray8, .rgb8, .cmyk8:
            if let transform {
                transform.convert(input, to: packed.bytes, count: width)
            } else {
                cpixels_cmyk_to_rgb(input, packed.bytes, width)
            }
            cpixels_rgb_to_bgra(packed.bytes, output, width)
        case .bgra8Premultiplied: memcpy(output, input, width * 4)
        // Incremental decoders do not use this layout.
        case .rgbaFloat: memset(output, 0, width * 4)
        }
    }
}
