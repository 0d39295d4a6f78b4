import FoundationEssentials

/// Reads the rows of a run-length encoded bitmap, from the top, each decoded from the start of its commands.
final class BMPRunReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let colorProfile: Data?

    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    private let runs: BMPRuns
    private let palette: [UInt8]
    private var nextRow = 0

    /// - Parameter bytes: must stay valid as long as the reader lives.
    init(_ bytes: UnsafeRawBufferPointer, header: BMPHeader, runs: BMPRuns, colorProfile: Data? = nil) {
        self.bytes = bytes
        self.header = header
        self.runs = runs
        self.colorProfile = colorProfile
        width = header.width
        height = header.height
        layout = runs.hasGaps ? .rgba8 : .rgb8
        palette = header.compression == .runs24 ? [] : BMPPixelReader.palette(bytes, header)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for index in 0..<count {
            let stored = header.isTopDown ? nextRow : height - 1 - nextRow
            let output = (base + index * bytesPerRow).assumingMemoryBound(to: UInt8.self)
            output.update(repeating: 0, count: width * layout.bytesPerPixel)
            if let start = runs.starts[stored] { decode(from: start, to: output) }
            nextRow += 1
        }
    }

    /// Decodes one row, until the first command that leaves it.
    private func decode(from start: BMPRuns.Start, to output: UnsafeMutablePointer<UInt8>) {
        let reader = ByteReader(bytes)
        var (x, offset) = (start.x, start.offset)
        while let (command, next) = BMPRuns.command(reader, offset, header) {
            offset = next
            switch command {
            case .run(let count, let place):
                for pixel in 0..<count where x + pixel < width {
                    put(place, pixel & 1, to: output + (x + pixel) * layout.bytesPerPixel)
                }
                x += count
            case .pixels(let count, let place):
                for pixel in 0..<count where x + pixel < width {
                    let source = place + (header.compression == .runs4 ? pixel / 2 : pixel * bytesPerColor)
                    put(source, pixel & 1, to: output + (x + pixel) * layout.bytesPerPixel)
                }
                x += count
            case .move(let right, 0): x += right
            case .move, .endOfRow, .endOfImage: return
            }
        }
    }

    private var bytesPerColor: Int { header.compression == .runs24 ? 3 : 1 }

    /// Writes the colour at a location already checked to be within the bytes; of two in a byte the first is in the upper half.
    @inline(__always)
    private func put(_ place: Int, _ half: Int, to target: UnsafeMutablePointer<UInt8>) {
        if header.compression == .runs24 {
            for channel in 0..<3 { target[channel] = bytes[place + 2 - channel] }
        } else {
            let byte = Int(bytes[place])
            let number = header.compression == .runs8 ? byte : half == 0 ? byte >> 4 : byte & 15
            for channel in 0..<3 { target[channel] = palette[3 * number + channel] }
        }
        if layout == .rgba8 { target[3] = 255 }
    }
}
