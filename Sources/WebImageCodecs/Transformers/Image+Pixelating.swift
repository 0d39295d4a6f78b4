extension Image {
    /// Returns the image reduced to squares of one colour, each the mean of its pixels. At the right and the bottom edge the image is
    /// mirrored to fill the squares, as in imgproxy.
    ///
    /// - Parameter side: the side of the squares in pixels, at most the longer one of the image; 1 or less for the same image.
    /// - Throws: ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    package func pixelated(side: Int) throws(WebImageError) -> Image {
        guard side > 1 else { return self }
        let source = try uprightBitmapIn8Bits()
        let result = try Bitmap.allocate((source.width, source.height), source.pixelFormat, within: effectLimits)
        let square = min(side, max(source.width, source.height))
        for top in stride(from: 0, to: source.height, by: square) {
            for left in stride(from: 0, to: source.width, by: square) {
                source.fillSquare(of: result, x: left, y: top, side: square)
            }
        }
        return replacing(result)
    }
}

extension Bitmap {
    /// Fills a square of another bitmap with the mean of the pixels of this one.
    fileprivate func fillSquare(of result: Bitmap, x: Int, y: Int, side: Int) {
        let size = pixelFormat.bytesPerPixel
        var sums = [0, 0, 0, 0]
        for row in y..<y + side {
            let line = bytes(Self.mirrored(row, within: height))
            for column in x..<x + side {
                let pixel = line + Self.mirrored(column, within: width) * size
                for channel in 0..<size { sums[channel] += Int(pixel[channel]) }
            }
        }
        let count = side * side
        let mean = sums.map { UInt8(($0 + count / 2) / count) }
        for row in y..<min(y + side, height) {
            let line = result.bytes(row)
            for column in x..<min(x + side, width) {
                for channel in 0..<size { line[column * size + channel] = mean[channel] }
            }
        }
    }

    private static func mirrored(_ position: Int, within count: Int) -> Int {
        let place = position % (2 * count)
        return place < count ? place : 2 * count - 1 - place
    }
}
