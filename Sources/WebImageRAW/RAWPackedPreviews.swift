import FoundationEssentials
import WebImageCodecs

/// The previews of uncompressed samples, which directories of TIFF describe.
enum RAWPackedPreviews {
    private enum Tag {
        static let (subfileType, width, height, bits) = (254, 256, 257, 258)
        static let (samples, rowsPerStrip, planes) = (277, 278, 284)
    }

    private static let (white, rgb) = (1, 2)
    private static let longestSide = 65_535

    /// Returns the previews whose samples are all in the file. Planes and other samples than of 8 bits are left out.
    static func previews(of bytes: UnsafeRawBufferPointer) -> [RAWPreview] {
        guard let tiff = TIFFStructure(bytes) else { return [] }
        return tiff.directories().compactMap { preview(in: $0, of: tiff) }
    }

    private static func preview(in directory: TIFFStructure.Directory, of tiff: TIFFStructure) -> RAWPreview? {
        func number(_ tag: Int, _ missing: Int) -> Int { tiff.value(tag, in: directory) ?? missing }
        guard let colors = colors(in: directory, of: tiff), number(TIFFStructure.Tag.compression, 1) == 1
        else { return nil }
        let sides = 1...longestSide
        let (width, height) = (number(Tag.width, 0), number(Tag.height, 0))
        guard sides.contains(width), sides.contains(height), number(Tag.planes, 1) == 1 || colors == 1
        else { return nil }
        let bits = tiff.values(Tag.bits, in: directory, atMost: colors)
        guard !bits.isEmpty, bits.allSatisfy({ $0 == 8 }) else { return nil }
        let rowsPerStrip = min(number(Tag.rowsPerStrip, height), height)
        guard rowsPerStrip > 0,
            let strips = strips(of: height, rowsPerStrip, bytesPerRow: width * colors, in: directory, of: tiff)
        else { return nil }
        guard let whole = adjacent(strips) else {
            return RAWPreview(width: width, height: height, layout: .packed(colors: colors), strips: strips)
        }
        return RAWPreview(width: width, height: height, data: Data(unowned: whole), layout: .packed(colors: colors))
    }

    /// Returns 1 for grey, 3 for RGB, nil for others. Grey must be marked as a preview: raw data can look like it.
    private static func colors(in directory: TIFFStructure.Directory, of tiff: TIFFStructure) -> Int? {
        let samples = tiff.value(Tag.samples, in: directory) ?? 1
        switch tiff.value(TIFFStructure.Tag.colors, in: directory) {
        case white where samples == 1:
            return (tiff.value(Tag.subfileType, in: directory) ?? 0) & 1 == 1 ? 1 : nil
        case rgb where samples == 3: return 3
        default: return nil
        }
    }

    /// Returns the strips, which the lengths of the rows give: the tag for them may be missing. Nil if one is missing or too short.
    private static func strips(
        of height: Int,
        _ rowsPerStrip: Int,
        bytesPerRow: Int,
        in directory: TIFFStructure.Directory,
        of tiff: TIFFStructure
    ) -> [UnsafeRawBufferPointer]? {
        let count = (height + rowsPerStrip - 1) / rowsPerStrip
        let offsets = tiff.values(TIFFStructure.Tag.stripOffsets, in: directory, atMost: count)
        let lengths = tiff.values(TIFFStructure.Tag.stripByteCounts, in: directory, atMost: count)
        // Strips that overlap would take more memory than the file.
        guard offsets.count == count, height * bytesPerRow <= tiff.bytes.count else { return nil }
        let reader = ByteReader(tiff.bytes)
        var strips: [UnsafeRawBufferPointer] = []
        for (index, offset) in offsets.enumerated() {
            let length = min(rowsPerStrip, height - index * rowsPerStrip) * bytesPerRow
            guard index >= lengths.count || lengths[index] >= length, let strip = reader.slice(offset, length) else {
                return nil
            }
            strips.append(strip)
        }
        return strips
    }

    /// Returns strips that follow one another as one; nil if they do not.
    private static func adjacent(_ strips: [UnsafeRawBufferPointer]) -> UnsafeRawBufferPointer? {
        guard let first = strips.first?.baseAddress else { return nil }
        var count = 0
        for strip in strips {
            guard strip.baseAddress == first + count else { return nil }
            count += strip.count
        }
        return UnsafeRawBufferPointer(start: first, count: count)
    }
}
