import CPixels

extension Bitmap {
    /// A rectangle of the pixels, in the same memory. The rectangle must lie within the bitmap.
    package func part(x: Int, y: Int, width: Int, height: Int) -> Bitmap {
        Bitmap(
            width: width,
            height: height,
            bytesPerRow: bytesPerRow,
            pixelFormat: pixelFormat,
            storage: storage,
            byteOffset: byteOffset + y * bytesPerRow + x * pixelFormat.bytesPerPixel
        )
    }

    /// The pixels with an alpha component; the same bitmap if they have one.
    package func withAlpha() throws(WebImageError) -> Bitmap {
        guard pixelFormat == .rgb8 else { return self }
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        for row in 0..<height {
            cpixels_rgb_to_bgra(
                mutableRow(row).assumingMemoryBound(to: UInt8.self),
                result.mutableRow(row).assumingMemoryBound(to: UInt8.self),
                width
            )
        }
        return result
    }
}
