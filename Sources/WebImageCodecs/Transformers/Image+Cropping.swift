extension Image {
    /// Returns the part of the image within a rectangle, in new memory.
    ///
    /// - Parameter rect: the rectangle in points of the upright image, from its top left corner. Partly covered pixels are included, and the part of
    ///   the rectangle outside the image is ignored.
    /// - Throws: ``WebImageError/Code/transformFailed`` for an empty rectangle and for one wholly outside the image.
    public func cropped(to rect: ImageRect) throws(WebImageError) -> Image {
        guard rect.isUsable else {
            throw .untransformable(
                "invalid crop rectangle \(rect.width)x\(rect.height) at \(rect.x),\(rect.y)"
            )
        }
        let upright = try uprightBitmap()
        guard let columns = Self.touchedPixels(rect.x, rect.width, scale: scale, of: upright.width),
            let rows = Self.touchedPixels(rect.y, rect.height, scale: scale, of: upright.height)
        else {
            throw .untransformable(
                "crop rectangle \(rect.width)x\(rect.height) at \(rect.x),\(rect.y) is outside the image of "
                    + "\(size.width)x\(size.height)"
            )
        }
        let part = upright.part(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
        return replacing(try part.copy())
    }

    /// Returns the pixels that a range of points touches; nil if none. Overlaps of a millionth of a pixel, the rounding error of products, do not
    /// count.
    static func touchedPixels(_ start: Double, _ length: Double, scale: Double, of count: Int) -> Range<Int>? {
        let first = max((start * scale + 1e-6).rounded(.down), 0)
        let last = min(((start + length) * scale - 1e-6).rounded(.up), Double(count))
        return first < last ? Int(first)..<Int(last) : nil
    }
}
