import CTIFFShims
import FoundationEssentials
import WebImage

/// Rows of a picture whose samples are converted here. In strips they are decoded one by one; of tiles a row of them is held,
/// which must fit ``ImageLimits/maximumDecodedByteCount``.
final class TIFFRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?

    private let file: TIFFFile
    private let limits: ImageLimits
    private let pixels: TIFFPixels
    private let samples: TIFFSamples
    private let lab: LabTransform?
    /// One row of each plane, or all tiles that are next to each other, of each plane.
    private let raw: ScratchBuffer
    private let planeBytes: Int
    /// One row of bytes for each component.
    private let components: ScratchBuffer
    private let componentCount: Int
    private var nextRow = 0
    /// The row of tiles that is held.
    private var band = -1

    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ file: TIFFFile, pixels: TIFFPixels, limits: ImageLimits) throws(WebImageError) {
        self.file = file
        self.limits = limits
        self.pixels = pixels
        width = file.width
        height = file.height
        samples = TIFFSamples(pixels, file.info)
        lab = pixels.model == .lab ? try LabTransform() : nil
        colorProfile = lab == nil ? file.colorProfile(limits) : nil
        layout = pixels.layout(hasProfile: colorProfile != nil)
        let info = file.info
        let unit = info.tiled ? info.tile_bytes : info.row_bytes
        let needed = Self.minimumBytes(info, pixels)
        guard unit >= needed, unit > 0, !info.tiled || info.tile_width > 0 && info.tile_height > 0 else {
            throw WebImageError(.badImageData, "TIFF: rows of \(unit) bytes for \(needed)")
        }
        let across = info.tiled ? (width + Int(info.tile_width) - 1) / Int(info.tile_width) : 1
        let planes = info.separate_planes ? pixels.channels.count : 1
        let (bytes, overflow) = Int(clamping: unit).multipliedReportingOverflow(by: across)
        let (total, totalOverflow) = bytes.multipliedReportingOverflow(by: planes)
        try limits.check(decodedByteCount: overflow || totalOverflow ? .max : total)
        planeBytes = bytes
        raw = try ScratchBuffer(byteCount: total)
        componentCount = pixels.model == .palette ? 3 : pixels.channels.count
        components = try ScratchBuffer(byteCount: width * componentCount)
    }

    /// What a row or a tile must hold for what is read from it.
    private static func minimumBytes(_ info: webimage_tiff_info, _ pixels: TIFFPixels) -> UInt64 {
        let perPixel = UInt64(pixels.bits) * UInt64(info.separate_planes ? 1 : pixels.samples)
        let width = UInt64(info.tiled ? info.tile_width : info.width)
        let row = (perPixel * width + 7) / 8
        return info.tiled ? row * UInt64(info.tile_height) : row
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows were asked for than the picture has")
        }
        for index in 0..<count {
            let output = base + index * bytesPerRow
            if isDirect {
                try readRow(nextRow, into: output, plane: 0)
            } else {
                try convertRow()
                interleave(to: output.assumingMemoryBound(to: UInt8.self))
                lab?.convert(output, count: width)
            }
            nextRow += 1
        }
    }

    /// Whether stored rows are rows of the layout.
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

    /// Reads the next row and makes bytes of all its components.
    private func convertRow() throws(WebImageError) {
        let info = file.info
        let channels = pixels.channels
        guard info.tiled else {
            for (index, channel) in (info.separate_planes ? channels : [0]).enumerated() {
                try readRow(nextRow, into: raw.base + index * planeBytes, plane: channel)
            }
            return convert(offset: 0, x: 0, count: width)
        }
        let tileHeight = Int(info.tile_height)
        let tileWidth = Int(info.tile_width)
        if nextRow / tileHeight != band { try readBand(nextRow / tileHeight) }
        let rowInTile = nextRow % tileHeight
        for (tile, x) in stride(from: 0, to: width, by: tileWidth).enumerated() {
            let offset = tile * Int(info.tile_bytes) + rowInTile * Int(info.row_bytes)
            convert(offset: offset, x: x, count: min(tileWidth, width - x))
        }
    }

    private func readBand(_ number: Int) throws(WebImageError) {
        let info = file.info
        for (index, channel) in (info.separate_planes ? pixels.channels : [0]).enumerated() {
            for (tile, x) in stride(from: 0, to: width, by: Int(info.tile_width)).enumerated() {
                let buffer = raw.base + index * planeBytes + tile * Int(info.tile_bytes)
                let y = UInt32(number) * info.tile_height
                let count = Int(info.tile_bytes)
                guard webimage_tiff_read_tile(file.reader, buffer, count, UInt32(x), y, UInt16(channel)) else {
                    throw TIFFFile.error(of: file.reader, limits)
                }
            }
        }
        band = number
    }

    private func convert(offset: Int, x: Int, count: Int) {
        for (index, channel) in pixels.channels.enumerated() {
            samples.convert(
                raw.base + offset + (file.info.separate_planes ? index * planeBytes : 0),
                first: file.info.separate_planes ? 0 : channel,
                step: file.info.separate_planes ? 1 : pixels.samples,
                count: count,
                channel: channel,
                to: components.bytes + index * width + x,
                rowLength: width
            )
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
        alpha == 0 ? 0 : UInt8(min((Int(value) * 255 + Int(alpha) / 2) / Int(alpha), 255))
    }
}
