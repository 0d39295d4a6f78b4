import CPixels

extension Resampler {
    /// A Boolean value that indicates whether ``runArea(band:into:read:emit:)`` can be used: the area filter over at most four pixels in each
    /// direction, with three or four channels.
    var isNarrowArea: Bool { channels >= 3 && rows.shares != nil && columns.shares != nil }

    /// Resizes like `run`, in bytes instead of floats: enough for an image whose decoder has scaled it to within a factor of two.
    ///
    /// Weights have eight bits, and rows are rounded once in between, so results can be off by one or two levels.
    ///
    /// - Throws: the errors of `read` and `emit`, or ``WebImageError/Code/outOfMemory``.
    func runArea(
        band: Range<Int>,
        into place: RowPlace?,
        read: (_ count: Int, _ base: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int) throws(WebImageError) -> Void,
        emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        var window = try AreaWindow(self, place)
        var row = firstRow(of: band)
        var next = band.lowerBound
        let end = endRow(of: band)
        while row < end {
            let count = min(Self.blockRows, rows.inputCount - row)
            try read(count, window.source.place(of: row), window.stride)
            row += count
            while next < band.upperBound, Int(rows.end[next]) <= row {
                window.blend(rows, next)
                next += 1
                if window.waiting == AreaWindow.together { try window.emit(columns, emit) }
            }
        }
        try window.emit(columns, emit)
    }

    /// The source rows that are still needed: row n is at the place n modulo their number.
    struct RowRing {
        let stride: Int
        private let count: Int
        private let rows: ScratchBuffer

        /// - Parameters:
        ///   - byteCount: how many bytes of each row are used; the loops read up to the next multiple of 64.
        ///   - reach: how many rows a result row is made of, at most.
        ///   - blockRows: how many rows are read at a time.
        init(byteCount: Int, reach: Int, blockRows: Int) throws(WebImageError) {
            stride = (byteCount + 63) & ~63
            count = Self.rowCount(reach: reach, blockRows: blockRows)
            rows = try ScratchBuffer(byteCount: stride * count)
        }

        /// Returns the number of rows in whole blocks: those of a result row, and the others of the block that ends it.
        static func rowCount(reach: Int, blockRows: Int) -> Int { (reach + 2 * blockRows - 2) / blockRows * blockRows }

        func place(of row: Int) -> UnsafeMutablePointer<UInt8> { rows.bytes + row % count * stride }

        /// Writes the weighted sum of the rows of a result row.
        func sum(_ filter: ResampleFilter, _ index: Int, into sums: UnsafeMutablePointer<Int16>, count: Int) {
            let ring = cpixels_ring(rows: rows.bytes, bytes_per_row: stride, count: self.count)
            let first = Int(filter.first[index])
            filter.weights.withUnsafeBufferPointer { weights in
                cpixels_sum_rows(
                    ring,
                    first,
                    weights.baseAddress?.advanced(by: index * filter.taps),
                    Int(filter.end[index]) - first,
                    sums,
                    count
                )
            }
        }
    }

    /// The source rows that are still needed, and blended rows that wait to be narrowed together.
    private struct AreaWindow {
        static let together = Int(cpixels_area_rows)

        let source: RowRing
        var stride: Int { source.stride }
        private let channels: Int
        private let samples: Int
        private let outputStride: Int
        private let blended: ScratchBuffer
        private let output: ScratchBuffer
        /// The place of the next row, if rows are not passed on.
        private var place: RowPlace?
        private(set) var waiting = 0

        init(_ resampler: Resampler, _ place: RowPlace?) throws(WebImageError) {
            self.place = place
            channels = resampler.channels
            samples = resampler.columns.inputCount * channels
            // Sixteen bytes are read from any pixel on.
            source = try RowRing(
                byteCount: samples + 16,
                reach: resampler.rows.reach,
                blockRows: Resampler.blockRows
            )
            outputStride = (resampler.columns.outputCount * channels + 63) & ~63
            blended = try ScratchBuffer(byteCount: source.stride * Self.together)
            output = try ScratchBuffer(byteCount: outputStride * Self.together)
            blended.clear()
        }

        mutating func blend(_ rows: ResampleFilter, _ index: Int) {
            guard let shares = rows.shares else { return }
            let first = Int(rows.first[index])
            let last = Int(rows.end[index]) - 1
            shares.withUnsafeBufferPointer { shares in
                cpixels_blend_rows(
                    source.place(of: first),
                    source.place(of: min(first + 1, last)),
                    source.place(of: min(first + 2, last)),
                    source.place(of: min(first + 3, last)),
                    shares.baseAddress?.advanced(by: 4 * index),
                    blended.bytes + waiting * stride,
                    samples
                )
            }
            waiting += 1
        }

        mutating func emit(
            _ columns: ResampleFilter,
            _ emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
        ) throws(WebImageError) {
            guard waiting > 0, let shares = columns.shares else { return }
            let direct = waiting == Self.together ? place : nil
            let (target, targetStride) = direct.map { ($0.base, $0.bytesPerRow) } ?? (output.bytes, outputStride)
            columns.first.withUnsafeBufferPointer { first in
                shares.withUnsafeBufferPointer { shares in
                    var filter = cpixels_area_filter(
                        first: first.baseAddress,
                        weights: shares.baseAddress,
                        output_width: columns.outputCount
                    )
                    cpixels_narrow_rows(blended.bytes, stride, Int32(channels), &filter, target, targetStride)
                }
            }
            let count = waiting
            waiting = 0
            guard let place else {
                for row in 0..<count { try emit(UnsafePointer(output.bytes + row * outputStride)) }
                return
            }
            let byteCount = columns.outputCount * channels
            if direct == nil { place.take(count, output.bytes, outputStride, byteCount: byteCount) }
            self.place?.base += count * place.bytesPerRow
        }
    }
}
