import CPixels
import FoundationEssentials

/// Regions of an image that is decoded once, as a whole, and kept with its smaller levels.
package final class WholeImageRegions: RegionSource {
    private let levels: [RegionLevel]
    private let decode: @Sendable () throws(WebImageError) -> Image
    /// The image, and the pixels of each level.
    private let decoded = Lock<(image: Image, bitmaps: [Bitmap])?>(nil)

    /// - Parameter decode: Returns the upright image. Called once.
    package init(levels: [RegionLevel], decode: @escaping @Sendable () throws(WebImageError) -> Image) {
        self.levels = levels
        self.decode = decode
    }

    package func rowsNeeded(for area: PixelArea, level: Int) -> Int { decoded.withLock { $0 == nil } ? .max : 0 }

    package func advance() throws(WebImageError) -> Int {
        let image = try decode()
        let first = try image.uprightBitmap()
        guard first.width == levels[0].width, first.height == levels[0].height else {
            throw WebImageError(.badImageData, "the image has another size than its header")
        }
        var bitmaps = [first.pixelFormat == .rgbaHalfPremultiplied ? try first.with8Bits(of: image.metadata) : first]
        while bitmaps.count < levels.count { bitmaps.append(try bitmaps[bitmaps.count - 1].halved()) }
        let all = bitmaps
        decoded.withLock { $0 = (image, all) }
        return .max
    }

    package func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        guard let (image, bitmaps) = decoded.withLock({ $0 }) else { throw .cancelled() }
        try check()
        let part = bitmaps[level].part(x: area.left, y: area.top, width: area.width, height: area.height)
        return Image(bitmap: try part.copy(), metadata: image.metadata.ofFirstFrame, decodeOptions: image.limitsOnly)
    }
}

extension Bitmap {
    /// Returns the image at half of its sides, rounded up: the means of two by two pixels.
    ///
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    package func halved() throws(WebImageError) -> Bitmap {
        let result = try Bitmap.allocate(width: (width + 1) / 2, height: (height + 1) / 2, pixelFormat: pixelFormat)
        for row in 0..<result.height {
            cpixels_halve_rows(
                bytes(2 * row),
                bytes(min(2 * row + 1, height - 1)),
                width,
                pixelFormat.bytesPerPixel,
                result.bytes(row)
            )
        }
        return result
    }
}
