import CPixels
import Glibc

extension Resampler {
    /// A bitmap of another size, smaller or bigger, of the same pixel format.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` for a size that no memory can hold,
    ///   ``WebImageError/Code/outOfMemory``.
    package static func resize(
        _ bitmap: Bitmap,
        width: Int,
        height: Int,
        quality: ImageDecodeOptions.ScalingQuality = .high
    ) throws(WebImageError) -> Bitmap {
        guard width != bitmap.width || height != bitmap.height else { return bitmap }
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: bitmap.pixelFormat)
        if bitmap.pixelFormat == .rgbaHalfPremultiplied {
            try resizeHalves(bitmap, into: result, quality: quality)
            return result
        }
        let bytesPerPixel = bitmap.pixelFormat.bytesPerPixel
        let resampler = Resampler(
            from: (bitmap.width, bitmap.height),
            to: (width, height),
            channels: bytesPerPixel,
            isPremultiplied: bitmap.pixelFormat.hasAlpha,
            quality: quality
        )
        var input = 0
        var output = 0
        try resampler.run { (count, base, bytesPerRow) throws(WebImageError) in
            for row in 0..<count {
                memcpy(base + row * bytesPerRow, bitmap.mutableRow(input + row), bitmap.width * bytesPerPixel)
            }
            input += count
        } emit: { (row) throws(WebImageError) in
            memcpy(result.mutableRow(output), row, width * bytesPerPixel)
            output += 1
        }
        return result
    }

    private static func resizeHalves(
        _ bitmap: Bitmap,
        into result: Bitmap,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) {
        let resampler = FloatResampler(
            from: (bitmap.width, bitmap.height),
            to: (result.width, result.height),
            quality: quality
        )
        var input = 0
        var output = 0
        try resampler.run { (row) throws(WebImageError) in
            let halves = bitmap.mutableRow(input).assumingMemoryBound(to: UInt16.self)
            cpixels_halves_to_floats(halves, row, bitmap.width * 4)
            input += 1
        } emit: { (row) throws(WebImageError) in
            let halves = result.mutableRow(output).assumingMemoryBound(to: UInt16.self)
            cpixels_floats_to_halves(row, halves, result.width * 4)
            output += 1
        }
    }
}
