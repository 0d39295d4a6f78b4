import CPixels
import Glibc

/// The source pixels that contribute to each pixel of a resized line, and their weights.
///
/// Pixel centres lie at one half, and filters widen with the scale when a line gets shorter. `high` is Lanczos with three lobes. `fast` is the mean
/// over the area that a result pixel covers, with partly covered pixels weighted by their part (and linear interpolation when a line gets longer).
final class ResampleFilter: Sendable {
    let inputCount: Int
    let outputCount: Int
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
        let widening = max(scale, 1)
        let support = Self.support(scale: scale, quality: quality)
        let mostTaps = min(Int((2 * support).rounded(.up)) + 1, inputCount)
        let taps = (mostTaps + 3) & ~3
        var first: [Int32] = []
        var end: [Int32] = []
        first.reserveCapacity(outputCount)
        end.reserveCapacity(outputCount)
        weights = [Float](unsafeUninitializedCapacity: taps * outputCount) { weights, count in
            weights.initialize(repeating: 0)
            count = weights.count
            for output in 0..<outputCount {
                let center = origin + (Double(output) + 0.5) * scale
                let low = max(Int(center - support + 0.5), 0)
                let high = max(min(Int(center + support + 0.5), inputCount, low + mostTaps), low + 1)
                first.append(Int32(low))
                end.append(Int32(high))
                let line = UnsafeMutableBufferPointer(rebasing: weights[output * taps..<output * taps + high - low])
                Self.fill(line, start: (Double(low) - center + 0.5) / widening, step: 1 / widening, quality: quality)
            }
        }
        self.taps = taps
        self.first = first
        self.end = end
        shares = quality == .fast && taps == 4 ? Self.shares(of: weights) : nil
    }

    /// Returns how many source pixels on each side of a centre the filter reaches.
    static func support(scale: Double, quality: ImageDecodeOptions.ScalingQuality) -> Double {
        quality == .high ? 3 * max(scale, 1) : 0.5 * max(scale, 1) + 0.5
    }

    /// Converts four weights at a time to fractions of 256. The largest absorbs the rounding error, so white stays white.
    private static func shares(of weights: [Float]) -> [UInt16] {
        [UInt16](unsafeUninitializedCapacity: weights.count) { shares, count in
            for start in stride(from: 0, to: weights.count, by: 4) {
                var sum = 0
                var largest = start
                for index in start..<start + 4 {
                    let share = UInt16(weights[index] * 256 + 0.5)
                    shares.initializeElement(at: index, to: share)
                    sum += Int(share)
                    if share > shares[largest] { largest = index }
                }
                shares[largest] = UInt16(Int(shares[largest]) + 256 - sum)
            }
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

    private static func fill(
        _ line: UnsafeMutableBufferPointer<Float>,
        start: Double,
        step: Double,
        quality: ImageDecodeOptions.ScalingQuality
    ) {
        var sum = 0.0
        switch quality {
        case .fast:
            for index in line.indices {
                let position = start + Double(index) * step
                let weight = max(min(position + step / 2, 0.5) - max(position - step / 2, -0.5), 0)
                line[index] = Float(weight)
                sum += weight
            }
        case .high:
            sum = fillLanczos(line, start: start, step: step)
        }
        guard sum != 0 else {
            line[0] = 1
            return
        }
        for index in line.indices { line[index] = Float(Double(line[index]) / sum) }
    }

    /// Returns the sum of the weights that it writes.
    private static func fillLanczos(_ line: UnsafeMutableBufferPointer<Float>, start: Double, step: Double) -> Double {
        // The sines of equally spaced angles follow from each other by a rotation, and sin(3a) = 3 sin a - 4 sin³ a.
        var sine = sin(start * .pi / 3)
        var cosine = cos(start * .pi / 3)
        let stepSine = sin(step * .pi / 3)
        let stepCosine = cos(step * .pi / 3)
        var sum = 0.0
        for index in line.indices {
            let position = start + Double(index) * step
            var weight = 0.0
            if abs(position) < 1e-4 {
                // At the centre the quotient below would divide two rounding errors; the curve is flat there.
                weight = 1
            } else if abs(position) < 3 {
                weight = 3 * (3 * sine - 4 * sine * sine * sine) * sine / (.pi * .pi * position * position)
            }
            line[index] = Float(weight)
            sum += weight
            (sine, cosine) = (sine * stepCosine + cosine * stepSine, cosine * stepCosine - sine * stepSine)
        }
        return sum
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
