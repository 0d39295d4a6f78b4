import CPixels

/// Resizes pictures row by row: it takes rows from the top down and gives out rows as soon as they are complete.
///
/// Lanczos-3 or box filter, in floating point. Rows are first added up to the rows of the result they contribute to, then
/// each finished sum is filtered along the row. Memory is a window of rows: for Lanczos about seven rows of floats when a
/// picture gets smaller, whatever its size. (libzimg was measured and left: it reads wide pictures in several passes,
/// which a decoder cannot give, and building its graph costs more than a thumbnail's resize.)
struct Resampler {
    /// Rows that are read at a time.
    static let blockRows = 16
    private static let groupRows = 4
    private static let chunk = 2048

    private let rows: ResampleFilter
    private let columns: ResampleFilter
    private let channels: Int
    private let isPremultiplied: Bool

    /// - Parameters:
    ///   - extent: how much of the input the picture covers, in pixels; all of it when nil.
    ///   - channels: interleaved bytes per pixel: 1, 3 or 4.
    ///   - isPremultiplied: whether the first three channels must stay at or below the fourth.
    init(
        from input: (width: Int, height: Int),
        extent: (width: Double, height: Double)? = nil,
        to output: (width: Int, height: Int),
        channels: Int,
        isPremultiplied: Bool,
        quality: ImageDecodeOptions.ScalingQuality
    ) {
        let extent = extent ?? (Double(input.width), Double(input.height))
        rows = .shared(from: input.height, extent: extent.height, to: output.height, quality: quality)
        columns = .shared(from: input.width, extent: extent.width, to: output.width, quality: quality)
        self.channels = channels
        self.isPremultiplied = isPremultiplied
    }

    /// Reads all rows with `read` and hands each finished row to `emit`, from the top down.
    ///
    /// - Throws: what `read` throws, or ``WebImageError/Code/outOfMemory``.
    func run(
        read: (_ count: Int, _ base: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int) throws(WebImageError) -> Void,
        emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        let samples = columns.inputCount * channels
        let sumStride = samples + columns.taps * channels + 8
        let sumCount = mostOpenRows()
        let stride = (samples + 63) & ~63
        let input = try ScratchBuffer(byteCount: stride * min(Self.blockRows, rows.inputCount))
        let floats = try ScratchBuffer(byteCount: Self.groupRows * min(Self.chunk, samples) * 4)
        let sums = try ScratchBuffer(byteCount: sumStride * sumCount * 4)
        let output = try ScratchBuffer(byteCount: columns.outputCount * channels)
        // The filter reads a little past the end of a row, and rows missing in the last group count with weight 0.
        sums.clear()
        floats.clear()
        var window = Window(sums: sums.floats, stride: sumStride, count: sumCount, samples: samples)
        var row = 0
        while row < rows.inputCount {
            let count = min(Self.blockRows, rows.inputCount - row)
            try read(count, input.bytes, stride)
            for group in Swift.stride(from: 0, to: count, by: Self.groupRows) {
                let size = min(Self.groupRows, count - group)
                add(input.bytes + group * stride, stride, first: row + group, count: size, floats.floats, &window)
                while window.next < rows.outputCount, Int(rows.end[window.next]) <= row + group + size {
                    filter(window.sum(window.next), into: output.bytes)
                    try emit(UnsafePointer(output.bytes))
                    window.next += 1
                }
            }
            row += count
        }
    }

    /// The sums of the rows of the result that are not finished.
    private struct Window {
        let sums: UnsafeMutablePointer<Float>
        let stride: Int
        let count: Int
        let samples: Int
        /// The next row of the result to be finished.
        var next = 0

        func sum(_ output: Int) -> UnsafeMutablePointer<Float> { sums + (output % count) * stride }
    }

    private func add(
        _ input: UnsafePointer<UInt8>,
        _ bytesPerRow: Int,
        first: Int,
        count: Int,
        _ floats: UnsafeMutablePointer<Float>,
        _ window: inout Window
    ) {
        var offset = 0
        while offset < window.samples {
            let size = min(Self.chunk, window.samples - offset)
            cpixels_to_float(input + offset, bytesPerRow, count, floats, size)
            var output = window.next
            while output < rows.outputCount, Int(rows.first[output]) < first + count {
                var weights: (Float, Float, Float, Float) = (0, 0, 0, 0)
                withUnsafeMutableBytes(of: &weights) { bytes in
                    let weights = bytes.assumingMemoryBound(to: Float.self)
                    for row in max(first, Int(rows.first[output]))..<min(first + count, Int(rows.end[output])) {
                        weights[row - first] = rows.weights[output * rows.taps + row - Int(rows.first[output])]
                    }
                    cpixels_accumulate(
                        window.sum(output) + offset,
                        floats,
                        weights.baseAddress,
                        size,
                        Int(rows.first[output]) >= first
                    )
                }
                output += 1
            }
            offset += size
        }
    }

    private func filter(_ sum: UnsafePointer<Float>, into output: UnsafeMutablePointer<UInt8>) {
        columns.first.withUnsafeBufferPointer { first in
            columns.weights.withUnsafeBufferPointer { weights in
                var filter = cpixels_row_filter(
                    first: first.baseAddress,
                    weights: weights.baseAddress,
                    taps: columns.taps,
                    output_width: columns.outputCount
                )
                cpixels_filter_row(sum, Int32(channels), isPremultiplied, &filter, output)
            }
        }
    }

    /// The most rows of the result that are begun and not finished at any time.
    private func mostOpenRows() -> Int {
        var most = 1
        var open = 0
        for output in 0..<rows.outputCount {
            // When the last row of this result row's first group is added, which earlier ones are still open?
            let groupEnd = (Int(rows.first[output]) / Self.groupRows + 1) * Self.groupRows
            let groupStart = groupEnd - Self.groupRows
            while Int(rows.end[open]) <= groupStart { open += 1 }
            most = max(most, output - open + 1)
        }
        return most
    }
}
