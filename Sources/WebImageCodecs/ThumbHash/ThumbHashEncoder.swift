import Glibc

/// Encodes the ``ThumbHash`` of a bitmap of at most 100 × 100 pixels.
struct ThumbHashEncoder {
    private let width: Int
    private let height: Int
    /// The sides whose ratio is stored.
    private let shape: (width: Int, height: Int)
    private let hasAlpha: Bool
    /// Lightness, yellow against blue, red against green, and alpha: each channel for all pixels.
    private let channels: [Double]

    private struct Channel {
        var constant = 1.0
        var scale = 1.0
    }

    /// One number for each frequency; more than any channel needs.
    private typealias Frequencies = SIMD8<Double>
    /// Cosines along one side, by position.
    private typealias Cosines = [Frequencies]

    /// - Parameter shape: the exact sides of the image, if the bitmap has them only roughly.
    init(_ pixels: HashedPixels, shape: (width: Int, height: Int)? = nil) {
        let (width, height) = (pixels.bitmap.width, pixels.bitmap.height)
        self.width = width
        self.height = height
        self.shape = shape ?? (width, height)
        hasAlpha = pixels.hasAlpha
        let count = width * height
        channels = [Double](unsafeUninitializedCapacity: 4 * count) { output, used in
            for row in 0..<height {
                for column in 0..<width {
                    let color = pixels.color(row, column)
                    let index = row * width + column
                    output.initializeElement(at: index, to: (color.x + color.y + color.z) / 3)
                    output.initializeElement(at: count + index, to: (color.x + color.y) / 2 - color.z)
                    output.initializeElement(at: 2 * count + index, to: color.x - color.y)
                    output.initializeElement(at: 3 * count + index, to: color.w)
                }
            }
            used = 4 * count
        }
    }

    func bytes() -> [UInt8] {
        let limit = hasAlpha ? 5.0 : 7.0
        let longest = Double(max(shape.width, shape.height))
        let columns = max(1, Self.rounded(limit * Double(shape.width) / longest))
        let rows = max(1, Self.rounded(limit * Double(shape.height) / longest))
        let across = Self.cosines(width)
        let down = width == height ? across : Self.cosines(height)
        var waves: [Double] = []
        waves.reserveCapacity(64)
        var lines = [Frequencies](repeating: Frequencies(), count: height)
        func transform(_ channel: Int, _ columns: Int, _ rows: Int) -> Channel {
            self.transform(channel, columns, rows, (across, down), &lines, &waves)
        }
        let light = transform(0, max(3, columns), max(3, rows))
        let yellow = transform(1, 3, 3)
        let red = transform(2, 3, 3)
        let clear = hasAlpha ? transform(3, 5, 5) : Channel()
        let isLandscape = shape.width > shape.height

        let colors = Self.rounded(63 * light.constant) | Self.rounded(31.5 + 31.5 * yellow.constant) << 6
        let tail = Self.rounded(31.5 + 31.5 * red.constant) << 12 | Self.rounded(31 * light.scale) << 18
        let first = colors | tail | (hasAlpha ? 1 << 23 : 0)
        let scales = Self.rounded(63 * yellow.scale) << 3 | Self.rounded(63 * red.scale) << 9
        let second = (isLandscape ? rows : columns) | scales | (isLandscape ? 1 << 15 : 0)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(6 + (waves.count + 1) / 2)
        let head = first | second << 24
        for shift in 0..<5 { bytes.append(UInt8(truncatingIfNeeded: head >> (8 * shift))) }
        if hasAlpha {
            bytes.append(UInt8(Self.rounded(15 * clear.constant) | Self.rounded(15 * clear.scale) << 4))
        }
        for (index, wave) in waves.enumerated() {
            let nibble = UInt8(Self.rounded(15 * wave))
            if index % 2 == 0 { bytes.append(nibble) } else { bytes[bytes.count - 1] |= nibble << 4 }
        }
        return bytes
    }

    /// Amplitudes up to this are only rounding errors. Scaled up, they would give a plain image a different hash on each machine.
    private static let noise = 1e-10

    private static func rounded(_ value: Double) -> Int { Int(value.rounded(.toNearestOrAwayFromZero)) }

    /// Appends the cosine transform, only the triangle of low frequencies, with amplitudes scaled to 0...1.
    ///
    /// - Parameter lines: scratch memory for the sums along the rows of pixels.
    private func transform(
        _ channel: Int,
        _ columns: Int,
        _ rows: Int,
        _ cosines: (across: Cosines, down: Cosines),
        _ lines: inout [Frequencies],
        _ waves: inout [Double]
    ) -> Channel {
        sumLines(channel, cosines.across, &lines)
        var result = Channel(constant: 0, scale: 0)
        let begin = waves.count
        for row in 0..<rows {
            var sums = Frequencies()
            for y in 0..<height { sums += lines[y] * cosines.down[y][row] }
            sums /= Double(width * height)
            var column = 0
            while column * rows < columns * (rows - row) {
                let sum = sums[column]
                if column > 0 || row > 0 {
                    waves.append(sum)
                    result.scale = max(result.scale, abs(sum))
                } else {
                    result.constant = sum
                }
                column += 1
            }
        }
        let isPlain = result.scale <= Self.noise
        for index in begin..<waves.count { waves[index] = isPlain ? 0 : 0.5 + 0.5 / result.scale * waves[index] }
        if isPlain { result.scale = 0 }
        return result
    }

    /// Sums each frequency along every row of pixels.
    private func sumLines(_ channel: Int, _ across: Cosines, _ lines: inout [Frequencies]) {
        channels.withUnsafeBufferPointer { channels in
            across.withUnsafeBufferPointer { across in
                for y in 0..<height {
                    let pixels = (channel * height + y) * width
                    var line = Frequencies()
                    for x in 0..<width { line += across[x] * channels[pixels + x] }
                    lines[y] = line
                }
            }
        }
    }

    /// The cosines for the usual side lengths, those of sampled images, by length.
    private static let usualCosines = (0...16).map(makeCosines)

    private static func cosines(_ length: Int) -> Cosines {
        length < usualCosines.count ? usualCosines[length] : makeCosines(length)
    }

    private static func makeCosines(_ length: Int) -> Cosines {
        // In steps: as one expression it takes the compiler seconds.
        let step: Double = .pi / Double(length)
        return (0..<length).map { place in
            var cosines = Frequencies()
            for frequency in cosines.indices {
                let angle = step * Double(frequency) * (Double(place) + 0.5)
                cosines[frequency] = cos(angle)
            }
            return cosines
        }
    }
}
