import CPixels

extension Bitmap {
    /// Returns the same image in another pixel format; the same bitmap when it already has that format.
    ///
    /// Half floats become 8 bits by rounding, clamped to 0 and 1. With `toneMaps` they are tone-mapped as in decoders, which is only for images of
    /// high dynamic range: it darkens white in others. Pixels that lose their alpha are blended on `background`.
    ///
    /// - Parameters:
    ///   - format: the format of the result.
    ///   - toneMaps: for half floats, whether to compress highlights brighter than white; see ``ImageMetadata/isHighDynamicRange``.
    ///   - background: the colour behind pixels that lose their alpha.
    /// - Throws: ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded``.
    package func converted(
        to format: PixelFormat,
        toneMaps: Bool = false,
        background: ImageColor = .white
    ) throws(WebImageError) -> Bitmap {
        guard format != pixelFormat else { return self }
        switch (pixelFormat, format) {
        case (_, .rgbaHalfPremultiplied): return try widened()
        case (.rgbaHalfPremultiplied, .bgra8Premultiplied): return try narrowed(toneMaps: toneMaps)
        case (.rgbaHalfPremultiplied, .rgb8):
            return try narrowed(toneMaps: toneMaps).converted(to: .rgb8, background: background)
        default: break
        }
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        for row in 0..<height {
            let source = mutableRow(row).assumingMemoryBound(to: UInt8.self)
            let target = result.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            if format == .rgb8 {
                cpixels_bgra_onto_color(source, target, width, background.red8, background.green8, background.blue8)
            } else {
                cpixels_rgb_to_bgra(source, target, width)
            }
        }
        return result
    }

    /// Returns the bitmap itself unless it has half floats; these are converted to 8 bits, with alpha unless it is opaque.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func with8Bits(of metadata: ImageMetadata) throws(WebImageError) -> Bitmap {
        guard pixelFormat == .rgbaHalfPremultiplied else { return self }
        let narrow = try narrowed(toneMaps: metadata.isHighDynamicRange)
        return narrow.isOpaque ? try narrow.converted(to: .rgb8) : narrow
    }

    /// A Boolean value that indicates whether all pixels are opaque. Cost: reads all pixels.
    private var isOpaque: Bool {
        (0..<height).allSatisfy { row in
            let bytes = mutableRow(row).assumingMemoryBound(to: UInt8.self)
            return (0..<width).allSatisfy { bytes[4 * $0 + 3] == 255 }
        }
    }

    private func narrowed(toneMaps: Bool) throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        let floats = try ScratchBuffer(byteCount: width * 16)
        let tables = LightTables.shared.tables
        for row in 0..<height {
            cpixels_halves_to_floats(mutableRow(row).assumingMemoryBound(to: UInt16.self), floats.floats, width * 4)
            cpixels_unpremultiply_floats(floats.floats, width)
            let target = result.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            if toneMaps {
                cpixels_srgb_codes_to_light(floats.floats, width, tables)
                cpixels_light_to_levels(floats.floats, target, width, true, tables)
            } else {
                cpixels_codes_to_levels(floats.floats, target, width)
            }
            cpixels_premultiply_rgba_to_bgra(target, target, width)
        }
        return result
    }

    private func widened() throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate(width: width, height: height, pixelFormat: .rgbaHalfPremultiplied)
        let floats = try ScratchBuffer(byteCount: width * 16)
        for row in 0..<height {
            let source = mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let pixel = source + x * pixelFormat.bytesPerPixel
                let isPacked = pixelFormat == .rgb8
                floats.floats[4 * x] = Float(pixel[isPacked ? 0 : 2]) / 255
                floats.floats[4 * x + 1] = Float(pixel[1]) / 255
                floats.floats[4 * x + 2] = Float(pixel[isPacked ? 2 : 0]) / 255
                floats.floats[4 * x + 3] = isPacked ? 1 : Float(pixel[3]) / 255
            }
            cpixels_floats_to_halves(
                floats.floats,
                result.mutableRow(row).assumingMemoryBound(to: UInt16.self),
                width * 4
            )
        }
        return result
    }
}
