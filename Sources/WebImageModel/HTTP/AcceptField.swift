package import FoundationEssentials

/// The `Accept` field that lists the formats of a manager's coders.
package struct AcceptField: Sendable, Equatable {
    package var value: String
    /// The generation of the list of coders; increases whenever a coder is added or removed.
    package var generation: UInt64

    package init(value: String, generation: UInt64) { (self.value, self.generation) = (value, generation) }
}

extension AcceptField {
    /// Formats in the order in which they are requested, the most economical first, with the fewest bytes that identify each.
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
        // The format is recognized by the size of the second header, at offset 14.
        (.bmp, text("BM\0\0\0\0\0\0\0\0\0\0\0\0(\0\0\0")),
        // A directory of one entry.
        (.ico, Data([0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        (.pdf, text("%PDF-1.7")),
    ]

    /// Returns the types of the supported formats, followed by any other type with low preference.
    ///
    /// - Parameter takes: returns whether data that starts like this is supported.
    package static func value(takes: (Data) -> Bool) -> String {
        let types = samples.filter { takes($0.start) }.map(\.format.mimeType)
        return (types + ["*/*;q=0.1"]).joined(separator: ",")
    }

    private static func text(_ text: String) -> Data { Data(text.utf8) }

    /// Returns the first box of a file with this brand, 20 bytes long.
    private static func box(_ brand: String) -> Data { text("\0\0\0\u{14}ftyp\(brand)\0\0\0\0\(brand)") }
}
