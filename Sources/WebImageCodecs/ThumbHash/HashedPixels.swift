/// The pixels that a ``ThumbHash`` or ``BlurHash`` is made of: 8 bits per component, upright, few.
struct HashedPixels {
    let bitmap: Bitmap
    /// The mean colour of what is not transparent.
    let mean: SIMD4<Double>
    let hasAlpha: Bool

    /// Takes the pixels of an image in its upright orientation. Larger images are first scaled to fit into 100 × 100 pixels.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ image: Image) throws(WebImageError) {
        var options = ImageEncodeOptions()
        options.maxPixelSize = ImageSize(width: 100, height: 100)
        self.init(try EncodableRows(image, options: options).bitmap)
    }

    init(_ bitmap: Bitmap) {
        self.bitmap = bitmap
        var total = SIMD4<Double>()
        for row in 0..<bitmap.height {
            for column in 0..<bitmap.width { total += Self.pixel(bitmap, row, column) }
        }
        mean = total / (total.w > 0 ? total.w : 1)
        hasAlpha = bitmap.pixelFormat.hasAlpha && total.w < Double(bitmap.width * bitmap.height)
    }

    /// Red, green, blue and alpha, 0...1. The colours of transparent parts are the mean colour.
    @inline(__always)
    func color(_ row: Int, _ column: Int) -> SIMD4<Double> {
        let pixel = Self.pixel(bitmap, row, column)
        let rest = 1 - pixel.w
        return SIMD4(mean.x * rest + pixel.x, mean.y * rest + pixel.y, mean.z * rest + pixel.z, pixel.w)
    }

    /// Red, green, blue and alpha, premultiplied.
    @inline(__always)
    private static func pixel(_ bitmap: Bitmap, _ row: Int, _ column: Int) -> SIMD4<Double> {
        let line = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
        switch bitmap.pixelFormat {
        case .rgb8:
            let bytes = line + column * 3
            return SIMD4(Double(bytes[0]) / 255, Double(bytes[1]) / 255, Double(bytes[2]) / 255, 1)
        case .bgra8Premultiplied:
            let bytes = line + column * 4
            // A colour component above its alpha is invalid; such pixels must not break the arithmetic.
            let alpha = Double(bytes[3]) / 255
            return SIMD4(
                min(Double(bytes[2]) / 255, alpha),
                min(Double(bytes[1]) / 255, alpha),
                min(Double(bytes[0]) / 255, alpha),
                alpha
            )
        // Callers convert to 8 bits first.
        case .rgbaHalfPremultiplied: return SIMD4()
        }
    }
}
