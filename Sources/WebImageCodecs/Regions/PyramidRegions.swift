import FoundationEssentials
import Glibc

/// Regions of an image whose rows are decoded once, from the top, into a file of tiles.
final class PyramidRegions: RegionSource {
    private let file: PyramidFile
    private let builder: PyramidBuilder?
    private let properties: ImageProperties
    private let options: RegionOptions
    private let format: PixelFormat
    private let size: RegionLevel
    private let tileSize: Int
    private let upright: [RegionLevel]
    private let stopwatch: Lock<DecodeStopwatch?>

    private static let queue = WorkQueue(name: "webimage.pyramids", width: 1)

    /// Returns nil if there is no file of tiles yet, and no rows to make one.
    ///
    /// - Parameter strips: Returns the rows of the image. Only called without a file.
    init?(
        _ bytes: RegionBytes,
        _ properties: ImageProperties,
        _ levels: [RegionLevel],
        _ options: RegionOptions,
        _ cache: PyramidCache,
        strips: () throws(WebImageError) -> (any RowStrips)?
    ) throws(WebImageError) {
        (self.properties, self.options) = (properties, options)
        upright = levels
        size = RegionLevel(width: properties.width, height: properties.height)
        tileSize = PyramidIndex.tileSize(options.usedTileSize, for: size)
        let isLossy = properties.format == .jpeg
        let index = PyramidIndex(identity: bytes.identity(), size: size, tileSize: tileSize)
        stopwatch = Lock(DecodeStopwatch(options.limits))
        format = properties.hasAlpha ? .bgra8Premultiplied : options.decoding.pixelFormat ?? .rgb8
        if let file = PyramidFile.open(cache, index) {
            (self.file, builder) = (file, nil)
            return
        }
        guard let strips = try strips() else { return nil }
        file = try PyramidFile.create(cache, index)
        builder = try PyramidBuilder(
            strips,
            levels: index.levels,
            tileSize: tileSize,
            isLossy: isLossy,
            limits: options.limits,
            file: file
        )
    }

    var passQueue: WorkQueue? { Self.queue }

    func rowsNeeded(for area: PixelArea, level: Int) -> Int {
        guard builder != nil else { return 0 }
        let stored = area.stored(from: properties.orientation, in: upright[level])
        let rows = (stored.bottom + tileSize - 1) / tileSize * tileSize
        return min(rows << level, size.height)
    }

    func advance() throws(WebImageError) -> Int {
        guard let builder else { return .max }
        guard var watch = stopwatch.withLock({ $0 }) else { return try builder.advance(nil) }
        defer { stopwatch.withLock { $0 = watch } }
        return try watch.measure { (deadline) throws(WebImageError) in try builder.advance(deadline) }
    }

    func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        let stored = area.stored(from: properties.orientation, in: upright[level])
        let bitmap = try Bitmap.allocate(width: stored.width, height: stored.height, pixelFormat: format)
        for row in stored.top / tileSize...(stored.bottom - 1) / tileSize {
            for column in stored.left / tileSize...(stored.right - 1) / tileSize {
                try check()
                try draw(column: column, row: row, level, stored, into: bitmap)
            }
        }
        return try options.image(ofStored: bitmap, properties, level: level)
    }

    private func draw(
        column: Int,
        row: Int,
        _ level: Int,
        _ area: PixelArea,
        into bitmap: Bitmap
    ) throws(WebImageError) {
        let bytes = try file.tile(level: level, column: column, row: row)
        var decoding = options.decoding
        decoding.pixelFormat = format
        let coder: any ImageCoder = bytes.first == 0xFF ? JPEGCoder() : PNGCoder()
        let tile = try coder.decode(bytes, options: decoding).bitmap.converted(to: format)
        let (left, top) = (column * tileSize, row * tileSize)
        let (width, height) = (PyramidBuilder.side(level, size.width), PyramidBuilder.side(level, size.height))
        // Another program can have written the file.
        guard tile.width == min(tileSize, width - left), tile.height == min(tileSize, height - top) else {
            throw WebImageError(.badImageData, "a tile has another size than the image")
        }
        // Not empty, as the area touches the tile.
        let columns = max(left, area.left)..<min(left + tile.width, area.right)
        let rows = max(top, area.top)..<min(top + tile.height, area.bottom)
        let pixel = format.bytesPerPixel
        for y in rows {
            memcpy(
                bitmap.mutableRow(y - area.top) + (columns.lowerBound - area.left) * pixel,
                tile.mutableRow(y - top) + (columns.lowerBound - left) * pixel,
                columns.count * pixel
            )
        }
    }
}
