import CPixels
import Glibc

extension Bitmap {
    /// Returns a rectangle of the pixels that shares this bitmap's memory. The rectangle must lie within the bitmap.
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

    /// Returns a copy of the pixels in as little new memory as they need.
    func copy() throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: pixelFormat)
        for row in 0..<height { memcpy(result.mutableRow(row), mutableRow(row), width * pixelFormat.bytesPerPixel) }
        return result
    }

    /// Returns the pixels with an alpha component; the same bitmap if they have one.
    package func withAlpha() throws(WebImageError) -> Bitmap {
        guard pixelFormat == .rgb8 else { return self }
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        for row in 0..<height { cpixels_rgb_to_bgra(bytes(row), result.bytes(row), width) }
        return result
    }

    /// Returns the first byte of row `row`; see ``mutableRow(_:)``.
    func bytes(_ row: Int) -> UnsafeMutablePointer<UInt8> { mutableRow(row).assumingMemoryBound(to: UInt8.self) }

    /// Allocates a bitmap for the result of an effect, after checking that its size is within the limits.
    static func allocate(
        _ size: (width: Int, height: Int),
        _ pixelFormat: PixelFormat,
        within limits: ImageLimits
    ) throws(WebImageError) -> Bitmap {
        try limits.check(width: size.width, height: size.height)
        try limits.check(decodedByteCount: size.width * size.height * pixelFormat.bytesPerPixel)
        return try allocate(width: size.width, height: size.height, pixelFormat: pixelFormat)
    }
}
