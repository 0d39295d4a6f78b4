import CPixels

/// Resizes images of four floats per pixel, row by row, with the filters of ``Resampler``; premultiplied, in sRGB encoding as there.
///
/// Each row is first resized to the result's width, then added to the result rows that it contributes to. Memory is a window of those.
struct FloatResampler {
    private let rows: ResampleFilter
    private let columns: ResampleFilter

    init(
        from input: (width: Int, height: Int),
        origin: (x: Double, y: Double) = (0, 0),
        extent: (width: Double, height: Double)? = nil,
        to output: (width: Int, height: Int),
        quality: ImageDecodeOptions.ScalingQuality
    ) {
        let extent = extent ?? (Double(input.width), Double(input.height))
        rows = .shared(
            from: input.height,
            origin: origin.y,
            extent: extent.height,
            to: output.height,
            quality: quality
        )
        columns = .shared(
            from: input.width,
            origin: origin.x,
            extent: extent.width,
            to: output.width,
            quality: quality
        )
    }

    /// Returns the first row to read for a band of rows of the result.
    func firstRow(of band: Range<Int>) -> Int { band.lowerBound == 0 ? 0 : Int(rows.first[band.lowerBound]) }

    /// Reads the rows from ``firstRow(of:)`` on one by one and passes each finished row of the band to `emit`, which may change it, from the top.
    ///
    /// - Parameter band: rows of the result, at least one; nil for all.
    /// - Throws: the errors of `read`, or ``WebImageError/Code/outOfMemory``.
    func run(
        band: Range<Int>? = nil,
        read: (_ row: UnsafeMutablePointer<Float>) throws(WebImageError) -> Void,
        emit: (_ row: UnsafeMutablePointer<Float>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        let samples = columns.outputCount * 4
        let input = try ScratchBuffer(byteCount: (columns.inputCount + columns.taps) * 16)
        // The filter reads beyond the last pixel, with weight 0.
        input.clear()
        let narrowed = try ScratchBuffer(byteCount: samples * 4)
        let open = mostOpenRows()
        let sums = try ScratchBuffer(byteCount: open * samples * 4)
        sums.clear()
        let band = band ?? 0..<rows.outputCount
        var next = band.lowerBound
        let end = band.upperBound == rows.outputCount ? rows.inputCount : Int(rows.end[band.upperBound - 1])
        for row in firstRow(of: band)..<end {
            try read(input.floats)
            columns.withFilter { cpixels_filter_float_row(input.floats, $0, narrowed.floats) }
            var output = next
            while output < band.upperBound, Int(rows.first[output]) <= row {
                if row < Int(rows.end[output]) {
                    let weight = rows.weights[output * rows.taps + row - Int(rows.first[output])]
                    cpixels_add_weighted(sums.floats + output % open * samples, narrowed.floats, weight, samples)
                }
                output += 1
            }
            while next < band.upperBound, Int(rows.end[next]) <= row + 1 {
                let finished = sums.floats + next % open * samples
                cpixels_limit_alpha(finished, columns.outputCount)
                try emit(finished)
                finished.update(repeating: 0, count: samples)
                next += 1
            }
        }
    }

    /// Returns the maximum number of result rows that are unfinished at the same time.
    private func mostOpenRows() -> Int {
        var most = 1
        var open = 0
        for output in 0..<rows.outputCount {
            while rows.end[open] <= rows.first[output] { open += 1 }
            most = max(most, output - open + 1)
        }
        return most
    }
}
