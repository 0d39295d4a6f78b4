import Glibc

extension Image {
    /// Finds the part of a size that is most salient: around the point with the most edges, skin and saturated colours.
    ///
    /// The rule is that of libvips' `smartcrop` for attention, on a map of 64 by 64 points: the three scores are added and blurred by a
    /// tenth of the part's diagonal, and the part is centred on the greatest one.
    ///
    /// - Parameters:
    ///   - width: the width in pixels, at most that of the upright image.
    ///   - height: the height in pixels, at most that of the upright image.
    /// - Returns: the top left corner of the part.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a size that is empty or larger than the image,
    ///   ``WebImageError/Code/outOfMemory``.
    package func salientPart(width: Int, height: Int) throws(WebImageError) -> (x: Int, y: Int) {
        let upright = try uprightBitmapIn8Bits()
        guard (1...upright.width).contains(width), (1...upright.height).contains(height) else {
            throw .untransformable("no part of \(width)x\(height) in an image of \(upright.width)x\(upright.height)")
        }
        let side = SaliencyMap.side
        let small = try Resampler.resize(upright, width: side, height: side).flattened(onto: .black)
        let across = Double(width) * Double(side) / Double(upright.width)
        let down = Double(height) * Double(side) / Double(upright.height)
        let point = SaliencyMap(small).peak(sigma: max(hypot(across, down) / 10, 1))
        func start(_ peak: Int, _ whole: Int, _ part: Int) -> Int {
            let centre = (Double(peak) + 0.5) * Double(whole) / Double(side)
            return max(0, min(Int(centre - Double(part) / 2), whole - part))
        }
        return (start(point.x, upright.width, width), start(point.y, upright.height, height))
    }
}

/// Scores of the points of a small image.
private struct SaliencyMap {
    /// The width and height.
    static let side = 64

    private var scores: [Float]

    /// Computes the scores of a bitmap of packed RGB with this side.
    init(_ bitmap: Bitmap) {
        let side = Self.side
        let colors = (0..<side * side).map { index in
            let pixel = bitmap.bytes(index / side) + index % side * 3
            return Color(red: pixel[0], green: pixel[1], blue: pixel[2])
        }
        scores = colors.indices.map { index in
            let (x, y) = (index % side, index / side)
            func light(_ x: Int, _ y: Int) -> Float {
                colors[min(max(y, 0), side - 1) * side + min(max(x, 0), side - 1)].y
            }
            let edge = 4 * light(x, y) - light(x - 1, y) - light(x + 1, y) - light(x, y - 1) - light(x, y + 1)
            return abs(edge) * 5 + colors[index].skin + colors[index].saturation
        }
    }

    /// Returns the point with the greatest score after a blur.
    func peak(sigma: Double) -> (x: Int, y: Int) {
        let side = Self.side
        let weights = (0..<side).map { Float(exp(-Double($0 * $0) / (2 * sigma * sigma))) }
        func blurred(_ values: [Float], step: Int) -> [Float] {
            values.indices.map { index in
                let place = index / step % side
                var (sum, weight): (Float, Float) = (0, 0)
                for other in 0..<side {
                    let factor = weights[abs(other - place)]
                    sum += factor * values[index + (other - place) * step]
                    weight += factor
                }
                return sum / weight
            }
        }
        let result = blurred(blurred(scores, step: 1), step: side)
        let best = result.indices.max { result[$0] < result[$1] } ?? 0
        return (best % side, best / side)
    }

    /// A colour as the scores need it.
    private struct Color {
        /// The luminance, 0...100.
        let y: Float
        /// The nearness of the hue to that of skin, up to 100.
        let skin: Float
        /// The chroma of CIELAB.
        let saturation: Float

        init(red: UInt8, green: UInt8, blue: UInt8) {
            let (r, g, b) = (Self.linear(red), Self.linear(green), Self.linear(blue))
            let x = 100 * (0.4124 * r + 0.3576 * g + 0.1805 * b)
            y = 100 * (0.2126 * r + 0.7152 * g + 0.0722 * b)
            let z = 100 * (0.0193 * r + 0.1192 * g + 0.9505 * b)
            // In the dark, hues are noise.
            guard y > 5 else {
                (skin, saturation) = (0, 0)
                return
            }
            let length = (x * x + y * y + z * z).squareRoot()
            let (dx, dy, dz) = (x / length - 0.78, y / length - 0.57, z / length - 0.44)
            skin = max(100 - 100 * (dx * dx + dy * dy + dz * dz).squareRoot(), 0)
            let (fx, fy, fz) = (cbrt(x / 95.047), cbrt(y / 100), cbrt(z / 108.883))
            saturation = hypot(500 * (fx - fy), 200 * (fy - fz))
        }

        private static func linear(_ level: UInt8) -> Float {
            let value = Float(level) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
    }
}
