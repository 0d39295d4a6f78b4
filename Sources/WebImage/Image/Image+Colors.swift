extension Image {
    /// The colour of a pixel, its alpha taken out of the other components.
    ///
    /// - Parameter point: the pixel, in pixels (not points) of ``bitmap`` from its top left corner; fractions are cut off.
    /// - Returns: nil for a place outside the bitmap.
    public func color(at point: ImagePoint) -> ImageColor? {
        guard let column = Self.index(point.x, below: bitmap.width), let row = Self.index(point.y, below: bitmap.height)
        else { return nil }
        var color: ImageColor?
        bitmap.forEachColor(columns: column..<column + 1, rows: row..<row + 1) { color = $0 }
        return color
    }

    /// The colours of the pixels in a rectangle, row by row, alpha taken out of the other components.
    ///
    /// Takes 32 bytes for each pixel, eight times what the pixels take.
    ///
    /// - Parameter rect: the pixels, in pixels (not points) of ``bitmap`` from its top left corner; fractions of its edges are cut
    ///   off.
    /// - Returns: width times height colours, the first row first; nil for a rectangle that is empty or not wholly within the bitmap.
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
            let pixels = UnsafeRawPointer(mutableRow(row)).assumingMemoryBound(to: UInt8.self)
            for column in columns {
                switch pixelFormat {
                case .rgb8:
                    let pixel = pixels + 3 * column
                    body(ImageColor(red8: pixel[0], green8: pixel[1], blue8: pixel[2]))
                case .bgra8Premultiplied:
                    let pixel = pixels + 4 * column
                    let alpha = Double(pixel[3])
                    guard alpha > 0 else {
                        body(.clear)
                        continue
                    }
                    body(
                        ImageColor(
                            red: Double(pixel[2]) / alpha,
                            green: Double(pixel[1]) / alpha,
                            blue: Double(pixel[0]) / alpha,
                            alpha: alpha / 255
                        )
                    )
                }
            }
        }
    }
}
