import CPixels

/// The memory cost of making an image from a decoder's rows with ``ImageAssembler``.
package struct AssemblyNeed: Sendable, Hashable {
    /// The number of bytes of the returned bitmap.
    package private(set) var outputByteCount = 0
    /// The number of bytes of the buffered rows.
    package private(set) var rowByteCount = 0
    /// A Boolean value that indicates whether all rows are read at once, directly into the bitmap. A decoder that decodes the complete image then
    /// needs no additional memory.
    package private(set) var readsAtOnce = false

    private init() {}

    /// - Parameters:
    ///   - width: the width of the decoder's rows.
    ///   - height: the number of rows.
    ///   - layout: the layout of the rows.
    ///   - hasTransform: colours have to be converted.
    ///   - hasAlpha: pixels of more than 8 bits have alpha that is kept when they are converted to 8 bits.
    ///   - plan: the plan of the decode.
    ///   - options: the options of the decode.
    ///   - bandPixelCount: the number of pixels that are decoded, if bands of rows can be read at the same time; else 0.
    package init(
        width: Int,
        height: Int,
        layout: ScanlineLayout,
        hasTransform: Bool,
        hasAlpha: Bool,
        plan: DecodePlan,
        options: ImageDecodeOptions,
        bandPixelCount: Int = 0
    ) {
        if layout == .rgbaFloat, options.keepsHighBitDepth {
            addHighBitDepth(width: width, height: height, plan)
            return
        }
        let threads = CodingQueue.mostThreads(forPixelCount: layout == .rgbaFloat ? 0 : bandPixelCount)
        var layout = layout
        // Rows that are narrowed to 8 bits, or have a deadline, are read a few at a time.
        let isInPieces = layout == .rgbaFloat || options.limits.maximumDecodeDuration != nil
        if layout == .rgbaFloat {
            // The buffers of NarrowedRows.
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
        rowByteCount *= threads
        guard options.pixelFormat == .rgbaHalfPremultiplied else { return }
        // The 8-bit bitmap is converted.
        outputByteCount = Self.bitmap(plan, bytesPerPixel: 8)
        rowByteCount += bytes + plan.width * 32
    }

    /// Returns the size of the block for the bitmap of a plan.
    package static func bitmap(_ plan: DecodePlan, bytesPerPixel: Int) -> Int {
        let swaps = plan.orientation.swapsSides
        let (width, height) = swaps ? (plan.height, plan.width) : (plan.width, plan.height)
        return BufferPool.blockSize(((width * bytesPerPixel + 3) & ~3) * height)
    }

    /// Returns the size of the pool's block for that many bytes.
    package static func block(_ byteCount: Int) -> Int { BufferPool.blockSize(byteCount) }

    private mutating func addSink(_ plan: DecodePlan, bytesPerPixel: Int, converts: Bool) {
        let turns = plan.orientation != .up && plan.orientation != .downMirrored
        if turns { rowByteCount += (plan.width * bytesPerPixel + 64) * Resampler.blockRows }
        if converts { rowByteCount += plan.width * 4 }
    }

    /// Adds the rows that the resampler keeps: source rows of which a result row is made at once, or a sum of 16 bits a sample for each unfinished
    /// result row; and the sums that wait to be filtered together.
    private mutating func addResampler(width: Int, height: Int, bytesPerPixel: Int, _ plan: DecodePlan) {
        let samples = width * bytesPerPixel
        let reach = ResampleFilter.reach(from: height, to: max(plan.height, 1), quality: .high)
        let (usesRing, atOnce) = (Resampler.usesRing(reach: reach), Resampler.rowsAtOnce(samples))
        let rows = usesRing ? Resampler.RowRing.rowCount(reach: reach, blockRows: atOnce) : Resampler.blockRows
        let together = min(Resampler.together(samples), plan.height)
        let open = usesRing ? together : min(Self.openRows(height, plan.height) + together, plan.height)
        let padding = 6 * (width / max(plan.width, 1) + 2) * bytesPerPixel + 80
        rowByteCount += (samples + 64) * rows + (samples + padding) * open * 2
        // Filtered rows and intermediate results.
        rowByteCount += plan.width * bytesPerPixel * Int(cpixels_lanes) * 3
        // The weights: about six for each row and column of the larger size, and the values derived from them.
        rowByteCount += (max(width, plan.width) + max(height, plan.height)) * 32
    }

    /// Returns the number of bytes of buffered rows and weights for resampling by all threads that are idle; the image may get larger.
    static func resampling(
        _ input: (width: Int, height: Int),
        to output: (width: Int, height: Int),
        bytesPerPixel: Int
    ) -> Int {
        let most = max(input.width * input.height, output.width * output.height)
        return CodingQueue.mostThreads(forPixelCount: most) * band(input, to: output, bytesPerPixel: bytesPerPixel)
    }

    /// Returns the part of one thread.
    static func band(
        _ input: (width: Int, height: Int),
        to output: (width: Int, height: Int),
        bytesPerPixel: Int
    ) -> Int {
        let plan = DecodePlan(width: output.width, height: output.height, orientation: .up, isThumbnail: false)
        var need = AssemblyNeed()
        if bytesPerPixel > 4 {
            need.addHighBitDepthResampler(width: input.width, height: input.height, plan)
        } else {
            need.addResampler(width: input.width, height: input.height, bytesPerPixel: bytesPerPixel, plan)
        }
        return need.rowByteCount
    }

    /// Returns the number of unfinished result rows: Lanczos-3 reaches over six rows of the result, or of the input if that has fewer, and four rows
    /// are read at a time.
    private static func openRows(_ input: Int, _ output: Int) -> Int {
        output <= input ? 9 : 10 * ((output - 1) / max(input, 1) + 1)
    }

    private mutating func addHighBitDepth(width: Int, height: Int, _ plan: DecodePlan) {
        outputByteCount = Self.bitmap(plan, bytesPerPixel: 8)
        rowByteCount += Resampler.blockRows * (width * 16 + plan.width * 8)
        guard width != plan.width || height != plan.height else { return }
        addHighBitDepthResampler(width: width, height: height, plan)
    }

    private mutating func addHighBitDepthResampler(width: Int, height: Int, _ plan: DecodePlan) {
        let open = min(Self.openRows(height, plan.height) + 1, plan.height)
        let weights = max(width, plan.width) + max(height, plan.height)
        rowByteCount += width * 17 + plan.width * 16 * (open + 1) + weights * 32
    }
}

extension DecodeMemoryNeed {
    /// Creates the sum of the costs of the assembly and of the rows' decoder.
    package init(_ assembly: AssemblyNeed, decoder: Int) {
        let (working, overflow) = assembly.rowByteCount.addingReportingOverflow(max(decoder, 0))
        self.init(outputByteCount: assembly.outputByteCount, workingByteCount: overflow ? .max : working)
    }
}
