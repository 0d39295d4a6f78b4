import Glibc

/// Makes the bytes of a ``ThumbHash`` of a bitmap of at most 100 × 100 pixels.
struct ThumbHashEncoder {
    private let width: Int
    private let height: Int
    /// The sides that the ratio is told of.
    private let shape: (width: Int, height: Int)
    private let hasAlpha: Bool
    private var lightness: [Double] = []
    private var yellowBlue: [Double] = []
    private var redGreen: [Double] = []
    private var alpha: [Double] = []

    private struct Channel {
        var constant = 1.0
        var waves: [Double] = []
        var scale = 1.0
    }

    /// - Parameter shape: the sides of the picture, where the bitmap tells them roughly.
    init(_ bitmap: Bitmap, shape: (width: Int, height: Int)? = nil) {
        width = bitmap.width
        height = bitmap.height
        self.shape = shape ?? (bitmap.width, bitmap.height)
        // Components premultiplied, 0...1, as the format wants them.
        var pixels: [(red: Double, green: Double, blue: Double, alpha: Double)] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            let bytes = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for column in 0..<width {
                func component(_ index: Int) -> Double {
                    Double(bytes[column * bitmap.pixelFormat.bytesPerPixel + index]) / 255
                }
                switch bitmap.pixelFormat {
                case .rgb8: pixels.append((component(0), component(1), component(2), 1))
                case .bgra8Premultiplied:
                    // A colour above its alpha does not exist; whoever made such pixels must not break the arithmetic.
                    let alpha = component(3)
                    pixels.append((min(component(2), alpha), min(component(1), alpha), min(component(0), alpha), alpha))
                // Who makes the hash has made 8 bits of them.
                case .rgbaHalfPremultiplied: pixels.append((0, 0, 0, 0))
                }
            }
        }
        let total = pixels.reduce(into: (red: 0.0, green: 0.0, blue: 0.0, alpha: 0.0)) { sum, pixel in
            sum = (sum.red + pixel.red, sum.green + pixel.green, sum.blue + pixel.blue, sum.alpha + pixel.alpha)
        }
        hasAlpha = bitmap.pixelFormat.hasAlpha && total.alpha < Double(width * height)
        let weight = total.alpha > 0 ? total.alpha : 1
        for pixel in pixels {
            // What is transparent shows the mean colour.
            let rest = 1 - pixel.alpha
            let red = total.red / weight * rest + pixel.red
            let green = total.green / weight * rest + pixel.green
            let blue = total.blue / weight * rest + pixel.blue
            lightness.append((red + green + blue) / 3)
            yellowBlue.append((red + green) / 2 - blue)
            redGreen.append(red - green)
            alpha.append(pixel.alpha)
        }
    }

    func bytes() -> [UInt8] {
        let limit = hasAlpha ? 5.0 : 7.0
        let longest = Double(max(shape.width, shape.height))
        let columns = max(1, Self.rounded(limit * Double(shape.width) / longest))
        let rows = max(1, Self.rounded(limit * Double(shape.height) / longest))
        let light = transform(lightness, max(3, columns), max(3, rows))
        let yellow = transform(yellowBlue, 3, 3)
        let red = transform(redGreen, 3, 3)
        let clear = hasAlpha ? transform(alpha, 5, 5) : Channel()
        let isLandscape = shape.width > shape.height

        let colors = Self.rounded(63 * light.constant) | Self.rounded(31.5 + 31.5 * yellow.constant) << 6
        let tail = Self.rounded(31.5 + 31.5 * red.constant) << 12 | Self.rounded(31 * light.scale) << 18
        let first = colors | tail | (hasAlpha ? 1 << 23 : 0)
        let scales = Self.rounded(63 * yellow.scale) << 3 | Self.rounded(63 * red.scale) << 9
        let second = (isLandscape ? rows : columns) | scales | (isLandscape ? 1 << 15 : 0)
        var bytes = [first & 255, first >> 8 & 255, first >> 16, second & 255, second >> 8].map(UInt8.init)
        if hasAlpha {
            bytes.append(UInt8(Self.rounded(15 * clear.constant) | Self.rounded(15 * clear.scale) << 4))
        }
        let waves = light.waves + yellow.waves + red.waves + (hasAlpha ? clear.waves : [])
        for (index, wave) in waves.enumerated() {
            let nibble = UInt8(Self.rounded(15 * wave))
            if index % 2 == 0 { bytes.append(nibble) } else { bytes[bytes.count - 1] |= nibble << 4 }
        }
        return bytes
    }

    /// Strength that is nothing but rounding; scaled up it would make a plain picture hash differently on each machine.
    private static let noise = 1e-10

    private static func rounded(_ value: Double) -> Int { Int(value.rounded(.toNearestOrAwayFromZero)) }

    /// The cosine transform, only the triangle of low frequencies; waves are scaled to 0...1.
    private func transform(_ channel: [Double], _ columns: Int, _ rows: Int) -> Channel {
        var result = Channel(constant: 0, waves: [], scale: 0)
        let across = Self.cosines(columns, width)
        let down = Self.cosines(rows, height)
        for row in 0..<rows {
            var column = 0
            while column * rows < columns * (rows - row) {
                var sum = 0.0
                for y in 0..<height {
                    var line = 0.0
                    for x in 0..<width { line += channel[x + y * width] * across[column * width + x] }
                    sum += line * down[row * height + y]
                }
                sum /= Double(width * height)
                if column > 0 || row > 0 {
                    result.waves.append(sum)
                    result.scale = max(result.scale, abs(sum))
                } else {
                    result.constant = sum
                }
                column += 1
            }
        }
        guard result.scale > Self.noise else {
            return Channel(constant: result.constant, waves: result.waves.map { _ in 0 }, scale: 0)
        }
        result.waves = result.waves.map { 0.5 + 0.5 / result.scale * $0 }
        return result
    }

    private static func cosines(_ frequencies: Int, _ length: Int) -> [Double] {
        // In steps: as one expression it takes the compiler seconds.
        let step: Double = .pi / Double(length)
        return (0..<frequencies * length).map { (index: Int) -> Double in
            let frequency = Double(index / length)
            let place = Double(index % length) + 0.5
            return cos(step * frequency * place)
        }
    }
}
