import CPixels
import FoundationEssentials

/// The colours of opaque pixels, and their palette indices.
final class GIFPalette {
    fileprivate let pointer: OpaquePointer

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init() throws(WebImageError) {
        guard let pointer = cpixels_palette_create() else { throw WebImageError(.outOfMemory, "no memory for colours") }
        self.pointer = pointer
    }

    deinit { cpixels_palette_destroy(pointer) }

    var count: Int { cpixels_palette_count(pointer) }

    /// Red, green and blue of each colour.
    var colors: [UInt8] {
        Array(UnsafeBufferPointer(start: cpixels_palette_colors(pointer), count: count * 3))
    }

    /// Copies the colours of another palette.
    func copy(_ other: GIFPalette) { cpixels_palette_copy(other.pointer, pointer) }

    /// Replaces the palette by all colours of the pixels; returns false when they are more than `limit`.
    func collect(_ pixels: Bitmap, limit: Int) -> Bool {
        cpixels_palette_clear(pointer)
        return (0..<pixels.height).allSatisfy {
            cpixels_palette_add(pointer, pixels.bytes(row: $0), pixels.width, limit)
        }
    }

    /// Writes the palette indices of all pixels, row by row, with `clear` for transparent ones; returns false when a colour is missing.
    func map(_ pixels: Bitmap, clear: UInt8, to numbers: UnsafeMutablePointer<UInt8>) -> Bool {
        (0..<pixels.height).allSatisfy { row in
            cpixels_palette_map(pointer, pixels.bytes(row: row), pixels.width, clear, numbers + row * pixels.width)
        }
    }
}

/// Chooses palettes for pixels with too many colours.
final class GIFQuantizer {
    private let quantizer: OpaquePointer

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init() throws(WebImageError) {
        guard let quantizer = cpixels_quantizer_create() else {
            throw WebImageError(.outOfMemory, "no memory to choose colours")
        }
        self.quantizer = quantizer
    }

    deinit { cpixels_quantizer_destroy(quantizer) }

    /// Chooses a palette of at most `limit` colours, and writes the index of each pixel's colour; transparent pixels get the index after the last
    /// colour.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func reduce(
        _ pixels: Bitmap,
        limit: Int,
        to palette: GIFPalette,
        numbers: UnsafeMutablePointer<UInt8>
    ) throws(WebImageError) {
        cpixels_quantizer_clear(quantizer)
        for row in 0..<pixels.height { cpixels_quantizer_add(quantizer, pixels.bytes(row: row), pixels.width) }
        cpixels_quantizer_make(quantizer, limit, palette.pointer)
        let clear = UInt8(truncatingIfNeeded: palette.count)
        let length = 3 * (pixels.width + 2)
        let errors = try ScratchBuffer(byteCount: length * 4)
        errors.clear()
        for row in 0..<pixels.height {
            let isOdd = row & 1 == 1
            cpixels_quantizer_map_row(
                quantizer,
                pixels.bytes(row: row),
                pixels.width,
                isOdd,
                clear,
                errors.shorts + (isOdd ? length : 0),
                errors.shorts + (isOdd ? 0 : length),
                numbers + row * pixels.width
            )
        }
    }
}

extension Bitmap {
    fileprivate func bytes(row: Int) -> UnsafePointer<UInt8> {
        UnsafePointer(mutableRow(row).assumingMemoryBound(to: UInt8.self))
    }
}
