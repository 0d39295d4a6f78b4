import CPixels

extension Image {
    /// Returns the colour of a pixel, not premultiplied. Half-float components are clamped to 0...1.
    ///
    /// - Parameter point: the pixel, in pixels (not points) of ``bitmap`` from its top left corner; fractions are cut off.
    /// - Returns: nil for a point outside the bitmap.
    public func color(at point: ImagePoint) -> ImageColor? {
        guard let column = Self.index(point.x, below: bitmap.width), let row = Self.index(point.y, below: bitmap.height)
        else { return nil }
        var color: ImageColor?
        bitmap.forEachColor(columns: column..<column + 1, rows: row..<row + 1) { color = $0 }
        return color
    }

    /// Returns the colours of the pixels in a rectangle, row by row, not premultiplied.
    ///
    /// Takes 32 bytes per pixel, eight times as much as the pixels.
    ///
    /// - Parameter rect: the pixels, in pixels (not points) of ``bitmap`` from its top left corner; fractions of its edges are cut
    ///   off.
    /// - Returns: width times height colours, the first row first; nil for a rectangle that is empty or not wholly within the
    ///   bitmap.
    public func colors(in rect: ImageRect) -> [ImageColor]? {
        guard rect.isUsable, let columns = Self.range(rect.x, rect.x + rect.width, within: bitmap.width),
            let rows = Self.range(rect.y, rect.y + rect.height, within: bitmap.height)
        else { return nil }
        var colors: [ImageColor] = []
        colors.reserveCapacity(columns.count * rows.count)
        bitmap.forEachColor(columns: columns, rows: rows) { colors.append($0) }
        return colors
    }

    private static func index(_ position: Double, below count: Int) -> Int? {
        position >= 0 && position < Double(count) ? Int(position) : nil
    }

    private static func range(_ start: Double, _ end: Double, within count: Int) -> Range<Int>? {
        guard start >= 0, end <= Double(count), Int(start) < Int(end) else { return nil }
        return Int(start)..<Int(end)
    }
}

extension Bitmap {
    /// Calls `body` with the colours of a block within the bitmap, row by row.
    fileprivate func forEachColor(columns: Range<Int>, rows: Range<Int>, _ body: (ImageColor) -> Void) {
        for row in rows {
            for column in columns { body(color(row: row, column: column)) }
        }
    }

    private func color(row: Int, column: Int) -> ImageColor {
        let pixel = mutableRow(row) + column * pixelFormat.bytesPerPixel
        let bytes = UnsafePointer(pixel.assumingMemoryBound(to: UInt8.self))
        switch pixelFormat {
        case .rgb8:
            return ImageColor(red8: bytes[0], green8: bytes[1], blue8: bytes[2])
        case .bgra8Premultiplied:
            return Self.straight([bytes[2], bytes[1], bytes[0], bytes[3]].map { Double($0) / 255 })
        case .rgbaHalfPremultiplied:
            var components = [Float](repeating: 0, count: 4)
            cpixels_halves_to_floats(pixel.assumingMemoryBound(to: UInt16.self), &components, 4)
            return Self.straight(components.map(Double.init))
        }
    }

    /// Returns the colour of premultiplied red, green, blue, alpha.
    private static func straight(_ components: [Double]) -> ImageColor {
        let alpha = components[3]
        guard alpha > 0 else { return .clear }
        return ImageColor(
            red: components[0] / alpha,
            green: components[1] / alpha,
            blue: components[2] / alpha,
            alpha: alpha
        )
    }
}
