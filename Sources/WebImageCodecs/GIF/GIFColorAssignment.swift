import FoundationEssentials

/// Chooses the palette of each frame of a GIF file.
struct GIFColorAssignment {
    /// The colours with which a frame is written.
    struct Choice {
        /// The local palette; nil for the shared one.
        var palette: GIFColorTable?
        /// The number of bits of a palette index.
        var bits: Int
        /// The index that means transparent, if used.
        var clear: UInt8?
    }

    private let limit: Int
    private let own: GIFPalette
    /// The palette of the first frame; empty before it.
    private let shared: GIFPalette
    private var sharedBits: Int?
    private var quantizer: GIFQuantizer?

    /// - Parameter limit: the maximum number of colours of a frame, 2...256.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(limit: Int) throws(WebImageError) {
        self.limit = min(max(limit, 2), 256)
        own = try GIFPalette()
        shared = try GIFPalette()
    }

    /// Writes the palette indices of a frame: with its exact colours if they fit, otherwise with the best approximation.
    ///
    /// - Parameters:
    ///   - pixels: the changed pixels; unchanged ones are transparent.
    ///   - isComplete: all pixels have changed.
    ///   - image: all pixels of the same rectangle, if they are opaque; they are written instead if that keeps the colours exact.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    mutating func assign(
        _ pixels: Bitmap,
        isComplete: Bool,
        image: Bitmap?,
        to numbers: UnsafeMutablePointer<UInt8>
    ) throws(WebImageError) -> Choice {
        if let choice = assignShared(pixels, isComplete: isComplete, to: numbers) { return choice }
        let room = isComplete ? limit : limit - 1
        if own.collect(pixels, limit: room) {
            let clear = UInt8(truncatingIfNeeded: own.count)
            _ = own.map(pixels, clear: clear, to: numbers)
            return choice(clear: isComplete ? nil : clear)
        }
        if let image, !isComplete, own.collect(image, limit: limit) {
            _ = own.map(image, clear: 0, to: numbers)
            return choice(clear: nil)
        }
        if quantizer == nil { quantizer = try GIFQuantizer() }
        try quantizer?.reduce(pixels, limit: room, to: own, numbers: numbers)
        return choice(clear: isComplete ? nil : UInt8(truncatingIfNeeded: own.count))
    }

    /// Makes the last chosen palette the shared one.
    ///
    /// - Parameter leavesRoom: frames need an index for unchanged pixels.
    mutating func share(leavesRoom: Bool) -> GIFColorTable {
        shared.copy(own)
        let table = GIFColorTable(shared.colors, count: min(shared.count + (leavesRoom ? 1 : 0), 256))
        sharedBits = table.bits
        return table
    }

    private func assignShared(
        _ pixels: Bitmap,
        isComplete: Bool,
        to numbers: UnsafeMutablePointer<UInt8>
    ) -> Choice? {
        guard let bits = sharedBits, isComplete || shared.count < 1 << bits else { return nil }
        let clear = UInt8(truncatingIfNeeded: shared.count)
        guard shared.map(pixels, clear: clear, to: numbers) else { return nil }
        return Choice(palette: nil, bits: bits, clear: isComplete ? nil : clear)
    }

    private func choice(clear: UInt8?) -> Choice {
        let table = GIFColorTable(own.colors, count: own.count + (clear == nil ? 0 : 1))
        return Choice(palette: table, bits: table.bits, clear: clear)
    }
}
