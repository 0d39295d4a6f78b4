import CPixels

/// The source pixels that contribute to each pixel of a resized line, and their weights.
///
/// Pixel centres lie at one half, and filters widen with the scale when a line gets shorter. `high` is Lanczos with three lobes. `fast` is the mean
/// over the area that a result pixel covers, with partly covered pixels weighted by their part (and linear interpolation when a line gets longer).
final class ResampleFilter: Sendable {
    let inputCount: Int
    let outputCount: Int
    /// The maximum number of source pixels that contribute to an output pixel.
    let reach: Int
    /// The number of weights per output pixel, a multiple of 4; unused ones are zero.
    let taps: Int
    /// The first source pixel of each output pixel; never decreases.
    let first: [Int32]
    /// One past the last source pixel with a weight; never decreases.
    let end: [Int32]
    /// `taps` weights for each output pixel; their sum is 1.
    let weights: [Float]
    /// The weights as four parts of 256 for each output pixel; nil unless the filter is `fast` with four of them at most.
    let shares: [UInt16]?

    /// - Parameters:
    ///   - origin: the start of the result among the source pixels. Pixels outside the result contribute where the filter reaches them.
    ///   - extent: how many of the source pixels the image covers, as a decoder that scales rounds up and the image may cover the last pixel only
    ///     partly; nil for all of them.
    init(
        from inputCount: Int,
        origin: Double = 0,
        extent: Double? = nil,
        to outputCount: Int,
        quality: ImageDecodeOptions.ScalingQuality
    ) {
        self.inputCount = inputCount
        self.outputCount = outputCount
        let scale = (extent ?? Double(inputCount)) / Double(outputCount)
        let support = Self.support(scale: scale, quality: quality)
        let reach = Self.reach(support, inputCount)
        let taps = (reach + 3) & ~3
        var first = [Int32](repeating: 0, count: outputCount)
        var end = first
        cpixels_find_reach(inputCount, origin, scale, support, reach, &first, &end, outputCount)
        (self.reach, self.taps, self.first, self.end) = (reach, taps, first, end)
        weights = [Float](unsafeUninitializedCapacity: taps * outputCount) { weights, count in
            count = weights.count
            first.withUnsafeBufferPointer { first in
                end.withUnsafeBufferPointer { end in
                    let pixels = cpixels_reach(
                        first: first.baseAddress,
                        end: end.baseAddress,
                        count: outputCount,
                        taps: taps
                    )
                    let fill = quality == .high ? cpixels_lanczos_weights : cpixels_area_weights
                    fill(pixels, origin, scale, weights.baseAddress)
                }
            }
        }
        shares = quality == .fast && taps == 4 ? Self.shares(of: weights) : nil
    }

    private static func reach(_ support: Double, _ inputCount: Int) -> Int {
        min(Int((2 * support).rounded(.up)) + 1, inputCount)
    }

    /// Returns ``reach`` of a filter from `inputCount` to `outputCount` pixels.
    static func reach(from inputCount: Int, to outputCount: Int, quality: ImageDecodeOptions.ScalingQuality) -> Int {
        reach(support(scale: Double(inputCount) / Double(outputCount), quality: quality), inputCount)
    }

    /// Returns how many source pixels on each side of a centre the filter reaches.
    static func support(scale: Double, quality: ImageDecodeOptions.ScalingQuality) -> Double {
        quality == .high ? 3 * max(scale, 1) : 0.5 * max(scale, 1) + 0.5
    }

    private static func shares(of weights: [Float]) -> [UInt16] {
        [UInt16](unsafeUninitializedCapacity: weights.count) { shares, count in
            cpixels_weight_shares(weights, shares.baseAddress, weights.count)
            count = weights.count
        }
    }

    /// Calls `body` with the filter in the form for the C loops.
    func withFilter<Value>(_ body: (UnsafePointer<cpixels_row_filter>) -> Value) -> Value {
        first.withUnsafeBufferPointer { first in
            weights.withUnsafeBufferPointer { weights in
                var filter = cpixels_row_filter(
                    first: first.baseAddress,
                    weights: weights.baseAddress,
                    taps: taps,
                    output_width: outputCount
                )
                return body(&filter)
            }
        }
    }
}

extension ResampleFilter {
    private struct Key: Hashable {
        let from: Int
        let origin: Double
        let extent: Double
        let to: Int
        let quality: ImageDecodeOptions.ScalingQuality
    }

    /// The recently used filters, newest last: the images of a list often share a size.
    private static let recent = Lock<[(key: Key, filter: ResampleFilter)]>([])

    /// Returns a filter, a recently used one if possible.
    static func shared(
        from inputCount: Int,
        origin: Double = 0,
        extent: Double,
        to outputCount: Int,
        quality: ImageDecodeOptions.ScalingQuality
    ) -> ResampleFilter {
        let key = Key(from: inputCount, origin: origin, extent: extent, to: outputCount, quality: quality)
        let known = recent.withLock { list -> ResampleFilter? in
            guard let index = list.lastIndex(where: { $0.key == key }) else { return nil }
            let entry = list.remove(at: index)
            list.append(entry)
            return entry.filter
        }
        if let known { return known }
        let filter = ResampleFilter(
            from: inputCount,
            origin: origin,
            extent: extent,
            to: outputCount,
            quality: quality
        )
        guard filter.weights.count <= 1 << 16 else { return filter }
        let dropped = recent.withLock { list -> ResampleFilter? in
            list.append((key, filter))
            return list.count > 16 ? list.removeFirst().filter : nil
        }
        _ = dropped
        return filter
    }
}
