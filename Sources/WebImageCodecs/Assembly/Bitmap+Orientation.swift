import CPixels

extension Bitmap {
    /// Returns the bitmap rotated upright from how it was stored with `orientation`.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func upright(from orientation: ImageOrientation) throws(WebImageError) -> Bitmap {
        guard orientation != .up else { return self }
        let swaps = orientation.swapsSides
        let result = try Bitmap.allocate(
            width: swaps ? height : width,
            height: swaps ? width : height,
            pixelFormat: pixelFormat
        )
        let plan = DecodePlan(width: width, height: height, orientation: orientation, isThumbnail: false)
        let placement = RowPlacement(plan: plan, bitmap: result)
        var row = 0
        while row < height {
            let count = min(Resampler.blockRows, height - row)
            let rows = UnsafePointer(mutableRow(row).assumingMemoryBound(to: UInt8.self))
            placement.place(rows, bytesPerRow: bytesPerRow, firstRow: row, count: count)
            row += count
        }
        return result
    }
}
