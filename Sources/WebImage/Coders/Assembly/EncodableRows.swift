import CPixels

/// An image made ready for an encoder: upright, within the size asked for, its rows handed out with straight alpha.
struct EncodableRows {
    let bitmap: Bitmap

    var width: Int { bitmap.width }
    var height: Int { bitmap.height }
    var hasAlpha: Bool { bitmap.pixelFormat.hasAlpha }

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ image: Image, options: ImageEncodeOptions) throws(WebImageError) {
        var bitmap = try Self.upright(image.bitmap, image.orientation)
        if let box = options.maxPixelSize, box.isUsable {
            let size = DecodePlan.fit(width: bitmap.width, height: bitmap.height, box: box)
            bitmap = try Resampler.resize(bitmap, width: size.width, height: size.height)
        }
        self.bitmap = bitmap
    }

    private static func upright(_ bitmap: Bitmap, _ orientation: ImageOrientation) throws(WebImageError) -> Bitmap {
        guard orientation != .up else { return bitmap }
        let plan = DecodePlan(width: bitmap.width, height: bitmap.height, orientation: orientation, isThumbnail: false)
        let swaps = orientation.swapsSides
        let result = try Bitmap.allocate(
            width: swaps ? bitmap.height : bitmap.width,
            height: swaps ? bitmap.width : bitmap.height,
            pixelFormat: bitmap.pixelFormat
        )
        let rows = UnsafePointer(bitmap.mutableRow(0).assumingMemoryBound(to: UInt8.self))
        RowPlacement(plan: plan, bitmap: result)
            .place(rows, bytesPerRow: bitmap.bytesPerRow, firstRow: 0, count: bitmap.height)
        return result
    }

    /// Hands out all rows from the top down, some at a time: RGB of an opaque image, RGBA with straight alpha otherwise.
    ///
    /// - Throws: what `body` throws, or ``WebImageError/Code/outOfMemory``.
    func forEachBlock(
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
    func writeBGRA(row: Int, to target: UnsafeMutablePointer<UInt8>) {
        let pixels = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
        if hasAlpha {
            cpixels_unpremultiply_bgra_to_bgra(pixels, target, width)
        } else {
            cpixels_rgb_to_bgra(pixels, target, width)
        }
    }
}
