import FoundationEssentials

/// Cuts the rows of an image into tiles of all levels. Of each level it holds one row of tiles.
final class PyramidBuilder: @unchecked Sendable {
    // Sendable because it is used by one thread at a time.

    /// The rows; nil after the last one, as they can hold the coefficients of the whole image.
    private var source: (any RowStrips)?
    private let levels: [RegionLevel]
    private let tileSize: Int
    private let isLossy: Bool
    private let format: PixelFormat
    private let file: PyramidFile
    private var row = 0
    /// The row of tiles of each level that is being filled.
    private var strips: [Strip]

    private struct Strip {
        var bitmap: Bitmap?
        var filled = 0
        var index = 0
    }

    init(
        _ source: any RowStrips,
        levels: [RegionLevel],
        tileSize: Int,
        isLossy: Bool,
        limits: ImageLimits,
        file: PyramidFile
    ) throws(WebImageError) {
        guard source.width == levels[0].width, source.height == levels[0].height else {
            throw WebImageError(.badImageData, "the image has another size than its header")
        }
        format = source.format
        // Strips of the first level, of all others together, and half of a strip while it is added to the next level.
        let strip = source.width * format.bytesPerPixel * min(tileSize, source.height)
        try limits.check(decodedByteCount: strip * 2 + strip / 2)
        (self.source, self.levels, self.tileSize) = (source, levels, tileSize)
        (self.isLossy, self.file) = (isLossy, file)
        strips = levels.map { _ in Strip() }
    }

    /// Returns a side of a level.
    static func side(_ level: Int, _ side: Int) -> Int { (0..<level).reduce(side) { side, _ in (side + 1) / 2 } }

    /// Decodes a row of tiles, and writes those that are complete.
    ///
    /// - Returns: The number of rows so far, `Int.max` after the last.
    func advance(_ deadline: DecodeDeadline?) throws(WebImageError) -> Int {
        guard let source else { return .max }
        let count = min(tileSize, source.height - row)
        try write(source.read(count, deadline), level: 0)
        row += count
        guard row < source.height else {
            (self.source, strips) = (nil, [])
            file.finish()
            return .max
        }
        return row
    }

    /// Writes a row of tiles, and adds its half to the next level.
    private func write(_ strip: Bitmap, level: Int) throws(WebImageError) {
        try writeTiles(of: strip, level: level, row: strips[level].index)
        strips[level].index += 1
        guard level + 1 < levels.count else { return }
        let half = try strip.halved()
        let next = level + 1
        let rest = levels[next].height - strips[next].index * tileSize
        let bitmap: Bitmap
        if let begun = strips[next].bitmap {
            bitmap = begun
        } else {
            bitmap = try .allocate(width: levels[next].width, height: min(tileSize, rest), pixelFormat: format)
        }
        for line in 0..<half.height {
            let target = bitmap.mutableRow(strips[next].filled + line)
            target.copyMemory(from: half.mutableRow(line), byteCount: half.width * format.bytesPerPixel)
        }
        strips[next].filled += half.height
        strips[next].bitmap = bitmap
        guard strips[next].filled == bitmap.height else { return }
        strips[next].bitmap = nil
        strips[next].filled = 0
        try write(bitmap, level: next)
    }

    /// Encodes the tiles of a row at the same time, if processors are idle.
    private func writeTiles(of strip: Bitmap, level: Int, row: Int) throws(WebImageError) {
        let count = (strip.width + tileSize - 1) / tileSize
        let (side, isLossy) = (tileSize, isLossy)
        let results = Lock([Result<Data, WebImageError>?](repeating: nil, count: count))
        CodingQueue.shared.perform(parts: count) { column in
            let left = column * side
            let tile = strip.part(x: left, y: 0, width: min(side, strip.width - left), height: strip.height)
            let result: Result<Data, WebImageError>
            do throws(WebImageError) { result = .success(try Self.encode(tile, isLossy)) } catch {
                result = .failure(error)
            }
            results.withLock { $0[column] = result }
        }
        for (column, result) in results.withLock({ $0 }).enumerated() {
            guard let result else { continue }
            try file.append(try result.get(), level: level, column: column, row: row)
        }
    }

    private static func encode(_ tile: Bitmap, _ isLossy: Bool) throws(WebImageError) -> Data {
        var options = ImageEncodeOptions()
        options.compressionQuality = 0.95
        let image = Image(bitmap: tile)
        return try isLossy
            ? JPEGCoder().encode(image, to: .jpeg, options: options)
            : PNGCoder().encode(image, to: .png, options: options)
    }
}
