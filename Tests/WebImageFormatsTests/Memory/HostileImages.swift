import FoundationEssentials
import TestSupport

/// Small files that claim big images, or none.
enum HostileImages {
    /// Each by name, with its expected error and the limit if there is one.
    static func all() throws -> [(name: String, body: [UInt8], code: Int, limit: String?)] {
        [
            ("PNG of 30 000 by 30 000", PNGBomb.make(width: 30_000, height: 30_000), 1100, "maximumPixelCount"),
            ("PNG of 9 000 by 9 000", PNGBomb.make(width: 9_000, height: 9_000), 1100, "memoryBudget"),
            ("GIF of 10 001 frames", gif(side: 4_000, frames: 10_001), 1100, "maximumFrameCount"),
            ("GIF of 10 000 frames", gif(side: 8_000, frames: 10_000), 1100, "memoryBudget"),
            ("JPEG of 20 000 by 20 000", try jpeg(side: 20_000), 1100, "maximumPixelCount"),
            ("JPEG of 12 000 by 12 000", try jpeg(side: 12_000), 1100, "memoryBudget"),
            ("WebP of 9 000 by 9 000", webP(side: 9_000), 1100, "memoryBudget"),
            ("AVIF of nothing", isoFile("avif"), 1001, nil),
            ("AVIF of 30 000 by 30 000", try isoFile("AVIF/420.avif", side: 30_000), 1100, nil),
            ("AVIF of 9 000 by 9 000", try isoFile("AVIF/420.avif", side: 9_000), 1100, "memoryBudget"),
            ("HEIC of 30 000 by 30 000", try isoFile("HEIF/420.heic", side: 30_000), 1100, "maximumPixelCount"),
            ("HEIC of 9 000 by 9 000", try isoFile("HEIF/420.heic", side: 9_000), 1100, "memoryBudget"),
            ("JPEG XL of nothing", [0xFF, 0x0A] + [UInt8](repeating: 0xFF, count: 2000), 1001, nil),
            ("JPEG XL of 30 000 by 30 000", jpegXL(side: 30_000), 1100, "maximumPixelCount"),
            ("JPEG XL of 5 500 by 5 500", jpegXL(side: 5_500), 1100, "memoryBudget"),
            ("icon in an icon", icon(icon(icon(PNGBomb.make(width: 16, height: 16)))), 1001, nil),
            ("icon of 20 000 by 20 000", icon(PNGBomb.make(width: 20_000, height: 20_000)), 1100, "maximumPixelCount"),
            ("SVG of a billion laughs", laughs(), 1001, nil),
            ("text", Array("<html>not a picture</html>".utf8), 1001, nil),
        ]
    }

    /// A canvas of `side` by `side`, whose frames are of one pixel.
    static func gif(side: Int, frames: Int) -> [UInt8] {
        let (low, high) = (UInt8(side & 255), UInt8(side >> 8))
        var file = Array("GIF89a".utf8) + [low, high, low, high, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        for _ in 0..<frames { file += [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0] }
        return file + [0x3B]
    }

    /// A progressive image with a false size, its scans more than a hundred times.
    static func jpeg(side: Int) throws -> [UInt8] {
        var file = [UInt8](try Fixtures.data("JPEG/progressive.jpg"))
        var place = 2
        while file[place + 1] != 0xC2 { place += 2 + Int(file[place + 2]) << 8 + Int(file[place + 3]) }
        let (low, high) = (UInt8(side & 255), UInt8(side >> 8))
        file.replaceSubrange(place + 5..<place + 9, with: [high, low, high, low])
        var start = place
        while file[start] != 0xFF || file[start + 1] != 0xDA { start += 1 }
        let scans = Array(file[start...].dropLast(2))
        let times = min(100, (1 << 20) / max(scans.count, 1))
        return Array(file.dropLast(2)) + (0..<times).flatMap { _ in scans } + [0xFF, 0xD9]
    }

    /// A lossless image of only a header.
    static func webP(side: Int) -> [UInt8] {
        let bits = UInt32(side - 1) | UInt32(side - 1) << 14
        let image = [0x2F] + littleEndian(bits) + [UInt8](repeating: 0x55, count: 995)
        let chunk = Array("VP8L".utf8) + littleEndian(UInt32(image.count)) + image
        return Array("RIFF".utf8) + littleEndian(UInt32(chunk.count + 4)) + Array("WEBP".utf8) + chunk
    }

    /// An image that claims to be a square of that side; the sequence header inside has the real size.
    static func isoFile(_ name: String, side: Int) throws -> [UInt8] {
        var file = [UInt8](try Fixtures.data(name))
        let box = Array("ispe".utf8)
        let number = withUnsafeBytes(of: UInt32(side).bigEndian) { [UInt8]($0) }
        for place in file.indices.dropLast(16) where file[place..<place + 4].elementsEqual(box) {
            file.replaceSubrange(place + 8..<place + 16, with: number + number)
        }
        return file
    }

    /// A square, by its header, without any data to decode.
    static func jpegXL(side: Int) -> [UInt8] {
        // From the lowest bit on: not a multiple of eight, a height of 30 bits, as wide as high, and all else as usual.
        let fixed: UInt64 = 3 << 1 | 1 << 33 | 1 << 36 | 1 << 37
        let bits = fixed | UInt64(side - 1) << 3
        let header = withUnsafeBytes(of: bits.littleEndian) { [UInt8]($0) }
        return [0xFF, 0x0A] + header + [UInt8](repeating: 0x55, count: 1000)
    }

    static func isoFile(_ brand: String) -> [UInt8] {
        var file: [UInt8] = [0, 0, 0, 20]
        file += "ftyp\(brand)".utf8
        file += [0, 0, 0, 0]
        file += brand.utf8
        return file + [UInt8](repeating: 0x7F, count: 500)
    }

    /// An icon with one image, whose directory has no size.
    static func icon(_ image: [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 32, 0]
        file += littleEndian(UInt32(image.count))
        file += littleEndian(22)
        return file + image
    }

    static func laughs() -> [UInt8] {
        var text = "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY l0 \"ha\">"
        for level in 1...9 {
            let below = String(repeating: "&l\(level - 1);", count: 10)
            text += "<!ENTITY l\(level) \"\(below)\">"
        }
        return Array((text + "]><svg xmlns=\"http://www.w3.org/2000/svg\"><text>&l9;</text></svg>").utf8)
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
}
