package import FoundationEssentials

/// The places of tiles in a file of a pyramid. Levels and tiles are as stored, before the orientation is applied.
///
/// The file: `magic`; the tiles, each a JPEG or PNG; the index; its offset, length and checksum; `magic` again. The index: the identity of the image, its
/// size, the side of a tile, and 20 bytes for each tile, level by level and row by row: offset, length, checksum. Numbers have the lowest byte first.
package struct PyramidIndex: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        var offset = 0
        var byteCount = 0
        var checksum: UInt64 = 0
    }

    package let identity: String
    let levels: [RegionLevel]
    let tileSize: Int
    private(set) var entries: [Entry]
    private let firsts: [Int]

    static let magic: [UInt8] = Array("WIPYRAM1".utf8)
    static let trailerByteCount = 32
    private static let entryByteCount = 20
    /// More tiles than an image of 4 gigapixels has.
    private static let maximumTileCount = 1 << 20
    private static let maximumIdentityByteCount = 4096
    /// The smallest tile of readers, into which the last level fits, so that a file has all of their levels whatever its tiles are.
    private static let leastTileSize = 64

    /// Returns the side of tiles for a reader: its own, or the next one with which the file does not get more tiles than are read.
    static func tileSize(_ wanted: Int, for size: RegionLevel) -> Int {
        var side = wanted
        while side < 2048, !isAllowed(size, side) { side *= 2 }
        return side
    }

    private static func isAllowed(_ size: RegionLevel, _ tileSize: Int) -> Bool {
        (size.width + tileSize - 1) / tileSize * ((size.height + tileSize - 1) / tileSize) <= maximumTileCount / 2
    }

    init(identity: String, size: RegionLevel, tileSize: Int) {
        self.identity = identity
        self.tileSize = tileSize
        levels = size.pyramid(tileSize: Self.leastTileSize)
        var firsts: [Int] = []
        var count = 0
        for level in levels {
            firsts.append(count)
            count += ((level.width + tileSize - 1) / tileSize) * ((level.height + tileSize - 1) / tileSize)
        }
        self.firsts = firsts
        entries = [Entry](repeating: Entry(), count: count)
    }

    private func index(_ level: Int, column: Int, row: Int) -> Int {
        firsts[level] + row * ((levels[level].width + tileSize - 1) / tileSize) + column
    }

    subscript(level: Int, column column: Int, row row: Int) -> Entry {
        get { entries[index(level, column: column, row: row)] }
        set { entries[index(level, column: column, row: row)] = newValue }
    }

    // MARK: Bytes

    /// Returns the index and the trailer, for a file in which they begin at `offset`.
    func encoded(at offset: Int) -> Data {
        var bytes: [UInt8] = []
        func put(_ value: UInt64, _ count: Int) {
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
        }
        put(UInt64(identity.utf8.count), 4)
        bytes += identity.utf8
        for number in [levels[0].width, levels[0].height, tileSize] { put(UInt64(number), 4) }
        for entry in entries {
            put(UInt64(entry.offset), 8)
            put(UInt64(entry.byteCount), 4)
            put(entry.checksum, 8)
        }
        let checksum = bytes.withUnsafeBytes { Hashing.xxh3($0) }
        let count = bytes.count
        put(UInt64(offset), 8)
        put(UInt64(count), 8)
        put(checksum, 8)
        return Data(bytes + Self.magic)
    }

    /// Returns the range of the index in a file that ends with `trailer`; nil for an incomplete or damaged file.
    package static func range(trailer: Data, fileByteCount: Int) -> (range: Range<Int>, checksum: UInt64)? {
        guard trailer.count == trailerByteCount, trailer.suffix(8).elementsEqual(magic) else { return nil }
        return trailer.withBytes { bytes in
            let reader = ByteReader(bytes)
            guard let offset = number(reader, 0), let count = number(reader, 8), let checksum = word(reader, 16) else {
                return nil
            }
            let end = fileByteCount - trailerByteCount
            guard offset >= magic.count, count <= maximumTileCount * entryByteCount + maximumIdentityByteCount + 16,
                offset <= end, count == end - offset
            else { return nil }
            return (offset..<end, checksum)
        }
    }

    /// Parses an index; nil if it is damaged. Nothing in it is trusted, as another program can have written it.
    package init?(parsing data: Data, checksum: UInt64, offset: Int) {
        let parsed: PyramidIndex? = data.withBytes { bytes in
            guard Hashing.xxh3(bytes) == checksum else { return nil }
            return Self.parse(ByteReader(bytes), bytes, offset)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    private static func parse(_ reader: ByteReader, _ bytes: UnsafeRawBufferPointer, _ tilesEnd: Int) -> PyramidIndex? {
        guard let length = reader.littleEndian32(0).map({ Int($0) }), length <= maximumIdentityByteCount,
            let width = reader.littleEndian32(4 + length).map({ Int($0) }),
            let height = reader.littleEndian32(8 + length).map({ Int($0) }),
            let tileSize = reader.littleEndian32(12 + length).map({ Int($0) }),
            (64...2048).contains(tileSize), (1...ImageLimits.longestSide).contains(width),
            (1...ImageLimits.longestSide).contains(height),
            isAllowed(RegionLevel(width: width, height: height), tileSize),
            let identity = String(validating: bytes[4..<4 + length], as: UTF8.self)
        else { return nil }
        var index = PyramidIndex(
            identity: identity,
            size: RegionLevel(width: width, height: height),
            tileSize: tileSize
        )
        guard bytes.count == 16 + length + index.entries.count * entryByteCount else { return nil }
        for tile in index.entries.indices {
            let place = 16 + length + tile * entryByteCount
            guard let offset = number(reader, place), let count = reader.littleEndian32(place + 8),
                let checksum = word(reader, place + 12), offset <= tilesEnd, Int(count) <= tilesEnd - offset
            else { return nil }
            index.entries[tile] = Entry(offset: offset, byteCount: Int(count), checksum: checksum)
        }
        return index
    }

    private static func word(_ reader: ByteReader, _ offset: Int) -> UInt64? {
        guard let low = reader.littleEndian32(offset), let high = reader.littleEndian32(offset + 4) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    private static func number(_ reader: ByteReader, _ offset: Int) -> Int? {
        word(reader, offset).flatMap { $0 < 1 << 62 ? Int($0) : nil }
    }
}
