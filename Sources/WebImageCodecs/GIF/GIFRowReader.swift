import FoundationEssentials

/// Reads the rows of a GIF frame on a canvas, or of its rectangle only. Palette indices become colours; pixels outside of the frame are
/// transparent.
final class GIFRowReader: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    var colorProfile: Data? { nil }

    private let frame: GIFFrame
    /// The palette indices, in the order of the file.
    private let indices: PixelStorage
    /// The memory of the palette indices.
    let numbers: UnsafeMutableBufferPointer<UInt8>
    /// Red, green, blue and alpha of the 256 indices; black for those that the palette does not have.
    private var colors = [UInt32](repeating: UInt32(littleEndian: 0xFF00_0000), count: 256)
    private var nextRow = 0
    /// ``colors`` in the order of ``PixelFormat/bgra8Premultiplied``; alpha is 0 or 255.
    private(set) lazy var bgraColors = colors.map {
        let bytes = UInt32(littleEndian: $0)
        return UInt32(littleEndian: bytes & 0xFF00_FF00 | bytes >> 16 & 0xFF | (bytes & 0xFF) << 16)
    }

    /// Decodes the palette indices of the frame.
    ///
    /// - Parameter structure: the file whose canvas the rows belong to; nil for only the frame's rectangle.
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded`` when the frame is too large, whatever the size
    ///   of the canvas, ``WebImageError/Code/outOfMemory``.
    convenience init(
        _ bytes: UnsafeRawBufferPointer,
        canvasOf structure: GIFStructure? = nil,
        frame: GIFFrame,
        limits: ImageLimits
    ) throws(WebImageError) {
        try self.init(bytes, canvasOf: structure, frame: frame, limits: limits) { (indices) throws(WebImageError) in
            var decompressor = try GIFDecompressor(bytes, at: frame.dataOffset)
            try decompressor.decode(into: indices)
        }
    }

    /// Creates a reader of palette indices that `fill` writes, now or later.
    init(
        _ bytes: UnsafeRawBufferPointer,
        canvasOf structure: GIFStructure?,
        frame stored: GIFFrame,
        limits: ImageLimits,
        fill: (UnsafeMutableBufferPointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        var frame = stored
        if structure == nil { (frame.left, frame.top) = (0, 0) }
        width = structure?.width ?? frame.width
        height = structure?.height ?? frame.height
        self.frame = frame
        layout = frame.hasAlpha(onCanvasOf: width, by: height) ? .rgba8 : .rgb8
        if frame.palette == nil {
            // Without a palette, indices are levels of grey, as in Pillow.
            for level: UInt32 in 0...255 { colors[Int(level)] = UInt32(littleEndian: level * 0x01_0101 | 0xFF00_0000) }
        }
        let palette = frame.palette ?? 0..<0
        for (number, offset) in stride(from: palette.lowerBound, to: palette.upperBound, by: 3).enumerated() {
            let red = UInt32(bytes[offset])
            let green = UInt32(bytes[offset + 1])
            colors[number] = UInt32(littleEndian: red | green << 8 | UInt32(bytes[offset + 2]) << 16 | 0xFF00_0000)
        }
        if let transparent = frame.transparentIndex { colors[transparent] = 0 }
        try limits.check(width: frame.width, height: frame.height)
        let count = frame.width * frame.height
        try limits.check(decodedByteCount: count)
        let indices = try PixelStorage.allocate(byteCount: count)
        let output = indices.base.bindMemory(to: UInt8.self, capacity: count)
        numbers = UnsafeMutableBufferPointer(start: output, count: count)
        self.indices = indices
        try fill(numbers)
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) throws(WebImageError) {
        guard count >= 0, count <= height - nextRow else {
            throw WebImageError(.badImageData, "more rows requested than the image has")
        }
        for row in 0..<count { write(row: nextRow + row, to: base + row * bytesPerRow) }
        nextRow += count
    }

    /// Restarts reading at the first row.
    func rewind() { nextRow = 0 }

    /// Returns whether all pixels of a row are known when `count` indices are.
    func isThere(row: Int, numberCount count: Int) -> Bool {
        let line = row - frame.top
        guard line >= 0, line < frame.height else { return true }
        let stored = frame.isInterlaced ? Self.storedLine(of: line, height: frame.height) : line
        return (stored + 1) * frame.width <= count
    }

    func write(row: Int, to target: UnsafeMutableRawPointer) {
        let line = row - frame.top
        guard layout == .rgba8 else { return writeOpaque(line: line, to: target) }
        let pixels = target.assumingMemoryBound(to: UInt8.self)
        let start = min(frame.left, width)
        let end = min(frame.left + frame.width, width)
        guard line >= 0, line < frame.height, start < end else {
            pixels.update(repeating: 0, count: width * 4)
            return
        }
        pixels.update(repeating: 0, count: start * 4)
        (pixels + end * 4).update(repeating: 0, count: (width - end) * 4)
        let numbers = numbers(ofLine: line)
        colors.withUnsafeBufferPointer { colors in
            for column in 0..<(end - start) {
                target.storeBytes(of: colors[Int(numbers[column])], toByteOffset: (start + column) * 4, as: UInt32.self)
            }
        }
    }

    /// Writes a line of a frame without transparency that covers the canvas.
    private func writeOpaque(line: Int, to target: UnsafeMutableRawPointer) {
        let numbers = numbers(ofLine: line)
        var pixel = target.assumingMemoryBound(to: UInt8.self)
        colors.withUnsafeBufferPointer { colors in
            for column in 0..<width {
                let color = UInt32(littleEndian: colors[Int(numbers[column])])
                pixel[0] = UInt8(truncatingIfNeeded: color)
                pixel[1] = UInt8(truncatingIfNeeded: color >> 8)
                pixel[2] = UInt8(truncatingIfNeeded: color >> 16)
                pixel += 3
            }
        }
    }

    /// Writes a row of a frame without transparency that covers the canvas, as ``PixelFormat/bgra8Premultiplied``.
    func writeOpaqueBGRA(row: Int, to target: UnsafeMutableRawPointer) {
        let numbers = numbers(ofLine: row - frame.top)
        let pixels = target.assumingMemoryBound(to: UInt32.self)
        bgraColors.withUnsafeBufferPointer { colors in
            for column in 0..<width { pixels[column] = colors[Int(numbers[column])] }
        }
    }

    private func numbers(ofLine line: Int) -> UnsafePointer<UInt8> {
        let stored = frame.isInterlaced ? Self.storedLine(of: line, height: frame.height) : line
        return UnsafePointer((indices.base + stored * frame.width).assumingMemoryBound(to: UInt8.self))
    }

    /// Returns the position of a line in the stored order of an interlaced frame, which has four passes: from line 0 every 8, from 4 every 8, from 2
    /// every 4, from 1 every 2.
    static func storedLine(of line: Int, height: Int) -> Int {
        let first = (height + 7) / 8
        let second = (height + 3) / 8
        let third = (height + 1) / 4
        if line % 8 == 0 { return line / 8 }
        if line % 8 == 4 { return first + line / 8 }
        if line % 4 == 2 { return first + second + line / 4 }
        return first + second + third + line / 2
    }
}
