import FoundationEssentials

/// Reads the rows of an uncompressed bitmap. Rows are converted directly from the file's bytes; nothing is buffered.
final class BMPPixelReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?

    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    private let palette: [UInt8]
    /// The fourth byte of 32-bit pixels without masks is alpha, in icons.
    private let usesFourthByte: Bool
    private var nextRow = 0

    /// - Parameters:
    ///   - bytes: must stay valid as long as the reader lives.
    ///   - usesFourthByte: the fourth byte of 32-bit pixels is alpha.
    init(
        _ bytes: UnsafeRawBufferPointer,
        header: BMPHeader,
        usesFourthByte: Bool = false,
        colorProfile: Data? = nil
    ) {
        self.bytes = bytes
        self.header = header
        self.usesFourthByte = usesFourthByte && header.bitsPerPixel == 32
        self.colorProfile = colorProfile
        width = header.width
        height = header.height
        layout = header.hasAlphaMask || self.usesFourthByte ? .rgba8 : .rgb8
        palette = header.bitsPerPixel <= 8 ? Self.palette(bytes, header) : []
    }

    /// Returns red, green and blue of 256 colours; black for those that the file does not have.
    static func palette(_ bytes: UnsafeRawBufferPointer, _ header: BMPHeader) -> [UInt8] {
        var colors = [UInt8](repeating: 0, count: 256 * 3)
        for (index, offset) in stride(
            from: header.palette.lowerBound,
            to: header.palette.upperBound,
            by: header.bytesPerColor
        ).enumerated() {
            colors[3 * index] = bytes[offset + 2]
            colors[3 * index + 1] = bytes[offset + 1]
            colors[3 * index + 2] = bytes[offset]
        }
        return colors
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for index in 0..<count {
            let stored = header.isTopDown ? nextRow : height - 1 - nextRow
            let row = try row(stored)
            convert(row, to: (base + index * bytesPerRow).assumingMemoryBound(to: UInt8.self))
            nextRow += 1
        }
    }

    /// Returns the bytes of a stored row. The padding of the last row may be missing.
    private func row(_ number: Int) throws(WebImageError) -> UnsafeRawPointer {
        let offset = header.pixelOffset + number * header.bytesPerRow
        let needed = (width * header.bitsPerPixel + 7) / 8
        guard let row = ByteReader(bytes).slice(offset, needed), let base = row.baseAddress else {
            throw BMPHeader.error("its pixel data is truncated")
        }
        return base
    }

    private func convert(_ row: UnsafeRawPointer, to output: UnsafeMutablePointer<UInt8>) {
        switch header.bitsPerPixel {
        case 24:
            for x in 0..<width {
                output[3 * x] = row.load(fromByteOffset: 3 * x + 2, as: UInt8.self)
                output[3 * x + 1] = row.load(fromByteOffset: 3 * x + 1, as: UInt8.self)
                output[3 * x + 2] = row.load(fromByteOffset: 3 * x, as: UInt8.self)
            }
        case 16:
            for x in 0..<width {
                put(UInt32(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self))), x, output)
            }
        case 32:
            for x in 0..<width {
                put(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)), x, output)
            }
        default:
            convertNumbers(row, to: output)
        }
    }

    @inline(__always)
    private func put(_ pixel: UInt32, _ x: Int, _ output: UnsafeMutablePointer<UInt8>) {
        let target = output + x * layout.bytesPerPixel
        header.masks.withUnsafeBufferPointer { masks in
            target[0] = masks[0].level(of: pixel)
            target[1] = masks[1].level(of: pixel)
            target[2] = masks[2].level(of: pixel)
            guard layout == .rgba8 else { return }
            target[3] = usesFourthByte ? UInt8(pixel >> 24) : masks[3].level(of: pixel)
        }
    }

    /// Converts palette indices; the first pixel is in the top bits of a byte.
    private func convertNumbers(_ row: UnsafeRawPointer, to output: UnsafeMutablePointer<UInt8>) {
        let bits = header.bitsPerPixel
        let perByte = 8 / bits
        let mask = (1 << bits) - 1
        palette.withUnsafeBufferPointer { colors in
            for x in 0..<width {
                let byte = Int(row.load(fromByteOffset: x / perByte, as: UInt8.self))
                let number = byte >> (8 - bits - bits * (x % perByte)) & mask
                for channel in 0..<3 { output[3 * x + channel] = colors[3 * number + channel] }
            }
        }
    }
}
