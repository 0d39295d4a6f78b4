import CPixels

/// What ``ImageAssembler`` takes to make an image of a decoder's rows.
package struct AssemblyNeed: Sendable, Hashable {
    /// Bytes of the bitmap that it returns.
    package private(set) var outputByteCount = 0
    /// Bytes of the rows that it holds meanwhile.
    package private(set) var rowByteCount = 0
    /// Whether it takes all rows at once, into the bitmap: a decoder that decodes as a whole needs no memory of its own then.
    package private(set) var readsAtOnce = false

    private init() {}

    /// - Parameters:
    ///   - width: of the decoder's rows.
    ///   - height: the number of rows.
    ///   - layout: of the rows.
    ///   - hasTransform: whether colours have to be converted.
    ///   - hasAlpha: whether wide pixels have alpha that is kept when they are made 8 bits.
    ///   - plan: of the decode.
    ///   - options: of the decode.
    package init(
        width: Int,
        height: Int,
        layout: ScanlineLayout,
        hasTransform: Bool,
        hasAlpha: Bool,
        plan: DecodePlan,
        options: ImageDecodeOptions
    ) {
        if layout == .rgbaFloat, options.keepsWidePixels {
            addWide(width: width, height: height, plan)
            return
        }
        var layout = layout
        // Rows that are made narrow, or timed, are read a few at a time.
        let isInPieces = layout == .rgbaFloat || options.limits.maximumDecodeDuration != nil
        if layout == .rgbaFloat {
            // NarrowedRows.
            rowByteCount += width * 16 * 8 + width * 4
            layout = hasAlpha ? .rgba8 : .rgb8
        }
        let isBGRA = layout.hasAlpha || options.pixelFormat == .bgra8Premultiplied
        let bytes = Self.bitmap(plan, bytesPerPixel: isBGRA ? 4 : 3)
        outputByteCount = bytes
        let isSameSize = width == plan.width && height == plan.height
        let isFinal =
            layout == .bgra8Premultiplied
            || layout == .rgb8 && !hasTransform && options.pixelFormat != .bgra8Premultiplied
        readsAtOnce = isSameSize && isFinal && plan.orientation == .up && !isInPieces
        if !readsAtOnce {
            addSink(plan, bytesPerPixel: isBGRA ? 4 : 3, converts: hasTransform || layout == .cmyk8)
            if isSameSize {
                rowByteCount += (width * layout.bytesPerPixel + 64) * 8
            } else {
                addResampler(width: width, height: height, bytesPerPixel: layout.bytesPerPixel, plan)
            }
        }
        guard options.pixelFormat == .rgbaHalfPremultiplied else { return }
        // The bitmap of 8 bits is converted.
        outputByteCount = Self.bitmap(plan, bytesPerPixel: 8)
        rowByteCount += bytes + plan.width * 32
    }

    /// Bytes of the block for the bitmap of a plan.
    package static func bitmap(_ plan: DecodePlan, bytesPerPixel: Int) -> Int {
        let swaps = plan.orientation.swapsSides
        let (width, height) = swaps ? (plan.height, plan.width) : (plan.width, plan.height)
        return BufferPool.blockSize(((width * bytesPerPixel + 3) & ~3) * height)
    }

    /// Bytes of a block of the pool.
    package static func block(_ byteCount: Int) -> Int { BufferPool.blockSize(byteCount) }

    private mutating func addSink(_ plan: DecodePlan, bytesPerPixel: Int, converts: Bool) {
        let turns = plan.orientation != .up && plan.orientation != .downMirrored
        if turns { rowByteCount += (plan.width * bytesPerPixel + 64) * Resampler.blockRows }
        if converts { rowByteCount += plan.width * 4 }
    }

    /// The window of rows: as many sums of 16 bits as rows of the result are begun at a time and wait to be filtered together.
    private mutating func addResampler(width: Int, height: Int, bytesPerPixel: Int, _ plan: DecodePlan) {
        let samples = width * bytesPerPixel
        let together = samples * 2 * Int(cpixels_lanes) > 40 << 10 ? Int(cpixels_lanes) / 2 : Int(cpixels_lanes)
        let open = min(Self.openRows(height, plan.height) + together, plan.height)
        let taps = 6 * (width / max(plan.width, 1) + 2)
        rowByteCount += (samples + 64) * Resampler.blockRows + (samples + taps * bytesPerPixel + 16) * open * 2
        // Filtered rows, and what is made on the way.
        rowByteCount += plan.width * bytesPerPixel * Int(cpixels_lanes) * 3
        // The weights: about six for each row and column of the bigger one, and what is made of them.
        rowByteCount += (max(width, plan.width) + max(height, plan.height)) * 32
    }

    /// Bytes of the rows that resampling holds, and of its weights; the picture may get bigger.
    static func resampling(
        _ input: (width: Int, height: Int),
        to output: (width: Int, height: Int),
        bytesPerPixel: Int
    ) -> Int {
        let plan = DecodePlan(width: output.width, height: output.height, orientation: .up, isThumbnail: false)
        var need = AssemblyNeed()
        if bytesPerPixel > 4 {
            need.addWideResampler(width: input.width, height: input.height, plan)
        } else {
            need.addResampler(width: input.width, height: input.height, bytesPerPixel: bytesPerPixel, plan)
        }
        return need.rowByteCount
    }

    /// Rows of the result that are begun at a time: Lanczos-3 reaches over six rows of the result, or of the input where that has fewer,
    /// and four rows are read at a time.
    private static func openRows(_ input: Int, _ output: Int) -> Int {
        output <= input ? 9 : 10 * ((output - 1) / max(input, 1) + 1)
    }

    private mutating func addWide(width: Int, height: Int, _ plan: DecodePlan) {
        outputByteCount = Self.bitmap(plan, bytesPerPixel: 8)
        rowByteCount += Resampler.blockRows * (width * 16 + plan.width * 8)
        guard width != plan.width || height != plan.height else { return }
        addWideResampler(width: width, height: height, plan)
    }

    private mutating func addWideResampler(width: Int, height: Int, _ plan: DecodePlan) {
        let open = min(Self.openRows(height, plan.height) + 1, plan.height)
        let weights = max(width, plan.width) + max(height, plan.height)
        rowByteCount += width * 17 + plan.width * 16 * (open + 1) + weights * 32
    }
}

extension DecodeMemoryNeed {
    /// What making an image of rows takes, and what the decoder of the rows does.
    package init(_ assembly: AssemblyNeed, decoder: Int) {
        let (working, overflow) = assembly.rowByteCount.addingReportingOverflow(max(decoder, 0))
        self.init(outputByteCount: assembly.outputByteCount, workingByteCount: overflow ? .max : working)
    }
}
