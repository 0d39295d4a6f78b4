/// A rule that recognises the border of an image.
package struct BorderRule: Sendable, Hashable {
    /// The colour of the border.
    package enum Color: Sendable, Hashable {
        /// That of the top left pixel.
        case topLeft
        /// That of the bottom right pixel.
        case bottomRight
        /// A given one. Transparent pixels count as magenta.
        case given(ImageColor)
    }

    /// The colour of the border.
    package var color: Color
    /// The largest difference that still counts as the border's, in levels of 8 bits.
    package var threshold: Double
    /// Indicates whether the distance of a pixel's colour counts (thumbor), instead of the difference of each component of the median of
    /// the pixel and its eight neighbours, which ignores single pixels (libvips).
    package var usesDistance: Bool

    /// Creates a rule.
    package init(color: Color = .topLeft, threshold: Double = 10, usesDistance: Bool = false) {
        self.color = color
        self.threshold = threshold
        self.usesDistance = usesDistance
    }
}

extension Image {
    /// Finds the part of the upright image within its border.
    ///
    /// - Returns: the part in pixels; nil if there is nothing but border.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func partWithoutBorder(
        _ rule: BorderRule
    ) throws(WebImageError) -> (x: Int, y: Int, width: Int, height: Int)? {
        let magenta = ImageColor(red: 1, green: 0, blue: 1)
        let search = BorderSearch(try uprightBitmapIn8Bits().flattened(onto: magenta), rule)
        return search.part()
    }
}

/// The search for the first and last rows and columns that are not border.
private struct BorderSearch {
    private let bitmap: Bitmap
    private let low: [Double]
    private let high: [Double]
    private let center: [Double]
    private let squaredDistance: Double?

    init(_ bitmap: Bitmap, _ rule: BorderRule) {
        self.bitmap = bitmap
        let row: UnsafeMutablePointer<UInt8>
        switch rule.color {
        case .topLeft:
            row = bitmap.bytes(0)
            center = (0..<3).map { Double(row[$0]) }
        case .bottomRight:
            row = bitmap.bytes(bitmap.height - 1) + (bitmap.width - 1) * 3
            center = (0..<3).map { Double(row[$0]) }
        case .given(let color):
            center = [Double(color.red8), Double(color.green8), Double(color.blue8)]
        }
        low = center.map { $0 - rule.threshold }
        high = center.map { $0 + rule.threshold }
        squaredDistance = rule.usesDistance ? max(rule.threshold, 0) * max(rule.threshold, 0) : nil
    }

    func part() -> (x: Int, y: Int, width: Int, height: Int)? {
        let columns = 0..<bitmap.width
        let hasContent = { (row: Int) in !isUniform(row) && columns.contains { isContent($0, row) } }
        guard let top = (0..<bitmap.height).first(where: hasContent),
            let bottom = (top..<bitmap.height).last(where: hasContent)
        else { return nil }
        var (left, right) = (bitmap.width, -1)
        for row in top...bottom {
            if let first = (0..<left).first(where: { isContent($0, row) }) { left = first }
            if let last = (right + 1..<bitmap.width).last(where: { isContent($0, row) }) { right = last }
        }
        return left <= right ? (left, top, right - left + 1, bottom - top + 1) : nil
    }

    /// Returns whether all samples that count for a row are within the threshold: then none of its pixels is content. Most rows of a border
    /// are, and this is much faster than to look at each pixel.
    private func isUniform(_ row: Int) -> Bool {
        guard squaredDistance == nil else { return false }
        let (lows, highs) = (low.map { Self.level($0.rounded(.up)) }, high.map { Self.level($0.rounded(.down)) })
        for line in max(row - 1, 0)...min(row + 1, bitmap.height - 1) {
            let bytes = bitmap.bytes(line)
            for channel in 0..<3 where low[channel] > 255 || high[channel] < 0 || lows[channel] > highs[channel] {
                return false
            }
            var isOutside = false
            for column in 0..<bitmap.width {
                let pixel = bytes + column * 3
                isOutside =
                    isOutside || pixel[0] < lows[0] || pixel[0] > highs[0] || pixel[1] < lows[1] || pixel[1] > highs[1]
                    || pixel[2] < lows[2] || pixel[2] > highs[2]
            }
            if isOutside { return false }
        }
        return true
    }

    private static func level(_ number: Double) -> UInt8 { UInt8(min(max(number, 0), 255)) }

    /// Returns whether a pixel is not border. The image's edges are extended.
    private func isContent(_ x: Int, _ y: Int) -> Bool {
        if let squaredDistance {
            let pixel = bitmap.bytes(y) + x * 3
            let sum = (0..<3).reduce(0.0) { sum, channel in
                let difference = Double(pixel[channel]) - center[channel]
                return sum + difference * difference
            }
            return sum > squaredDistance
        }
        for channel in 0..<3 {
            // The median is outside the range if at least five of the nine are on one side.
            var (below, above) = (0, 0)
            for row in y - 1...y + 1 {
                let line = bitmap.bytes(min(max(row, 0), bitmap.height - 1))
                for column in x - 1...x + 1 {
                    let level = Double(line[min(max(column, 0), bitmap.width - 1) * 3 + channel])
                    if level < low[channel] { below += 1 }
                    if level > high[channel] { above += 1 }
                }
            }
            if below >= 5 || above >= 5 { return true }
        }
        return false
    }
}
