import CPixels

/// Resizes images row by row: it reads rows from the top and emits each result row as soon as it is complete.
///
/// Uses Lanczos-3 or a box filter, in floating point (a narrow box filter in bytes: ``runArea(band:into:read:emit:)``). Source rows are first added up to
/// result rows, then each sum is filtered along the row. Memory is a window of rows: of up to 32 source rows if a result row is made of few, else
/// of about fifteen sums with sixteen bits a sample, whatever the size of the image. (libzimg was measured and rejected: it reads wide images in several
/// passes, which a decoder cannot provide, and building its graph costs more than resizing a thumbnail.)
package struct Resampler {
    /// The number of rows that are read at a time.
    static let blockRows = 8
    private static let groupRows = 4
    private static let chunk = 512

    let rows: ResampleFilter
    let columns: ResampleFilter
    let channels: Int
    private let isPremultiplied: Bool

    /// - Parameters:
    ///   - extent: how much of the input the image covers, in pixels; nil for all of it.
    ///   - channels: interleaved bytes per pixel: 1, 3 or 4.
    ///   - isPremultiplied: the first three channels must stay at or below the fourth.
    init(
        from input: (width: Int, height: Int),
        origin: (x: Double, y: Double) = (0, 0),
        extent: (width: Double, height: Double)? = nil,
        to output: (width: Int, height: Int),
        channels: Int,
        isPremultiplied: Bool,
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
        self.channels = channels
        self.isPremultiplied = isPremultiplied
    }

    /// Returns the first row to read for a band of rows of the result. Rows are added in the same groups for each band, which matters for rounding.
    func firstRow(of band: Range<Int>) -> Int {
        band.lowerBound == 0 ? 0 : Int(rows.first[band.lowerBound]) / Self.blockRows * Self.blockRows
    }

    /// Returns the end of the rows to read for a band of rows of the result; for the last one, that of all rows.
    func endRow(of band: Range<Int>) -> Int {
        band.upperBound == rows.outputCount ? rows.inputCount : Int(rows.end[band.upperBound - 1])
    }

    /// Rows of a result in memory.
    struct RowPlace {
        var base: UnsafeMutablePointer<UInt8>
        let bytesPerRow: Int

        func take(_ count: Int, _ rows: UnsafePointer<UInt8>, _ stride: Int, byteCount: Int) {
            for row in 0..<count { (base + row * bytesPerRow).update(from: rows + row * stride, count: byteCount) }
        }
    }

    /// Reads the rows from ``firstRow(of:)`` on with `read` and passes each finished row of the band to `emit`, from the top.
    ///
    /// - Parameters:
    ///   - band: rows of the result, at least one; nil for all.
    ///   - place: where the band's rows may be written, and are then not passed on; nil to pass them all on.
    /// - Throws: the errors of `read`, or ``WebImageError/Code/outOfMemory``.
    func run(
        band: Range<Int>? = nil,
        into place: RowPlace? = nil,
        read: (_ count: Int, _ base: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int) throws(WebImageError) -> Void,
        emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        let band = band ?? 0..<rows.outputCount
        if isNarrowArea { return try runArea(band: band, into: place, read: read, emit: emit) }
        if Self.usesRing(reach: rows.reach) { return try runRing(band: band, read: read, emit: emit) }
        let samples = columns.inputCount * channels
        let stride = (samples + 63) & ~63
        let together = Self.together(samples)
        let blockRows = min(Self.rowsAtOnce(samples), rows.inputCount)
        let input = try ScratchBuffer(byteCount: stride * blockRows)
        let floats = try ScratchBuffer(byteCount: Self.groupRows * min(Self.chunk, samples) * 4)
        // Rows missing in the last group have weight 0, but their values must not be NaN.
        floats.clear()
        var window = try Window(
            samples: samples,
            padding: columns.taps * channels + 16,
            count: min(mostOpenRows() + together, rows.outputCount),
            band: band
        )
        let output = try FilteredRows(columns, channels: channels, isPremultiplied: isPremultiplied)
        var row = firstRow(of: band)
        let end = endRow(of: band)
        while row < end {
            let count = min(blockRows, rows.inputCount - row)
            try read(count, input.bytes, stride)
            for group in Swift.stride(from: 0, to: count, by: Self.groupRows) {
                let size = min(Self.groupRows, count - group)
                add(input.bytes + group * stride, stride, first: row + group, count: size, floats.floats, &window)
                while window.next < band.upperBound, Int(rows.end[window.next]) <= row + group + size {
                    window.next += 1
                    if window.waiting == together { try window.emit(output, emit) }
                }
            }
            row += count
        }
        if window.waiting > 0 { try window.emit(output, emit) }
    }

    /// Returns whether the source rows of a result row are kept, because they are few.
    static func usesRing(reach: Int) -> Bool { reach <= Int(cpixels_most_summed_rows) }

    /// Resizes like `run` with a filter that reaches over few rows: these stay in a ring, and each sum is made of them at once.
    private func runRing(
        band: Range<Int>,
        read: (_ count: Int, _ base: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int) throws(WebImageError) -> Void,
        emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        let samples = columns.inputCount * channels
        let (together, blockRows) = (Self.together(samples), Self.rowsAtOnce(samples))
        let ring = try RowRing(byteCount: samples, reach: rows.reach, blockRows: blockRows)
        let stride = ring.stride + columns.taps * channels + 16
        let sums = try ScratchBuffer(byteCount: stride * together * 2)
        // The filter reads behind the sums, with weight 0.
        sums.clear()
        let output = try FilteredRows(columns, channels: channels, isPremultiplied: isPremultiplied)
        var row = firstRow(of: band)
        var next = band.lowerBound
        var waiting = 0
        let end = endRow(of: band)
        while row < end {
            let count = min(blockRows, rows.inputCount - row)
            try read(count, ring.place(of: row), ring.stride)
            row += count
            while next < band.upperBound, Int(rows.end[next]) <= row {
                ring.sum(rows, next, into: sums.shorts + waiting * stride, count: samples)
                (next, waiting) = (next + 1, waiting + 1)
                guard waiting == together else { continue }
                try output.emit(waiting, { UnsafePointer(sums.shorts + $0 * stride) }, emit)
                waiting = 0
            }
        }
        if waiting > 0 { try output.emit(waiting, { UnsafePointer(sums.shorts + $0 * stride) }, emit) }
    }

    // Wide rows dominate the memory.

    /// Returns how many result rows are filtered together: of wide rows, fewer.
    static func together(_ samples: Int) -> Int { isWide(samples) ? lanes / 2 : lanes }

    /// Returns how many rows are read at a time: of wide rows, fewer.
    static func rowsAtOnce(_ samples: Int) -> Int { isWide(samples) ? groupRows : blockRows }

    private static func isWide(_ samples: Int) -> Bool { samples * 2 * lanes > mostWaitingBytes }

    private static let lanes = cpixels_lanes
    private static let mostWaitingBytes = 40 << 10

    /// The sums of unfinished result rows, and of finished ones that wait to be filtered together.
    private struct Window {
        let samples: Int
        private let buffer: ScratchBuffer
        private let stride: Int
        private let count: Int
        /// The end of the rows of the result that are wanted.
        let end: Int
        /// The next row of the result to be finished.
        var next: Int
        /// The next row of the result to be filtered and emitted.
        var nextOut: Int
        var waiting: Int { next - nextOut }

        init(samples: Int, padding: Int, count: Int, band: Range<Int>) throws(WebImageError) {
            self.samples = samples
            self.count = count
            (next, nextOut, end) = (band.lowerBound, band.lowerBound, band.upperBound)
            stride = samples + padding
            buffer = try ScratchBuffer(byteCount: stride * count * 2)
            // The filter reads into the padding, with weight 0.
            buffer.clear()
        }

        func sum(_ output: Int) -> UnsafeMutablePointer<Int16> { buffer.shorts + (output % count) * stride }

        mutating func emit(
            _ rows: FilteredRows,
            _ emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
        ) throws(WebImageError) {
            try rows.emit(waiting, { UnsafePointer(sum(nextOut + $0)) }, emit)
            nextOut = next
        }
    }

    /// Filters finished sums along the row, several rows at once.
    private struct FilteredRows {
        private let columns: ResampleFilter
        private let channels: Int
        private let isPremultiplied: Bool
        private let bytesPerRow: Int
        private let bytes: ScratchBuffer
        private let scratch: ScratchBuffer

        init(_ columns: ResampleFilter, channels: Int, isPremultiplied: Bool) throws(WebImageError) {
            self.columns = columns
            self.channels = channels
            self.isPremultiplied = isPremultiplied
            bytesPerRow = columns.outputCount * channels
            bytes = try ScratchBuffer(byteCount: bytesPerRow * lanes)
            let floats = columns.withFilter { cpixels_filter_scratch($0, Int32(channels)) }
            scratch = try ScratchBuffer(byteCount: floats * 4)
        }

        func emit(
            _ count: Int,
            _ sum: (Int) -> UnsafePointer<Int16>,
            _ emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
        ) throws(WebImageError) {
            let sums = (0..<lanes).map { lane -> UnsafePointer<Int16>? in sum(min(lane, count - 1)) }
            columns.withFilter { filter in
                cpixels_filter_rows(
                    sums,
                    count,
                    Int32(channels),
                    isPremultiplied,
                    filter,
                    scratch.floats,
                    bytes.bytes,
                    bytesPerRow
                )
            }
            for row in 0..<count { try emit(UnsafePointer(bytes.bytes + row * bytesPerRow)) }
        }
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
            while output < window.end, Int(rows.first[output]) < first + count {
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

    /// Returns the maximum number of result rows that are unfinished at the same time.
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
