package import FoundationEssentials

/// The `Accept` field that asks servers for what a manager's coders take.
package struct AcceptField: Sendable, Equatable {
    package var value: String
    /// Grows whenever coders come or go.
    package var generation: UInt64

    package init(value: String, generation: UInt64) { (self.value, self.generation) = (value, generation) }
}

extension AcceptField {
    /// Formats in the order in which they are asked for, the most economical first, with the least bytes that tell each.
    static let samples: [(format: ImageFormat, start: Data)] = [
        (.avif, box("avif")),
        (.jpegXL, Data([0xFF, 0x0A])),
        (.webp, text("RIFF\0\0\0\0WEBPVP8 ")),
        (.heic, box("heic")),
        (.heif, box("mif1")),
        (.svg, text("<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>")),
        (.png, Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])),
        (.jpeg, Data([0xFF, 0xD8, 0xFF, 0xE0])),
        (.gif, text("GIF89a")),
        (.tiff, text("II*\0")),
        // The size of the second header tells it, at offset 14.
        (.bmp, text("BM\0\0\0\0\0\0\0\0\0\0\0\0(\0\0\0")),
        // A directory of one entry.
        (.ico, Data([0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        (.pdf, text("%PDF-1.7")),
    ]

    /// The types of the formats that are taken, and anything else for want of better.
    ///
    /// - Parameter takes: whether data that starts like this is taken.
    package static func value(takes: (Data) -> Bool) -> String {
        let types = samples.filter { takes($0.start) }.map(\.format.mimeType)
        return (types + ["*/*;q=0.1"]).joined(separator: ",")
    }

    private static func text(_ text: String) -> Data { Data(text.utf8) }

    /// The first box of a file with this brand, 20 bytes long.
    private static func box(_ brand: String) -> Data { text("\0\0\0\u{14}ftyp\(brand)\0\0\0\0\(brand)") }
}
