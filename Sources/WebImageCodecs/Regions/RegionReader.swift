/// Reads rectangles of an image, at full size and at smaller sizes, without decoding more than they need.
///
/// ``ImageCodersManager/regionReader(forFileAt:options:)`` creates one. Level 0 is the full image, and each next level has half of its sides, so a
/// viewer reads a few tiles at the level of its zoom, however big the image is. All sizes and rectangles are those of the upright image.
///
/// The first reads depend on the format:
///
/// | image | reads |
/// |---|---|
/// | baseline JPEG of any size | decode a rectangle of blocks, after one pass over the Huffman codes before it |
/// | tiled TIFF | decode tiles, and levels that the file has |
/// | SVG, PDF | draw a level |
/// | others of at most 128 MiB of pixels | decode the image once, and keep it |
/// | others | one pass over the rows writes tiles of all levels to a file (``PyramidCache``) |
///
/// Released readers stop their passes.
public protocol RegionReader: AnyObject, Sendable {
    /// The properties in the file's header: size and orientation as stored.
    var properties: ImageProperties { get }
    /// The sizes of the levels. The first is the upright image's, each next is half as large, rounded up, and the last fits into a tile.
    var levels: [RegionLevel] { get }
    /// The side of a tile in pixels. Reads of whole tiles are cheapest.
    var tileSize: Int { get }

    /// Reads a rectangle of a level.
    ///
    /// Decodes on the library's threads. If rows have to be passed first, one read passes them, and others of the same reader wait without a thread until
    /// the rows that they need have been passed. A read ends soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - rect: The rectangle in pixels of the level. Partly covered pixels are included, and the part outside the level is ignored.
    ///   - level: The index of the level.
    /// - Returns: An upright image of the rectangle, without animation.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a level that does not exist, and for a rectangle that is empty, not finite, or wholly
    ///   outside; ``WebImageError/Code/cancelled``; ``WebImageError/Code/limitExceeded`` if the image can only be read with more memory, or more disk
    ///   space, than the options allow; and the errors of decoding.
    func read(_ rect: ImageRect, level: Int) async throws(WebImageError) -> Image
}

/// The size of a level of a ``RegionReader``.
public struct RegionLevel: Sendable, Hashable {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size of the next level.
    package var half: RegionLevel { RegionLevel(width: (width + 1) / 2, height: (height + 1) / 2) }

    package var pixelCount: Int { width * height }

    /// Returns the sizes from this one down to the first that fits into a tile.
    package func pyramid(tileSize: Int) -> [RegionLevel] {
        var levels = [self]
        while let last = levels.last, max(last.width, last.height) > tileSize { levels.append(last.half) }
        return levels
    }

    /// Returns the pixels that a rectangle touches; nil if there are none.
    package func area(of rect: ImageRect) -> PixelArea? {
        guard rect.isUsable, let columns = Image.touchedPixels(rect.x, rect.width, scale: 1, of: width),
            let rows = Image.touchedPixels(rect.y, rect.height, scale: 1, of: height)
        else { return nil }
        return PixelArea(left: columns.lowerBound, top: rows.lowerBound, width: columns.count, height: rows.count)
    }
}

extension RegionReader {
    /// The size of the upright image in pixels.
    public var pixelSize: ImageSize { ImageSize(width: levels[0].width, height: levels[0].height) }

    /// Returns the smallest level that has at least as many pixels as are shown.
    ///
    /// - Parameter scale: The number of the screen's pixels for each pixel of the image: 1 for actual size, 0.25 if a quarter of each side is shown.
    public func level(forScale scale: Double) -> Int {
        var level = 0
        var least = 0.5
        while level + 1 < levels.count, scale <= least {
            level += 1
            least /= 2
        }
        return level
    }

    /// Returns the number of tiles of a level; none for a level that does not exist.
    public func tileCount(atLevel level: Int) -> (columns: Int, rows: Int) {
        guard levels.indices.contains(level) else { return (0, 0) }
        let size = levels[level]
        return ((size.width + tileSize - 1) / tileSize, (size.height + tileSize - 1) / tileSize)
    }

    /// Reads a tile: ``tileSize`` pixels in both directions, fewer at the right and at the bottom.
    ///
    /// - Parameters:
    ///   - column: Counted from 0 at the left.
    ///   - row: Counted from 0 at the top.
    ///   - level: The index of the level.
    /// - Throws: The errors of ``read(_:level:)``.
    public func tile(column: Int, row: Int, level: Int) async throws(WebImageError) -> Image {
        let side = Double(tileSize)
        let rect = ImageRect(x: Double(column) * side, y: Double(row) * side, width: side, height: side)
        return try await read(rect, level: level)
    }
}

/// Settings of a ``RegionReader``.
public struct RegionOptions: Sendable, Hashable {
    /// The side of a tile in pixels: 512 by default, a power of two from 64 to 2048. Other numbers count as the next smaller one of these.
    public var tileSize: Int = 512
    /// The layout of the results, as in ``ImageDecodeOptions/pixelFormat``. Formats of more than 8 bits are not available.
    public var pixelFormat: PixelFormat?
    /// The limits for what is decoded at a time: a region, a level, or a whole image where a format needs that.
    ///
    /// ``ImageLimits/maximumPixelCount`` applies to regions, not to the image, so an image may have more pixels than could be decoded at once, up
    /// to ``maximumImagePixelCount``. ``ImageLimits/maximumSideLength`` applies to the image. ``ImageLimits/maximumEncodedByteCount`` does not apply to
    /// baseline JPEG that is read from a file, of which only a window is in memory. ``ImageLimits/maximumDecodeDuration`` limits each read, and all
    /// passes of a reader together.
    public var limits = ImageLimits()
    /// The maximum number of pixels of the whole image. 17 179 869 184 by default. Set less for images from untrusted sources: their passes cost
    /// time in proportion.
    public var maximumImagePixelCount: Int = 1 << 34
    /// The box into which drawings (SVG, PDF) are fitted for level 0, also if it is larger than the drawing; nil, the default, for the document's size.
    public var drawnSize: ImageSize?
    /// The cache for tiles of images that cannot be read otherwise; nil to refuse such images. ``PyramidCache/shared`` by default.
    public var pyramids: PyramidCache? = .shared
    /// The number of bytes of pixels up to which an image is decoded as a whole and kept, if it can neither be read in parts nor drawn.
    package var maximumWholeByteCount = 128 << 20
    /// Indicates whether only the first level is read, so that a file without smaller levels will do.
    package var usesOnlyFullSize = false

    /// Creates the default options.
    public init() {}

    /// The tile size that is used.
    package var usedTileSize: Int {
        var side = 64
        while side < 2048, side * 2 <= tileSize { side *= 2 }
        return side
    }

    /// The decode options for regions.
    package var decoding: ImageDecodeOptions {
        var options = ImageDecodeOptions()
        options.decodeFirstFrameOnly = true
        options.pixelFormat = pixelFormat == .rgbaHalfPremultiplied ? nil : pixelFormat
        options.limits = limits
        return options
    }

    /// The limits for reading the header of an image that is not decoded as a whole.
    package var headerLimits: ImageLimits {
        var limits = limits
        limits.maximumPixelCount = max(limits.maximumPixelCount, maximumImagePixelCount)
        return limits
    }
}
