import FoundationEssentials
import Glibc
import WebImage

/// Writes the tiles of all levels, and the file that describes them.
struct TileWriter: Sendable {
    let reader: any RegionReader
    let layout: TileLayout
    let directory: String
    let counts = Counts()

    /// The number of tiles and bytes so far.
    actor Counts {
        private(set) var tiles = 0
        private(set) var bytes = 0

        func add(_ bytes: Int) {
            tiles += 1
            self.bytes += bytes
        }
    }

    /// A tile: the pixels of a level, and the path in the directory.
    private struct Tile: Sendable {
        var rect: ImageRect
        var path: String
    }

    private var width: Int { reader.levels[0].width }
    private var height: Int { reader.levels[0].height }

    /// The sizes: for Deep Zoom down to one pixel, for IIIF down to one tile.
    private var levels: [RegionLevel] {
        var levels = [reader.levels[0]]
        let least = layout.kind == .deepZoom ? 1 : layout.tileSize
        while let last = levels.last, max(last.width, last.height) > least {
            levels.append(RegionLevel(width: (last.width + 1) / 2, height: (last.height + 1) / 2))
        }
        return levels
    }

    var levelCount: Int { levels.count }

    /// The path of the file that viewers open first.
    var entry: String { layout.kind == .deepZoom ? "\(directory)/image.dzi" : "\(directory)/info.json" }

    func write() async throws {
        let levels = levels
        for (level, size) in levels.enumerated() {
            // Reading from the top lets a reader that passes rows deliver tiles as it goes.
            // Their list would be long for small tiles, so it is made row by row.
            let rows = 0..<(size.height + layout.tileSize - 1) / layout.tileSize
            let tiles = rows.lazy.flatMap { row in
                self.tiles(level, size, row: row, deepZoomLevel: levels.count - 1 - level)
            }
            let reduced = level < reader.levels.count ? nil : try await reduced(to: level)
            try await forEach(tiles) { tile in
                let image: Image
                if let reduced { image = reduced } else { image = try await reader.read(tile.rect, level: level) }
                let data = try await image.encoded(as: layout.format, options: layout.encoding)
                try await blocking { try Self.write(data, to: "\(directory)/\(tile.path)") }
                await counts.add(data.count)
            }
        }
        let description = layout.kind == .deepZoom ? deepZoomDescription : iiifDescription(levels)
        try await blocking { try Self.write(Data(description.utf8), to: entry) }
    }

    /// Returns the image at a level below the last one of the reader, made like the levels above it.
    private func reduced(to level: Int) async throws -> Image {
        let last = reader.levels.count - 1
        let size = reader.levels[last]
        let all = ImageRect(x: 0, y: 0, width: size.width, height: size.height)
        let image = try await reader.read(all, level: last)
        return try await blocking {
            var bitmap = image.bitmap
            for _ in last..<level { bitmap = try bitmap.halved() }
            return Image(bitmap: bitmap)
        }
    }

    /// Writes several tiles at a time.
    private func forEach(
        _ tiles: some Sequence<Tile>,
        _ body: @escaping @Sendable (Tile) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for tile in tiles {
                if running == Self.concurrency {
                    try await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { try await body(tile) }
            }
            try await group.waitForAll()
        }
    }

    private static let concurrency = 8

    // MARK: Layouts

    /// Returns a row of tiles.
    private func tiles(_ level: Int, _ size: RegionLevel, row: Int, deepZoomLevel: Int) -> [Tile] {
        let side = layout.tileSize
        var tiles: [Tile] = []
        for column in 0..<(size.width + side - 1) / side {
            let (left, top) = (column * side, row * side)
            switch layout.kind {
            case .deepZoom:
                let (x, y) = (max(left - layout.overlap, 0), max(top - layout.overlap, 0))
                let right = min(left + side + layout.overlap, size.width)
                let bottom = min(top + side + layout.overlap, size.height)
                let rect = ImageRect(x: x, y: y, width: right - x, height: bottom - y)
                let path = "image_files/\(deepZoomLevel)/\(column)_\(row).\(layout.fileExtension)"
                tiles.append(Tile(rect: rect, path: path))
            case .iiif:
                let (width, height) = (min(side, size.width - left), min(side, size.height - top))
                let scale = 1 << level
                let (x, y) = (left * scale, top * scale)
                let region = "\(x),\(y),\(min(side * scale, self.width - x)),\(min(side * scale, self.height - y))"
                let rect = ImageRect(x: left, y: top, width: width, height: height)
                let isWhole = size.width <= side && size.height <= side
                let name = "\(width),\(height)/0/default.\(layout.fileExtension)"
                tiles.append(Tile(rect: rect, path: "\(region)/\(name)"))
                // Viewers also ask for the smallest size of the whole image.
                if isWhole { tiles.append(Tile(rect: rect, path: "full/\(name)")) }
            }
        }
        return tiles
    }

    private var deepZoomDescription: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="\(layout.fileExtension)" Overlap="\(layout.overlap)" TileSize="\(layout.tileSize)">
          <Size Width="\(width)" Height="\(height)"/>
        </Image>

        """
    }

    private struct Information: Encodable {
        struct Size: Encodable {
            var width: Int
            var height: Int
        }
        struct Tiles: Encodable {
            var width: Int
            var scaleFactors: [Int]
        }
        enum CodingKeys: String, CodingKey {
            case context = "@context"
            case id, type, `protocol`, profile, width, height, sizes, tiles, preferredFormats
        }
        var context = "http://iiif.io/api/image/3/context.json"
        var id: String
        var type = "ImageService3"
        var `protocol` = "http://iiif.io/api/image"
        var profile = "level0"
        var width: Int
        var height: Int
        var sizes: [Size]
        var tiles: [Tiles]
        var preferredFormats: [String]
    }

    private func iiifDescription(_ levels: [RegionLevel]) -> String {
        let last = levels[levels.count - 1]
        let name = directory.split(separator: "/").last.map(String.init) ?? "image"
        return JSONLine.text(
            Information(
                id: layout.id ?? "https://example.org/\(name)",
                width: width,
                height: height,
                sizes: [Information.Size(width: last.width, height: last.height)],
                tiles: [Information.Tiles(width: layout.tileSize, scaleFactors: levels.indices.map { 1 << $0 })],
                preferredFormats: [layout.fileExtension]
            )
        )
    }

    // MARK: Files

    private static func write(_ data: Data, to path: String) throws {
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        do {
            try FileManager.default.createDirectory(atPath: String(directory), withIntermediateDirectories: true)
        } catch {
            throw OutputError(message: "\(directory): cannot create the directory", number: EIO)
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else {
            throw OutputError(message: "\(path): \(String(cString: strerror(errno)))", number: errno)
        }
        let failure = data.withUnsafeBytes { Terminal.write($0, to: descriptor) } ? 0 : errno
        let isClosed = close(descriptor) == 0
        guard failure == 0, isClosed else { throw OutputError(failure != 0 ? failure : errno) }
    }
}
