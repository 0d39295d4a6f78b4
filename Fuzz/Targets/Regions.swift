import FoundationEssentials
import WebImage

@testable import WebImageCodecs

/// Parts of images.
extension FuzzTarget {
    static let regions: [FuzzTarget] = [
        FuzzTarget(
            name: "jpeg-region",
            summary: "the index of a JPEG's Huffman codes; regions of all levels, beside the whole decode",
            longestInput: 24 << 10,
            dictionary: "jpeg",
            fixtures: [Fixtures(directory: "JPEG", suffix: "jpg")],
            check: checkJPEG
        ),
        FuzzTarget(
            name: "pyramid-index",
            summary: "the index of a file of tiles, with corrected checksums",
            longestInput: 8 << 10,
            seeds: {
                let index = PyramidIndex(identity: "seed", size: RegionLevel(width: 300, height: 200), tileSize: 64)
                return [Data(index.encoded(at: 100).dropLast(PyramidIndex.trailerByteCount))]
            },
            check: checkIndex
        ),
    ]

    private static func checkJPEG(_ data: Data) throws(FuzzFinding) {
        var options = RegionOptions()
        options.tileSize = 64
        options.maximumImagePixelCount = 1 << 20
        options.limits.maximumPixelCount = 1 << 20
        options.limits.maximumDecodedByteCount = 64 << 20
        let bytes = RegionBytes(data)
        guard let properties = try? JPEGRegions.properties(bytes, options.headerLimits) else { return }
        let (width, height) = properties.uprightSize
        guard width * height <= 1 << 20 else { return }
        let levels = RegionLevel(width: width, height: height).pyramid(tileSize: 64)
        let source = try? JPEGRegions(bytes, properties: properties, levels: levels, options: options) { nil }
        guard let source else { return }
        var ready = 0
        while let rows = try? source.advance(), rows > ready { ready = rows }
        let whole = try? JPEGCoder().decode(data, options: options.decoding)
        let check = RegionCheck(nil) { true }
        for (level, size) in levels.enumerated() {
            let area = PixelArea(
                left: size.width / 3,
                top: size.height / 3,
                width: (size.width + 1) / 2,
                height: (size.height + 1) / 2
            )
            guard source.rowsNeeded(for: area, level: level) <= ready,
                let region = try? source.read(area, level: level, check: check)
            else { continue }
            try must(region.pixelWidth == area.width && region.pixelHeight == area.height, "a region has another size")
            guard level == 0, let whole, !whole.metadata.isDamaged else { continue }
            let part = whole.bitmap.part(x: area.left, y: area.top, width: area.width, height: area.height)
            try must(part.pixels == region.bitmap.pixels, "a region has other pixels than the whole image")
        }
    }

    private static func checkIndex(_ data: Data) throws(FuzzFinding) {
        _ = PyramidIndex.range(trailer: Data(data.suffix(PyramidIndex.trailerByteCount)), fileByteCount: data.count)
        let checksum = data.withUnsafeBytes { Hashing.xxh3($0) }
        guard let index = PyramidIndex(parsing: data, checksum: checksum, offset: 1 << 20) else { return }
        try must(index.entries.allSatisfy { $0.offset + $0.byteCount <= 1 << 20 }, "a tile is not in the file")
        let again = Data(index.encoded(at: 1 << 20).dropLast(PyramidIndex.trailerByteCount))
        try must(index.identity.contains("\u{FFFD}") || again == data, "an index changes when it is written")
    }
}
