extension Image {
    /// The part of the picture within a rectangle, in memory of its own.
    ///
    /// - Parameter rect: the rectangle in points of the upright picture, from its top left corner. Pixels that it covers in part are
    ///   taken whole, and what lies outside the picture is left away.
    /// - Throws: ``WebImageError/Code/transformFailed`` for an empty rectangle and for one wholly outside the picture.
    public func cropped(to rect: ImageRect) throws(WebImageError) -> Image {
        guard rect.isUsable else {
            throw .untransformable(
                "a rectangle of \(rect.width)x\(rect.height) at \(rect.x),\(rect.y) holds no picture"
            )
        }
        let upright = try uprightBitmap()
        guard let columns = Self.touchedPixels(rect.x, rect.width, scale: scale, of: upright.width),
            let rows = Self.touchedPixels(rect.y, rect.height, scale: scale, of: upright.height)
        else {
            throw .untransformable(
                "a rectangle of \(rect.width)x\(rect.height) at \(rect.x),\(rect.y) lies outside the picture of "
                    + "\(size.width)x\(size.height)"
            )
        }
        let part = upright.part(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
        return replacing(try part.copy())
    }

    /// The pixels that a stretch of points touches; nil if none. A millionth of a pixel, which is how products round, touches nothing.
    static func touchedPixels(_ start: Double, _ length: Double, scale: Double, of count: Int) -> Range<Int>? {
        let first = max((start * scale + 1e-6).rounded(.down), 0)
        let last = min(((start + length) * scale - 1e-6).rounded(.up), Double(count))
        return first < last ? Int(first)..<Int(last) : nil
    }
}
