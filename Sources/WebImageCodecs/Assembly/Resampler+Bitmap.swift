import CPixels
import Glibc

extension Resampler {
    /// Returns a bitmap of another size, smaller or larger, in the same pixel format.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` for a size that does not fit into memory, ``WebImageError/Code/outOfMemory``.
    package static func resize(
        _ bitmap: Bitmap,
        width: Int,
        height: Int,
        quality: ImageDecodeOptions.ScalingQuality = .high
    ) throws(WebImageError) -> Bitmap {
        guard width != bitmap.width || height != bitmap.height else { return bitmap }
        let all = (x: 0.0, y: 0.0, width: Double(bitmap.width), height: Double(bitmap.height))
        return try resize(bitmap, area: all, width: width, height: height, quality: quality)
    }

    /// Returns a part of a bitmap at another size; its sides may lie within pixels.
    ///
    /// - Throws: as ``resize(_:width:height:quality:)``.
    static func resize(
        _ bitmap: Bitmap,
        area: (x: Double, y: Double, width: Double, height: Double),
        width: Int,
        height: Int,
        quality: ImageDecodeOptions.ScalingQuality = .high
    ) throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: bitmap.pixelFormat)
        let columns = reach(area.x, area.width, to: width, of: bitmap.width, quality)
        let rows = reach(area.y, area.height, to: height, of: bitmap.height, quality)
        let part = bitmap.part(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
        let origin = (x: area.x - Double(columns.lowerBound), y: area.y - Double(rows.lowerBound))
        let extent = (width: area.width, height: area.height)
        if bitmap.pixelFormat == .rgbaHalfPremultiplied {
            try resizeHalves(part, origin, extent, into: result, quality: quality)
        } else {
            try resizeBytes(part, origin, extent, into: result, quality: quality)
        }
        return result
    }

    /// Returns the pixels of a line that contribute to a part of it.
    private static func reach(
        _ start: Double,
        _ length: Double,
        to count: Int,
        of whole: Int,
        _ quality: ImageDecodeOptions.ScalingQuality
    ) -> Range<Int> {
        let support = ResampleFilter.support(scale: length / Double(count), quality: quality) + 1
        let low = max(Int((start - support).rounded(.down)), 0)
        return low..<min(Int((start + length + support).rounded(.up)), whole)
    }

    private static func resizeBytes(
        _ bitmap: Bitmap,
        _ origin: (x: Double, y: Double),
        _ extent: (width: Double, height: Double),
        into result: Bitmap,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) {
        let bytesPerPixel = bitmap.pixelFormat.bytesPerPixel
        let resampler = Resampler(
            from: (bitmap.width, bitmap.height),
            origin: origin,
            extent: extent,
            to: (result.width, result.height),
            channels: bytesPerPixel,
            isPremultiplied: bitmap.pixelFormat.hasAlpha,
            quality: quality
        )
        try CodingQueue.performInBands(rowCount: result.height, pixelCount: mostPixels(bitmap, result)) {
            (band) throws(WebImageError) in
            var input = resampler.firstRow(of: band)
            var output = band.lowerBound
            try resampler.run(band: band) { (count, base, bytesPerRow) throws(WebImageError) in
                for row in 0..<count {
                    memcpy(base + row * bytesPerRow, bitmap.mutableRow(input + row), bitmap.width * bytesPerPixel)
                }
                input += count
            } emit: { (row) throws(WebImageError) in
                memcpy(result.mutableRow(output), row, result.width * bytesPerPixel)
                output += 1
            }
        }
    }

    private static func resizeHalves(
        _ bitmap: Bitmap,
        _ origin: (x: Double, y: Double),
        _ extent: (width: Double, height: Double),
        into result: Bitmap,
        quality: ImageDecodeOptions.ScalingQuality
    ) throws(WebImageError) {
        let resampler = FloatResampler(
            from: (bitmap.width, bitmap.height),
            origin: origin,
            extent: extent,
            to: (result.width, result.height),
            quality: quality
        )
        try CodingQueue.performInBands(rowCount: result.height, pixelCount: mostPixels(bitmap, result)) {
            (band) throws(WebImageError) in
            var input = resampler.firstRow(of: band)
            var output = band.lowerBound
            try resampler.run(band: band) { (row) throws(WebImageError) in
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

    private static func mostPixels(_ input: Bitmap, _ output: Bitmap) -> Int {
        max(input.width * input.height, output.width * output.height)
    }
}
