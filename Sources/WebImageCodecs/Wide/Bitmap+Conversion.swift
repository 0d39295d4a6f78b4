import CPixels

extension Bitmap {
    /// The same picture in another pixel format; the same bitmap when it has that already.
    ///
    /// Half floats become 8 bits by rounding, cut off at 0 and 1; or, with `toneMaps`, by the tone mapping that decoders use, which
    /// is for pictures of high dynamic range only: it makes white of others darker. Pixels with alpha that lose it are put on
    /// `background`.
    ///
    /// - Parameters:
    ///   - format: the format wanted.
    ///   - toneMaps: for half floats, whether to bring their brightest light below white; see ``ImageMetadata/isHighDynamicRange``.
    ///   - background: what shows through where alpha is lost.
    /// - Throws: ``WebImageError/Code/outOfMemory``, ``WebImageError/Code/limitExceeded``.
    public func converted(
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

    /// The bitmap itself unless it has half floats; then one of 8 bits with alpha.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func with8Bits(of metadata: ImageMetadata) throws(WebImageError) -> Bitmap {
        guard pixelFormat == .rgbaHalfPremultiplied else { return self }
        let narrow = try narrowed(toneMaps: metadata.isHighDynamicRange)
        return narrow.isOpaque ? try narrow.converted(to: .rgb8) : narrow
    }

    /// Whether all alpha is full. Cost: looks at all pixels.
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
