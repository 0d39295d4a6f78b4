import CPixels

extension Resampler {
    /// A Boolean value that indicates whether ``runArea(band:read:emit:)`` can be used: the area filter over at most four pixels in each
    /// direction, with three or four channels.
    var isNarrowArea: Bool { channels >= 3 && rows.shares != nil && columns.shares != nil }

    /// Resizes like `run`, in bytes instead of floats: enough for an image whose decoder has scaled it to within a factor of two.
    ///
    /// Weights have eight bits, and rows are rounded once in between, so results can be off by one or two levels.
    ///
    /// - Throws: the errors of `read` and `emit`, or ``WebImageError/Code/outOfMemory``.
    func runArea(
        band: Range<Int>,
        read: (_ count: Int, _ base: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int) throws(WebImageError) -> Void,
        emit: (_ row: UnsafePointer<UInt8>) throws(WebImageError) -> Void
    ) throws(WebImageError) {
        var window = try AreaWindow(self)
        var row = firstRow(of: band)
        var next = band.lowerBound
        let end = endRow(of: band)
        while row < end {
            let count = min(Self.blockRows, rows.inputCount - row)
            try read(count, window.input(row), window.stride)
            row += count
            while next < band.upperBound, Int(rows.end[next]) <= row {
                window.blend(rows, next)
                next += 1
                if window.waiting == AreaWindow.together { try window.emit(columns, emit) }
            }
        }
        try window.emit(columns, emit)
    }

    /// The source rows that are still needed, and blended rows that wait to be narrowed together.
    private struct AreaWindow {
        static let together = Int(cpixels_area_rows)

        let stride: Int
        private let channels: Int
        private let samples: Int
        private let outputStride: Int
        private let source: ScratchBuffer
        private let blended: ScratchBuffer
        private let output: ScratchBuffer
        private(set) var waiting = 0

        init(_ resampler: Resampler) throws(WebImageError) {
            channels = resampler.channels
            samples = resampler.columns.inputCount * channels
            // Sixteen bytes are read from any pixel on, and results are written with one extra byte.
            stride = (samples + 16 + 63) & ~63
            outputStride = (resampler.columns.outputCount * channels + 1 + 63) & ~63
            source = try ScratchBuffer(byteCount: stride * 2 * Resampler.blockRows)
            blended = try ScratchBuffer(byteCount: stride * Self.together)
            output = try ScratchBuffer(byteCount: outputStride * Self.together)
            blended.clear()
        }

        /// Returns the place of a source row, alternately in one of two blocks.
        func input(_ row: Int) -> UnsafeMutablePointer<UInt8> {
            source.bytes + row % (2 * Resampler.blockRows) * stride
        }

        mutating func blend(_ rows: ResampleFilter, _ index: Int) {
            guard let shares = rows.shares else { return }
            let first = Int(rows.first[index])
            let last = Int(rows.end[index]) - 1
            shares.withUnsafeBufferPointer { shares in
                cpixels_blend_rows(
                    input(first),
                    input(min(first + 1, last)),
                    input(min(first + 2, last)),
                    input(min(first + 3, last)),
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
            columns.first.withUnsafeBufferPointer { first in
                shares.withUnsafeBufferPointer { shares in
                    var filter = cpixels_area_filter(
                        first: first.baseAddress,
                        weights: shares.baseAddress,
                        output_width: columns.outputCount
                    )
                    cpixels_narrow_rows(blended.bytes, stride, Int32(channels), &filter, output.bytes, outputStride)
                }
            }
            for row in 0..<waiting { try emit(UnsafePointer(output.bytes + row * outputStride)) }
            waiting = 0
        }
    }
}
