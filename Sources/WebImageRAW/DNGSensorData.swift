import CRAWShims
import WebImageCodecs

/// The raw data of a DNG: LibRaw may develop uninitialised memory in place of missing strips or tiles, and allocates tiles as the file states them.
enum DNGSensorData {
    /// The maximum number of strips or tiles.
    private static let mostParts = 1 << 16

    private enum Tag {
        static let (width, height, rowsPerStrip) = (256, 257, 278)
        static let (tileWidth, tileHeight, tileOffsets, tileByteCounts) = (322, 323, 324, 325)
    }

    /// A tile may be as long as twice the image's side, or as this.
    private static let longestTile = 4096
    /// LibRaw counts the bytes of a tile of four floats for each pixel in 32 bits.
    private static let mostTilePixels = 1 << 27

    /// Returns whether tiles have a size at which they can be allocated; true for raw data in strips.
    static func hasUsableTiles(_ info: webimage_raw_info) -> Bool {
        let (width, height) = (Int(info.tile_width), Int(info.tile_height))
        let (widest, highest) = (max(longestTile, 2 * Int(info.raw_width)), max(longestTile, 2 * Int(info.raw_height)))
        return width <= widest && height <= highest && width * height <= mostTilePixels
    }

    /// Returns whether all strips or tiles of raw data are in the file; true for other formats.
    static func isComplete(in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let tiff = TIFFStructure(bytes), let first = tiff.directory(at: tiff.firstDirectory),
            tiff.entry(TIFFStructure.Tag.dngVersion, in: first) != nil
        else { return true }
        return tiff.directories().allSatisfy { directory in
            let colors = tiff.value(TIFFStructure.Tag.colors, in: directory) ?? 0
            return !CameraRawSniffer.sensorColors.contains(colors) || isComplete(directory, in: tiff)
        }
    }

    private static func isComplete(_ directory: TIFFStructure.Directory, in tiff: TIFFStructure) -> Bool {
        func number(_ tag: Int) -> Int { max(tiff.value(tag, in: directory) ?? 0, 0) }
        func parts(_ length: Int, _ part: Int) -> Int { part > 0 ? (length + part - 1) / part : 1 }
        let isTiled = tiff.entry(Tag.tileOffsets, in: directory) != nil
        let (width, height) = (number(Tag.width), number(Tag.height))
        let across = isTiled ? parts(width, number(Tag.tileWidth)) : 1
        let down = parts(height, number(isTiled ? Tag.tileHeight : Tag.rowsPerStrip))
        guard across <= mostParts, down <= mostParts, across * down <= mostParts else { return false }
        let count = across * down
        let offsetTag = isTiled ? Tag.tileOffsets : TIFFStructure.Tag.stripOffsets
        let lengthTag = isTiled ? Tag.tileByteCounts : TIFFStructure.Tag.stripByteCounts
        let offsets = tiff.values(offsetTag, in: directory, atMost: count)
        let lengths = tiff.values(lengthTag, in: directory, atMost: count)
        guard offsets.count == count, lengths.count == count else { return false }
        return zip(offsets, lengths).allSatisfy { $0 + $1 <= tiff.bytes.count }
    }
}
