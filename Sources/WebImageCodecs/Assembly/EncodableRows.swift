import CPixels

/// An image prepared for an encoder: upright, within the requested size, with rows of straight alpha.
package struct EncodableRows {
    package let bitmap: Bitmap

    package var width: Int { bitmap.width }
    package var height: Int { bitmap.height }
    package var hasAlpha: Bool { bitmap.pixelFormat.hasAlpha }

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package init(_ image: Image, options: ImageEncodeOptions) throws(WebImageError) {
        bitmap = try image.bitmap.prepared(for: options, orientation: image.orientation).with8Bits(of: image.metadata)
    }

    /// Creates rows from pixels that are upright and of their final size.
    package init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// Passes all rows to `body` in blocks, from the top: RGB of an opaque image, RGBA with straight alpha otherwise.
    ///
    /// - Throws: the errors of `body`, or ``WebImageError/Code/outOfMemory``.
    package func forEachBlock(
        _ body: (_ base: UnsafeRawPointer, _ bytesPerRow: Int, _ count: Int) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        guard hasAlpha else { return try body(bitmap.mutableRow(0), bitmap.bytesPerRow, height) }
        let rows = min(16, height)
        let scratch = try ScratchBuffer(byteCount: width * 4 * rows)
        for first in stride(from: 0, to: height, by: rows) {
            let count = min(rows, height - first)
            for row in 0..<count {
                let pixels = bitmap.mutableRow(first + row).assumingMemoryBound(to: UInt8.self)
                cpixels_unpremultiply_bgra_to_rgba(pixels, scratch.bytes + row * width * 4, width)
            }
            try body(scratch.base, width * 4, count)
        }
    }

    /// Writes one row as BGRA with straight alpha.
    package func writeBGRA(row: Int, to target: UnsafeMutablePointer<UInt8>) {
        let pixels = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
        if hasAlpha {
            cpixels_unpremultiply_bgra_to_bgra(pixels, target, width)
        } else {
            cpixels_rgb_to_bgra(pixels, target, width)
        }
    }
}
