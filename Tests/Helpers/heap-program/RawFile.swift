import FoundationEssentials

/// Uncompressed DNG files of three megapixels.
enum RawFile {
    static var all: [(name: String, data: Data)] {
        [
            ("mosaic", dng(colors: 32_803, samples: 1)), ("monochrome", dng(colors: 34_892, samples: 1)),
            ("linear", dng(colors: 34_892, samples: 3)),
        ]
    }

    private static let (width, height) = (2048, 1536)
    private static let (short, long, byte, ascii) = (3, 4, 1, 2)

    private static func dng(colors: Int, samples: Int) -> Data {
        let pixels = width * height * samples
        var entries: [(tag: Int, type: Int, values: [Int])] = [
            (254, long, [0]), (256, long, [width]), (257, long, [height]),
            (258, short, Array(repeating: 16, count: samples)), (259, short, [1]), (262, short, [colors]),
            (271, ascii, Array("WebImage".utf8).map(Int.init) + [0]),
            (272, ascii, Array("Heap".utf8).map(Int.init) + [0]),
            (273, long, [0]), (277, short, [samples]), (278, long, [height]), (279, long, [2 * pixels]),
            (284, short, [1]), (50_706, byte, [1, 4, 0, 0]), (50_717, long, [65_535]),
        ]
        if colors == 32_803 { entries += [(33_421, short, [2, 2]), (33_422, byte, [0, 1, 1, 2])] }
        entries.sort { $0.tag < $1.tag }
        var directory = bytes(entries.count, 2)
        var values: [UInt8] = []
        let start = 8 + 2 + 12 * entries.count + 4
        let valueCount = entries.map { $0.values.count * size($0.type) }
            .reduce(0) { $0 + ($1 > 4 ? ($1 + 1) & ~1 : 0) }
        for entry in entries {
            let content = entry.tag == 273 ? [start + valueCount] : entry.values
            var packed = content.flatMap { bytes($0, size(entry.type)) }
            directory += bytes(entry.tag, 2) + bytes(entry.type, 2) + bytes(content.count, 4)
            if packed.count > 4 {
                directory += bytes(start + values.count, 4)
                values += packed + Array(repeating: 0, count: packed.count & 1)
            } else {
                packed += Array(repeating: 0, count: 4 - packed.count)
                directory += packed
            }
        }
        var data = Data([0x49, 0x49, 42, 0, 8, 0, 0, 0] + directory + [0, 0, 0, 0] + values)
        data.append(Data(count: 2 * pixels))
        // Detail everywhere.
        data.withUnsafeMutableBytes { all in
            let samples = all.dropFirst(start + valueCount)
            for index in samples.indices { all[index] = UInt8(truncatingIfNeeded: index &* 31 ^ index >> 7) }
        }
        return data
    }

    private static func size(_ type: Int) -> Int { type == long ? 4 : type == short ? 2 : 1 }

    private static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
