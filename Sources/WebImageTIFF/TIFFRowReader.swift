import CPixels
import CTIFFShims
import FoundationEssentials
import WebImageCodecs

/// Reads the rows of an image whose samples are converted here. Strips are decoded row by row; of tiles a row of them is held, which must fit into
/// ``ImageLimits/maximumDecodedByteCount``.
final class TIFFRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?
    let color: SourceColor?

    private let file: TIFFFile
    private let limits: ImageLimits
    private let pixels: TIFFPixels
    private let samples: TIFFSamples
    private let lab: LabTransform?
    private let wideColors: TIFFHighBitDepthColors?
    /// The buffer for one row of each plane, or for a row of tiles of each plane.
    private let raw: ScratchBuffer
    private let planeBytes: Int
    /// The buffer for one row of bytes for each component.
    private let components: ScratchBuffer
    private let componentCount: Int
    /// The column of the image that the rows begin with.
    private let left: Int
    private var nextRow: Int
    /// The index of the row of tiles in the buffer.
    private var band = -1

    /// - Parameters:
    ///   - isHighBitDepth: return samples at full precision, as floats.
    ///   - columns: the part of the rows of a tiled image that is returned, from the start of a tile on.
    ///   - firstRow: the first row of a tiled image that is returned, the first one of a tile.
    ///   - inheritedProfile: the colour profile if the image has none.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    init(
        _ file: TIFFFile,
        pixels: TIFFPixels,
        limits: ImageLimits,
        isHighBitDepth: Bool = false,
        columns: Range<Int>? = nil,
        firstRow: Int = 0,
        inheritedProfile: Data? = nil
    ) throws(WebImageError) {
        self.file = file
        self.limits = limits
        self.pixels = pixels
        width = columns?.count ?? file.width
        left = columns?.lowerBound ?? 0
        height = file.height
        nextRow = firstRow
        let block = try TIFFBlock(file.info, pixels, limits, width: width)
        samples = TIFFSamples(pixels, file.info)
        lab = pixels.model == .lab && !isHighBitDepth ? try LabTransform() : nil
        let profile = pixels.model == .lab ? nil : file.colorProfile(limits) ?? inheritedProfile
        wideColors = isHighBitDepth ? try TIFFHighBitDepthColors(pixels.model, profile) : nil
        color = isHighBitDepth && pixels.isLight ? SourceColor(primaries: 1, transferCharacteristics: 8) : nil
        colorProfile = wideColors?.isFinal == true || pixels.isLight ? nil : profile
        layout = isHighBitDepth ? .rgbaFloat : pixels.layout(hasProfile: colorProfile != nil)
        planeBytes = block.planeBytes
        raw = try ScratchBuffer(byteCount: block.byteCount)
        componentCount = pixels.channels.count + (pixels.model == .palette ? 2 : 0)
        components = try ScratchBuffer(byteCount: isHighBitDepth ? 1 : width * componentCount)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for index in 0..<count {
            let output = base + index * bytesPerRow
            if let wideColors {
                try readHighBitDepthRow(wideColors, into: output.assumingMemoryBound(to: Float.self))
            } else if isDirect {
                try readRow(nextRow, into: output, plane: 0)
            } else {
                try forEachPiece { (offset, x, count) in convert(offset: offset, x: x, count: count) }
                interleave(to: output.assumingMemoryBound(to: UInt8.self))
                lab?.convert(output, count: width)
            }
            nextRow += 1
        }
    }

    /// A Boolean value that indicates whether stored rows already have the layout.
    private var isDirect: Bool {
        !file.info.tiled && !file.info.separate_planes && pixels.bits == 8 && !pixels.isSigned && !pixels.isInverted
            && pixels.model != .palette && lab == nil && layout != .bgra8Premultiplied
            && pixels.samples == layout.bytesPerPixel
            && (pixels.alpha ?? 3) == 3 && planeBytes == width * layout.bytesPerPixel
    }

    private func readRow(_ row: Int, into buffer: UnsafeMutableRawPointer, plane: Int) throws(WebImageError) {
        guard webimage_tiff_read_row(file.reader, buffer, UInt32(row), UInt16(plane)) else {
            throw TIFFFile.error(of: file.reader, limits)
        }
    }

    /// Reads the next row, and calls `body` with the places of its pixels in `raw`: those from `x` on are at `offset`.
    private func forEachPiece(_ body: (_ offset: Int, _ x: Int, _ count: Int) -> Void) throws(WebImageError) {
        let info = file.info
        guard info.tiled else {
            for (index, channel) in (info.separate_planes ? pixels.channels : [0]).enumerated() {
                try readRow(nextRow, into: raw.base + index * planeBytes, plane: channel)
            }
            return body(0, 0, width)
        }
        let tileHeight = Int(info.tile_height)
        let tileWidth = Int(info.tile_width)
        if nextRow / tileHeight != band { try readBand(nextRow / tileHeight) }
        let rowInTile = nextRow % tileHeight
        for (tile, x) in stride(from: 0, to: width, by: tileWidth).enumerated() {
            body(tile * Int(info.tile_bytes) + rowInTile * Int(info.row_bytes), x, min(tileWidth, width - x))
        }
    }

    private func readBand(_ number: Int) throws(WebImageError) {
        let info = file.info
        for (index, channel) in (info.separate_planes ? pixels.channels : [0]).enumerated() {
            for (tile, x) in stride(from: 0, to: width, by: Int(info.tile_width)).enumerated() {
                let buffer = raw.base + index * planeBytes + tile * Int(info.tile_bytes)
                let y = UInt32(number) * info.tile_height
                let count = Int(info.tile_bytes)
                guard webimage_tiff_read_tile(file.reader, buffer, count, UInt32(left + x), y, UInt16(channel)) else {
                    throw TIFFFile.error(of: file.reader, limits)
                }
            }
        }
        band = number
    }

    /// Returns the first sample of a channel at `offset`, and the distance between samples.
    private func place(_ index: Int, _ channel: Int, _ offset: Int) -> TIFFSamples.Place {
        let isSeparate = file.info.separate_planes
        return TIFFSamples.Place(
            raw: raw.base + offset + (isSeparate ? index * planeBytes : 0),
            first: isSeparate ? 0 : channel,
            step: isSeparate ? 1 : pixels.samples
        )
    }

    private func convert(offset: Int, x: Int, count: Int) {
        for (index, channel) in pixels.channels.enumerated() {
            // A palette index becomes three components.
            let row = index > 0 && pixels.model == .palette ? index + 2 : index
            samples.convert(
                place(index, channel, offset),
                count: count,
                channel: channel,
                to: components.bytes + row * width + x,
                rowLength: width
            )
        }
    }

    private func readHighBitDepthRow(
        _ colors: TIFFHighBitDepthColors,
        into row: UnsafeMutablePointer<Float>
    ) throws(WebImageError) {
        try forEachPiece { (offset, x, count) in
            for (index, channel) in pixels.channels.enumerated() {
                let slot = channel == pixels.alpha ? 3 : index
                samples.widen(place(index, channel, offset), count: count, channel: channel, to: row + 4 * x + slot)
            }
        }
        colors.convert(row, count: width)
        if pixels.alpha == nil {
            for x in 0..<width { row[4 * x + 3] = 1 }
        } else if pixels.isAssociated {
            cpixels_unpremultiply_floats(row, width)
        }
    }

    private func interleave(to output: UnsafeMutablePointer<UInt8>) {
        let rows = components.bytes
        guard pixels.alpha != nil else {
            for channel in 0..<componentCount {
                for x in 0..<width { output[x * componentCount + channel] = rows[channel * width + x] }
            }
            return
        }
        let isGray = pixels.model == .gray
        let alpha = rows + (componentCount - 1) * width
        for x in 0..<width {
            let opacity = alpha[x]
            for channel in 0..<3 {
                let value = rows[(isGray ? 0 : channel) * width + x]
                switch (layout, pixels.isAssociated) {
                case (.bgra8Premultiplied, _): output[4 * x + 2 - channel] = min(value, opacity)
                case (_, true): output[4 * x + channel] = Self.straight(value, opacity)
                default: output[4 * x + channel] = value
                }
            }
            output[4 * x + 3] = opacity
        }
    }

    private static func straight(_ value: UInt8, _ alpha: UInt8) -> UInt8 {
        guard alpha > 0 else { return 0 }
        let alpha = Int(alpha)
        return UInt8(min((Int(value) * 255 + alpha / 2) / alpha, 255))
    }
}
