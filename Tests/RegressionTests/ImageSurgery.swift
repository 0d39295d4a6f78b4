import FoundationEssentials
import ModelTestSupport
import TestSupport
import WebImage

@testable import WebImageCodecs

/// Changes to files of images that keep the image.
enum ImageSurgery {
    /// The same image with `count` bytes of other data before its pixels, as cameras and editors leave them there.
    static func withPreamble(_ data: Data, count: Int) -> Data {
        let bytes = [UInt8](data)
        let filling = pattern(count)
        switch bytes.prefix(4) {
        case [0xFF, 0xD8, 0xFF, bytes[3]]: return insert(jpegSegments(filling), into: bytes, at: 2)
        case [0x89, 0x50, 0x4E, 0x47]: return insert(pngChunk("teXt", filling), into: bytes, at: 33)
        case [0x47, 0x49, 0x46, 0x38]:
            let palette = bytes[10] & 0x80 == 0 ? 0 : 3 << (Int(bytes[10] & 7) + 1)
            return insert([0x21, 0xFE] + gifBlocks(filling), into: bytes, at: 13 + palette)
        default: return extendedWebP(bytes, filling)
        }
    }

    private static func insert(_ piece: [UInt8], into bytes: [UInt8], at index: Int) -> Data {
        Data(bytes[..<index] + piece + bytes[index...])
    }

    /// Application segments and comments, as big as they can be.
    private static func jpegSegments(_ filling: [UInt8]) -> [UInt8] {
        let markers: [UInt8] = [0xE1, 0xE2, 0xED, 0xFE]
        var output: [UInt8] = []
        for (number, start) in stride(from: 0, to: filling.count, by: 65_533).enumerated() {
            let body = filling[start..<min(start + 65_533, filling.count)]
            let length = body.count + 2
            output += [0xFF, markers[number % 4], UInt8(length >> 8), UInt8(length & 255)] + body
        }
        return output
    }

    static func pngChunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let typed = Array(type.utf8) + body
        return bigEndian(UInt32(body.count)) + typed + bigEndian(CRC32.of(typed))
    }

    private static func gifBlocks(_ filling: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for start in stride(from: 0, to: filling.count, by: 255) {
            let block = filling[start..<min(start + 255, filling.count)]
            output += [UInt8(block.count)] + block
        }
        return output + [0]
    }

    /// A simple lossy file in the extended form, with an invalid colour profile before the pixels.
    private static func extendedWebP(_ bytes: [UInt8], _ filling: [UInt8]) -> Data {
        // The size of the image follows the start code of its key frame.
        let width = Int(bytes[26]) | Int(bytes[27] & 0x3F) << 8
        let height = Int(bytes[28]) | Int(bytes[29] & 0x3F) << 8
        let header: [UInt8] = [0x20, 0, 0, 0] + littleEndian(width - 1, 3) + littleEndian(height - 1, 3)
        let padding: [UInt8] = filling.count % 2 == 0 ? [] : [0]
        let chunks: [UInt8] =
            Array("VP8X".utf8) + littleEndian(10, 4) + header + Array("ICCP".utf8) + littleEndian(filling.count, 4)
            + filling + padding + bytes[12...]
        return Data(Array("RIFF".utf8) + littleEndian(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { littleEndian(Int(value), 4).reversed() }

    private static func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> ($0 * 8) & 255) }
    }
}

/// Seconds that the file gives for each frame; read by other means than the coders'.
enum FrameTimes {
    static func read(_ data: Data) -> [Double] {
        let bytes = [UInt8](data)
        return switch bytes[0] {
        case 0x89: png(bytes)
        case 0x47: gif(bytes)
        default: webP(bytes)
        }
    }

    private static func number(_ bytes: [UInt8], _ index: Int, _ count: Int, big: Bool = false) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[index + $1]) << (8 * (big ? count - 1 - $1 : $1)) }
    }

    private static func png(_ bytes: [UInt8]) -> [Double] {
        var (times, position): ([Double], Int) = ([], 8)
        while position + 12 <= bytes.count {
            let isControl = Array(bytes[position + 4..<position + 8]) == Array("fcTL".utf8)
            if isControl {
                let unit = number(bytes, position + 30, 2, big: true)
                times.append(Double(number(bytes, position + 28, 2, big: true)) / Double(unit == 0 ? 100 : unit))
            }
            position += 12 + number(bytes, position, 4, big: true)
        }
        return times
    }

    private static func webP(_ bytes: [UInt8]) -> [Double] {
        var (times, position): ([Double], Int) = ([], 12)
        while position + 8 <= bytes.count {
            let size = number(bytes, position + 4, 4)
            let isFrame = Array(bytes[position..<position + 4]) == Array("ANMF".utf8)
            if isFrame { times.append(Double(number(bytes, position + 20, 3)) / 1000) }
            position += 8 + size + size % 2
        }
        return times
    }

    private static func gif(_ bytes: [UInt8]) -> [Double] {
        func palette(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        var (times, delay, position): ([Double], Double, Int) = ([], 0, 13 + palette(bytes[10]))
        func skipBlocks() {
            while bytes[position] != 0 { position += 1 + Int(bytes[position]) }
            position += 1
        }
        while position < bytes.count, bytes[position] != 0x3B {
            if bytes[position] == 0x21 {
                if bytes[position + 1] == 0xF9 { delay = Double(number(bytes, position + 4, 2)) / 100 }
                position += 2
            } else {
                times.append(delay)
                position += 11 + palette(bytes[position + 9])
            }
            skipBlocks()
        }
        return times
    }
}
