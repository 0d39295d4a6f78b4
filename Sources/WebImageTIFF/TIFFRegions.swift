import CTIFFShims
package import FoundationEssentials
package import WebImageCodecs

/// Regions of a tiled TIFF: tiles of the full image, and of smaller ones in the same file.
final class TIFFRegions: RegionSource {
    private let bytes: RegionBytes
    private let properties: ImageProperties
    private let levels: [RegionLevel]
    private let options: RegionOptions
    /// The offsets of the directories of the levels: 0 for the first image, nil for a level that the file does not have.
    private let directories: [Int?]
    /// The colour profile of the first image; many programs write none for smaller ones.
    private let profile: Data?

    /// The number of levels in a row that are made from a larger one.
    private static let mostReductions = 2
    private static let mostDirectories = 32

    /// Returns nil if the image is not tiled, has pixels that are converted with a view to the whole image, or lacks levels.
    init?(
        _ bytes: RegionBytes,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions
    ) throws(WebImageError) {
        let found = try bytes.data(options.limits).withBytes {
            (data) throws(WebImageError) -> (directories: [Int?], profile: Data?)? in
            let file = try TIFFFile(data, limits: options.headerLimits)
            guard try Self.isReadable(file) else { return nil }
            var directories: [Int?] = [0] + levels.dropFirst().map { _ in nil }
            for offset in file.reducedImages(most: Self.mostDirectories) {
                guard let other = try? TIFFFile(data, limits: options.headerLimits, directory: offset),
                    (try? Self.isReadable(other)) == true, other.isAlike(file)
                else { continue }
                let level = levels.indices.dropFirst().first { level in
                    let size = Self.stored(levels[level], properties)
                    // Some programs round down.
                    return (size.width - 1...size.width) ~= other.width
                        && (size.height - 1...size.height) ~= other.height
                }
                if let level, directories[level] == nil { directories[level] = offset }
            }
            return (directories, file.colorProfile(options.limits))
        }
        guard let found else { return nil }
        var missing = 0
        for directory in found.directories {
            missing = directory == nil ? missing + 1 : 0
            guard missing <= Self.mostReductions || options.usesOnlyFullSize else { return nil }
        }
        (self.bytes, self.properties, self.levels, self.options) = (bytes, properties, levels, options)
        (directories, profile) = found
    }

    var isNative: Bool { true }

    private static func stored(_ level: RegionLevel, _ properties: ImageProperties) -> RegionLevel {
        guard properties.orientation.swapsSides else { return level }
        return RegionLevel(width: level.height, height: level.width)
    }

    private static func isReadable(_ file: TIFFFile) throws(WebImageError) -> Bool {
        guard file.info.tiled, let pixels = try TIFFPixels(file.info) else { return false }
        return !pixels.isFloat && !pixels.isLight && pixels.model != .lab
    }

    func read(_ area: PixelArea, level: Int, check: RegionCheck) throws(WebImageError) -> Image {
        let stored = area.stored(from: properties.orientation, in: levels[level])
        let bitmap = try pixels(stored, level, check)
        return try options.image(ofStored: bitmap, properties, level: level)
    }

    /// Returns a part of a level as stored.
    private func pixels(_ area: PixelArea, _ level: Int, _ check: RegionCheck) throws(WebImageError) -> Bitmap {
        guard let directory = directories[level] else {
            let size = Self.stored(levels[level - 1], properties)
            let (left, top) = (area.left * 2, area.top * 2)
            let larger = PixelArea(
                left: left,
                top: top,
                width: min(area.width * 2, size.width - left),
                height: min(area.height * 2, size.height - top)
            )
            try options.limits.check(width: larger.width, height: larger.height)
            try options.limits.check(decodedByteCount: larger.width * larger.height * 4)
            return try pixels(larger, level - 1, check).halved()
        }
        return try bytes.data(options.limits).withBytes { (data) throws(WebImageError) in
            let file = try TIFFFile(data, limits: options.headerLimits, directory: directory)
            guard try Self.isReadable(file), let pixels = try TIFFPixels(file.info) else {
                throw WebImageError(.badImageData, "the TIFF file has changed")
            }
            return try decode(area, file, pixels, check)
        }
    }

    private func decode(
        _ area: PixelArea,
        _ file: TIFFFile,
        _ pixels: TIFFPixels,
        _ check: RegionCheck
    ) throws(WebImageError) -> Bitmap {
        let (tileWidth, tileHeight) = (Int(file.info.tile_width), Int(file.info.tile_height))
        guard tileWidth > 0, tileHeight > 0 else { throw WebImageError(.badImageData, "TIFF: invalid tile size") }
        // A level that was rounded down lacks a column or a row, which repeats the last one.
        let (right, bottom) = (min(area.right, file.width), min(area.bottom, file.height))
        let first = min(area.left, file.width - 1) / tileWidth * tileWidth
        let top = min(area.top, file.height - 1)
        let rows = try TIFFRowReader(
            file,
            pixels: pixels,
            limits: options.limits,
            columns: first..<min((max(right, first + 1) + tileWidth - 1) / tileWidth * tileWidth, file.width),
            firstRow: top / tileHeight * tileHeight,
            inheritedProfile: profile
        )
        let assembler = try RegionRows(rows, width: area.width, height: area.height, options: options.decoding)
        let skipped = top - top / tileHeight * tileHeight
        try assembler.read(
            left: min(area.left, file.width - 1) - first,
            skipping: skipped,
            available: (width: max(right - area.left, 1), height: max(bottom - area.top, 1)),
            check: check
        )
        return assembler.bitmap
    }
}

extension TIFFFile {
    /// Returns the offsets of the directories of smaller versions of the first image.
    fileprivate func reducedImages(most: Int) -> [Int] {
        var offsets = [UInt64](repeating: 0, count: most)
        let count = webimage_tiff_reduced_images(reader, &offsets, offsets.count)
        return offsets.prefix(count).compactMap { Int(exactly: $0) }
    }

    /// Returns whether the pixels of both are of one kind.
    fileprivate func isAlike(_ other: TIFFFile) -> Bool {
        info.photometric == other.info.photometric && info.bits_per_sample == other.info.bits_per_sample
            && info.samples_per_pixel == other.info.samples_per_pixel && info.extra_count == other.info.extra_count
    }
}

extension TIFFCoder: RegionCoder, RowCoder {
    package func regions(
        of bytes: RegionBytes,
        properties: ImageProperties,
        levels: [RegionLevel],
        options: RegionOptions
    ) throws(WebImageError) -> (any RegionSource)? {
        try TIFFRegions(bytes, properties: properties, levels: levels, options: options)
    }

    package func rows(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> (any ScanlineSource)? {
        // The address of data that is not changed stays valid as long as the caller retains it.
        let file = try TIFFFile(data.withBytes { $0 }, limits: options.limits)
        guard let pixels = try TIFFPixels(file.info) else { return try TIFFConvertedRows(file, limits: options.limits) }
        // The highlights of floating-point images are looked for in the whole image.
        guard !pixels.isFloat else { return nil }
        let isWide = pixels.model == .lab && pixels.bits > 8
        return try TIFFRowReader(file, pixels: pixels, limits: options.limits, isHighBitDepth: isWide)
    }
}
