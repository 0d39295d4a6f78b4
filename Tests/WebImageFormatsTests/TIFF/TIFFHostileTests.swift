import FoundationEssentials
import ModelTestSupport
import TestSupport
import Testing
import WebImage
import WebImageTIFF

/// Small files that claim large amounts.
@Suite(.tags(.addressSanitizer), .timeLimit(.minutes(10))) struct TIFFHostileTests {
    private let coder = TIFFCoder()

    /// A little-endian file of a directory, and the data after it.
    private func file(_ entries: [(tag: UInt16, type: UInt16, values: [UInt32])], pixels: [UInt8]) -> Data {
        func bytes(_ value: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let sorted = entries.sorted { $0.tag < $1.tag }
        var place = UInt32(8 + 2 + 12 * entries.count + 4)
        var directory = bytes(UInt32(entries.count), 2)
        var extra: [UInt8] = []
        for entry in sorted {
            let size = entry.type == 3 ? 2 : 4
            let data = entry.values.flatMap { bytes($0, size) }
            directory +=
                bytes(UInt32(entry.tag), 2) + bytes(UInt32(entry.type), 2) + bytes(UInt32(entry.values.count), 4)
            directory += data.count <= 4 ? data + [UInt8](repeating: 0, count: 4 - data.count) : bytes(place, 4)
            guard data.count > 4 else { continue }
            extra += data
            place += UInt32(data.count)
        }
        return Data([0x49, 0x49, 0x2A, 0] + bytes(8, 4) + directory + bytes(0, 4) + extra + pixels)
    }

    private func error(_ data: Data, box: Int? = nil) -> WebImageError? {
        var options = ImageDecodeOptions()
        options.thumbnailPixelSize = box.map { ImageSize(width: $0, height: $0) }
        do throws(WebImageError) {
            _ = try coder.decode(data, options: options)
            return nil
        } catch { return error }
    }

    @Test(arguments: [2_600_000_000, 4_294_967_280, 65_536, 1 << 31] as [UInt32])
    func `Tiles of more bytes than can be counted are refused`(side: UInt32) {
        for compression: UInt32 in [1, 7] {
            let data = file(
                [
                    (256, 4, [16]), (257, 4, [16]), (258, 3, [8, 8, 8]), (259, 3, [compression]), (262, 3, [6]),
                    (277, 3, [3]), (284, 3, [1]), (322, 4, [side]), (323, 4, [side]), (324, 4, [8]), (325, 4, [100]),
                    (530, 3, [4, 4]),
                ],
                pixels: [UInt8](repeating: 0, count: 200)
            )
            #expect(error(data) != nil && error(data, box: 4) != nil)
            _ = try? coder.properties(of: data, limits: ImageLimits())
        }
    }

    @Test(arguments: [9, 10, 32_908, 32_947, 34_661, 34_712, 50_002, 65_535] as [UInt32], [2, 6] as [UInt32])
    func `Compressions that take sizes from their own bytes, and unknown ones, are refused`(
        compression: UInt32,
        photometric: UInt32
    ) {
        // A JBIG header that claims 2147483647 pixels a side: libjbig ends the process without memory for that.
        let head: [UInt8] = [
            0, 0, 1, 0, 0x7F, 255, 255, 255, 0x7F, 255, 255, 255, 0x7F, 255, 255, 255, 0, 0, 0, 0, 255, 2,
        ]
        let data = file(
            [
                (256, 4, [64]), (257, 4, [64]), (258, 3, [8, 8, 8]), (259, 3, [compression]), (262, 3, [photometric]),
                (273, 4, [8]), (277, 3, [3]), (278, 4, [64]), (279, 4, [100]), (284, 3, [1]), (530, 3, [1, 1]),
            ],
            pixels: head + [UInt8](repeating: 0, count: 100)
        )
        #expect(error(data)?.code == .unsupportedFormat && error(data, box: 4)?.code == .unsupportedFormat)
        #expect(throws: WebImageError.self) { try coder.memoryNeed(of: data, options: .init()) }
    }

    @Test(arguments: [1, 2] as [UInt32])
    func `Thousands of unused samples are not decoded`(planar: UInt32) throws {
        // All strips are the same few bytes.
        let rows = 400
        let data = file(
            [
                (256, 4, [10_000]), (257, 4, [UInt32(rows)]), (258, 3, [8]), (259, 3, [8]), (262, 3, [1]),
                (277, 3, [60_000]), (278, 3, [1]), (273, 4, [UInt32](repeating: 8, count: rows)), (284, 3, [planar]),
                (279, 4, [UInt32](repeating: 100, count: rows)),
            ],
            pixels: [UInt8](repeating: 0, count: 200)
        )
        let refused = try #require(error(data, box: 10))
        guard planar == 1 else { return }
        #expect(refused.limit?.required == Int64(10_000 * 60_000 * rows))
    }

    @Test func `Samples beside the colours are skipped`() throws {
        // Of forty, the first is grey.
        let pixels = (0..<4).flatMap { (pixel: Int) -> [UInt8] in
            [UInt8(pixel * 60)] + [UInt8](repeating: 255, count: 39)
        }
        let data = file(
            [
                (256, 4, [2]), (257, 4, [2]), (258, 3, [8]), (259, 3, [1]), (262, 3, [1]), (277, 3, [40]),
                (278, 3, [2]),
                (273, 4, [8 + 2 + 12 * 10 + 4 + 78]), (279, 4, [160]), (338, 3, [UInt32](repeating: 0, count: 39)),
            ],
            pixels: pixels
        )
        let image = try coder.decode(data, options: ImageDecodeOptions())
        let found = [(0, 0), (1, 0), (0, 1), (1, 1)].map { image.bitmap.premultipliedRGBA(x: $0.0, y: $0.1)[0] }
        #expect(found == [0, 60, 120, 180])
    }
}
