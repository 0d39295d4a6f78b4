/// Makes a bitmap from parts of a decoder's rows, as stored: colours converted to sRGB, alpha premultiplied.
package final class RegionRows {
    private let source: any ScanlineSource
    private let sink: RowSink
    private let width: Int
    private let height: Int

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package init(
        _ source: any ScanlineSource,
        width: Int,
        height: Int,
        options: ImageDecodeOptions
    ) throws(WebImageError) {
        (self.source, self.width, self.height) = (source, width, height)
        let plan = DecodePlan(width: width, height: height, orientation: .up, isThumbnail: false)
        let limit = options.limits.maximumColorProfileByteCount
        let transform = ColorTransform.shared(profile: source.colorProfile, layout: source.layout, limit: limit)
        let format = source.layout.hasAlpha ? .bgra8Premultiplied : options.pixelFormat ?? .rgb8
        sink = try RowSink(plan: plan, layout: source.layout, transform: transform, format: format)
    }

    package var bitmap: Bitmap { sink.bitmap }

    /// Reads the rows.
    ///
    /// - Parameters:
    ///   - left: The first column.
    ///   - skipped: The number of rows above the region.
    ///   - available: The columns and rows that the source has of the region. Those that it lacks repeat the last one.
    package func read(
        left: Int,
        skipping skipped: Int,
        available: (width: Int, height: Int),
        check: RegionCheck
    ) throws(WebImageError) {
        let pixel = source.layout.bytesPerPixel
        let stride = (max(source.width, left + width) * pixel + 63) & ~63
        let scratch = try ScratchBuffer(byteCount: stride)
        for _ in 0..<skipped { try source.readRows(1, into: scratch.base, bytesPerRow: stride) }
        let first = scratch.base + left * pixel
        for row in 0..<height {
            if row % Resampler.blockRows == 0 { try check() }
            if row < available.height {
                try source.readRows(1, into: scratch.base, bytesPerRow: stride)
                for column in available.width..<max(width, available.width) {
                    (first + column * pixel).copyMemory(from: first + (column - 1) * pixel, byteCount: pixel)
                }
                sink.normalize(first.assumingMemoryBound(to: UInt8.self), count: width)
            }
            sink.put(UnsafePointer(first.assumingMemoryBound(to: UInt8.self)))
        }
        sink.flush()
    }
}
