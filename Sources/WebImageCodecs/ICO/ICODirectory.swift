/// The images in an icon or cursor file.
struct ICODirectory: Sendable {
    /// One image: a PNG, or a bitmap without file header.
    struct Entry: Sendable, Hashable {
        var range: Range<Int>
        var isPNG: Bool
        /// Size and depth from the image's own header; those in the directory are often wrong.
        var width: Int
        var height: Int
        var bitsPerPixel: Int
    }

    /// The images whose headers can be read, at least one.
    let entries: [Entry]

    /// - Throws: ``WebImageError/Code/badImageData`` without any readable image, or when one lies outside the file.
    init(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        guard ImageFormat(detecting: bytes) == .ico else { throw WebImageError(.badImageData, "not an icon") }
        let reader = ByteReader(bytes)
        let count = reader.littleEndian16(4) ?? 0
        var entries: [Entry] = []
        for index in 0..<count {
            let place = 6 + 16 * index
            guard let length = reader.littleEndian32(place + 8), let offset = reader.littleEndian32(place + 12),
                let encoded = reader.slice(Int(offset), Int(length))
            else { throw WebImageError(.badImageData, "the icon is damaged: an image is outside the file") }
            // A bitmap's header determines its length; directories often state too little.
            let isPNG = ImageFormat(detecting: UnsafeRawBufferPointer(rebasing: encoded.prefix(8))) == .png
            let whole = isPNG ? encoded : UnsafeRawBufferPointer(rebasing: bytes[Int(offset)...])
            if let entry = Self.entry(whole, isPNG: isPNG, at: Int(offset)) { entries.append(entry) }
        }
        guard !entries.isEmpty else { throw WebImageError(.badImageData, "the icon has no readable image") }
        self.entries = entries
    }

    /// Returns the entry, or nil for data that is neither PNG nor a bitmap; an icon within an icon is neither. The cost does not depend on
    /// the image's size.
    private static func entry(_ bytes: UnsafeRawBufferPointer, isPNG: Bool, at offset: Int) -> Entry? {
        let range = offset..<offset + bytes.count
        if isPNG {
            let reader = ByteReader(bytes)
            let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
            guard reader.bigEndian32(12) == fourCC("IHDR"), let width = reader.bigEndian32(16),
                let height = reader.bigEndian32(20), let depth = reader.byte(24), let type = reader.byte(25),
                width > 0, height > 0
            else { return nil }
            let bits = Int(depth) * (channels[Int(type)] ?? 1)
            return Entry(range: range, isPNG: true, width: Int(width), height: Int(height), bitsPerPixel: bits)
        }
        guard let header = try? BMPHeader(bytes, isIconEntry: true) else { return nil }
        return Entry(
            range: range,
            isPNG: false,
            width: header.width,
            height: header.height,
            bitsPerPixel: header.bitsPerPixel
        )
    }

    /// The image with the most pixels, and of those of equal size the deepest.
    var largest: Entry {
        // The sides are 32-bit numbers; their product may overflow an Int.
        entries.max { (Self.area($0), $0.bitsPerPixel) < (Self.area($1), $1.bitsPerPixel) } ?? entries[0]
    }

    private static func area(_ entry: Entry) -> Double { Double(entry.width) * Double(entry.height) }

    /// Returns the smallest image that is at least that large and has the aspect ratio of the largest; of those of equal size the deepest.
    func smallest(atLeast width: Int, by height: Int) -> Entry {
        let largest = largest
        let fitting = entries.filter { entry in
            let skew = Double(entry.width) * Double(largest.height) - Double(entry.height) * Double(largest.width)
            return entry.width >= width && entry.height >= height
                && abs(skew) <= Double(max(largest.width, largest.height))
        }
        return fitting.min { (Self.area($0), -$0.bitsPerPixel) < (Self.area($1), -$1.bitsPerPixel) } ?? largest
    }
}
