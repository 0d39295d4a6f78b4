import Glibc

extension Image {
    /// Returns the image blurred by a Gaussian, exactly for a small standard deviation; from 2 pixels on as ``blurred(radius:)`` does it.
    ///
    /// - Parameter sigma: the standard deviation in pixels; 0 or less for the same image.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a number that is not finite, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    package func gaussianBlurred(sigma: Double) throws(WebImageError) -> Image {
        guard sigma.isFinite else { throw .untransformable("blur radius must be finite, not \(sigma)") }
        guard sigma < 2 else { return try blurred(radius: sigma / scale) }
        guard sigma > 0 else { return self }
        let kernel = GaussianKernel(sigma: sigma, reach: Int((3 * sigma).rounded(.up)))
        let source = try uprightBitmapIn8Bits()
        let result = try Bitmap.allocate((source.width, source.height), source.pixelFormat, within: effectLimits)
        let count = source.width * source.pixelFormat.bytesPerPixel
        let channels = source.pixelFormat.bytesPerPixel
        try kernel.forEachRow(
            width: source.width,
            channels: channels,
            height: source.height,
            sample: { Float(source.bytes($0)[$1]) },
            body: { row, samples in
                let output = result.bytes(row)
                for index in 0..<count { output[index] = UInt8(samples[index] + 0.5) }
            }
        )
        return replacing(result)
    }

    /// Returns the image sharpened: differences from the blurred lightness are amplified, small ones (noise) are not.
    ///
    /// The rule is that of libvips' `sharpen` with its defaults: differences of CIELAB's lightness (0...100) up to 2 are left, greater ones
    /// are tripled, by at most 10 brighter and 20 darker. Takes four bytes per pixel beside the result.
    ///
    /// - Parameter sigma: the standard deviation of the blur in pixels, at most 10; 0 or less for the same image.
    /// - Throws: ``WebImageError/Code/transformFailed`` for a number that is not finite, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    package func sharpened(sigma: Double) throws(WebImageError) -> Image {
        guard sigma.isFinite else { throw .untransformable("sharpening must be finite, not \(sigma)") }
        guard sigma > 0 else { return self }
        // As libvips, without values of the Gaussian below a tenth.
        let reach = Int(((2 * log(10)).squareRoot() * min(sigma, 10)).rounded(.up)) - 1
        let kernel = GaussianKernel(sigma: min(sigma, 10), reach: max(reach, 0))
        let source = try uprightBitmapIn8Bits()
        let result = try Bitmap.allocate((source.width, source.height), source.pixelFormat, within: effectLimits)
        let plane = try LightnessPlane(source)
        try kernel.forEachRow(width: source.width, channels: 1, height: source.height, sample: plane.lightness) {
            row,
            blurred in
            memcpy(result.bytes(row), source.bytes(row), source.width * source.pixelFormat.bytesPerPixel)
            for column in 0..<source.width {
                let change = Self.amplified(plane.lightness(row, column) - blurred[column])
                if change != 0 { plane.change(result, row, column, by: change) }
            }
        }
        return replacing(result)
    }

    private static func amplified(_ difference: Float) -> Float {
        let excess = (abs(difference) - 2) * 3
        guard excess > 0 else { return 0 }
        return difference > 0 ? min(excess, 10) : -min(excess, 20)
    }
}

/// The lightness of all pixels of a bitmap.
private struct LightnessPlane {
    private let values: ScratchBuffer
    private let width: Int
    private let linear: [Float]

    init(_ bitmap: Bitmap) throws(WebImageError) {
        width = bitmap.width
        linear = (0...255).map { level in
            let value = Float(level) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        values = try ScratchBuffer(byteCount: bitmap.width * bitmap.height * MemoryLayout<Float>.size)
        for row in 0..<bitmap.height {
            for column in 0..<width {
                values.floats[row * width + column] = 116 * Self.cubeRoot(light(bitmap, row, column).y) - 16
            }
        }
    }

    /// The lightness of a pixel, 0...100.
    func lightness(_ row: Int, _ column: Int) -> Float { values.floats[row * width + column] }

    /// Adds to the lightness of a pixel, whose hue and chroma stay.
    func change(_ bitmap: Bitmap, _ row: Int, _ column: Int, by change: Float) {
        let light = light(bitmap, row, column)
        let step = change / 116
        // The same for all three keeps their differences, a and b.
        let (x, y, z) = (
            Self.cube(Self.cubeRoot(light.x) + step), Self.cube(Self.cubeRoot(light.y) + step),
            Self.cube(Self.cubeRoot(light.z) + step)
        )
        let pixel = bitmap.bytes(row) + column * bitmap.pixelFormat.bytesPerPixel
        let hasAlpha = bitmap.pixelFormat.hasAlpha
        // Colours are premultiplied: no component exceeds alpha.
        let most: UInt8 = hasAlpha ? pixel[3] : 255
        pixel[hasAlpha ? 2 : 0] = min(Self.level(3.0800 * x - 1.5372 * y - 0.5428 * z), most)
        pixel[1] = min(Self.level(-0.9211 * x + 1.8760 * y + 0.0452 * z), most)
        pixel[hasAlpha ? 0 : 2] = min(Self.level(0.0529 * x - 0.2040 * y + 1.1511 * z), most)
    }

    /// CIE XYZ relative to the white point.
    private func light(_ bitmap: Bitmap, _ row: Int, _ column: Int) -> (x: Float, y: Float, z: Float) {
        let pixel = bitmap.bytes(row) + column * bitmap.pixelFormat.bytesPerPixel
        let hasAlpha = bitmap.pixelFormat.hasAlpha
        let (red, green) = (linear[Int(pixel[hasAlpha ? 2 : 0])], linear[Int(pixel[1])])
        let blue = linear[Int(pixel[hasAlpha ? 0 : 2])]
        return (
            0.4339 * red + 0.3762 * green + 0.1899 * blue, 0.2126 * red + 0.7152 * green + 0.0722 * blue,
            0.0178 * red + 0.1095 * green + 0.8727 * blue
        )
    }

    private static func cubeRoot(_ value: Float) -> Float {
        value > 0.008856 ? cbrt(value) : 7.787 * value + 16 / 116
    }

    private static func cube(_ root: Float) -> Float {
        root > 0.2069 ? root * root * root : (root - 16 / 116) / 7.787
    }

    private static func level(_ linear: Float) -> UInt8 {
        guard linear > 0 else { return 0 }
        let value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055
        return UInt8(min(value * 255 + 0.5, 255))
    }
}

/// The weights of a Gaussian blur.
private struct GaussianKernel {
    /// The weights from the centre on; together with their mirror image, their sum is 1.
    private let weights: [Float]

    init(sigma: Double, reach: Int) {
        let values = (0...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = values.reduce(0, +) * 2 - values[0]
        weights = values.map { Float($0 / sum) }
    }

    /// Calls `body` with each row and its blurred samples. The image's edges are extended.
    ///
    /// - Parameters:
    ///   - width: the width in pixels.
    ///   - channels: the samples of a pixel.
    ///   - height: the height in pixels.
    ///   - sample: returns a sample of a row.
    ///   - body: called for each row, from the first to the last.
    /// - Throws: ``WebImageError/Code/outOfMemory``.
    func forEachRow(
        width: Int,
        channels: Int,
        height: Int,
        sample: (_ row: Int, _ index: Int) -> Float,
        body: (_ row: Int, _ samples: UnsafePointer<Float>) -> Void
    ) throws(WebImageError) {
        let count = width * channels
        let reach = weights.count - 1
        let scratch = try ScratchBuffer(byteCount: (2 * count + 2 * reach * channels) * MemoryLayout<Float>.size)
        defer { withExtendedLifetime(scratch) {} }
        let blurred = scratch.floats
        let column = blurred + count + reach * channels
        for row in 0..<height {
            for index in 0..<count { column[index] = weights[0] * sample(row, index) }
            for distance in 0..<reach {
                let (above, below) = (max(row - distance - 1, 0), min(row + distance + 1, height - 1))
                let weight = weights[distance + 1]
                for index in 0..<count { column[index] += weight * (sample(above, index) + sample(below, index)) }
            }
            for index in 0..<reach * channels {
                column[-1 - index] = column[channels - 1 - index % channels]
                column[count + index] = column[count - channels + index % channels]
            }
            for index in 0..<count {
                var sum = weights[0] * column[index]
                for distance in 0..<reach {
                    let offset = (distance + 1) * channels
                    sum += weights[distance + 1] * (column[index - offset] + column[index + offset])
                }
                blurred[index] = sum
            }
            body(row, blurred)
        }
    }
}
