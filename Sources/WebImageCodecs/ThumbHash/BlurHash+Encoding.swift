extension BlurHash {
    /// Hashes an image in its upright orientation. Larger images are first scaled to fit into 100 × 100 pixels. Cost: about 2 ms.
    ///
    /// Transparent parts count as the mean colour of the others, as in a ``ThumbHash``.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - xComponents: The number of components across, 1 to 9. More keep more detail, and each takes two characters.
    ///   - yComponents: The number of components down, 1 to 9.
    /// - Throws: ``WebImageError/Code/encodingFailed`` for other numbers of components, ``WebImageError/Code/outOfMemory``.
    public init(_ image: Image, xComponents: Int = 4, yComponents: Int = 3) throws(WebImageError) {
        guard (1...9).contains(xComponents), (1...9).contains(yComponents) else {
            throw WebImageError(
                .encodingFailed,
                "a BlurHash has 1 to 9 components across and down, not \(xComponents) × \(yComponents)"
            )
        }
        let waves = Self.transform(try HashedPixels(image), xComponents, yComponents)
        try self.init(digits: Self.digits(of: waves, xComponents, yComponents))
    }

    /// Returns the cosine transform of linear light, row by row, only the low frequencies.
    private static func transform(_ pixels: HashedPixels, _ columns: Int, _ rows: Int) -> [SIMD4<Double>] {
        let (width, height) = (pixels.bitmap.width, pixels.bitmap.height)
        let across = cosines(columns, width)
        let down = cosines(rows, height)
        var waves = [SIMD4<Double>](repeating: SIMD4(), count: columns * rows)
        var line = [SIMD4<Double>](repeating: SIMD4(), count: width)
        for y in 0..<height {
            for x in 0..<width {
                let color = pixels.color(y, x)
                func light(_ component: Double) -> Double {
                    SRGBLight.light(UInt8(min(max(component, 0), 1) * 255 + 0.5))
                }
                line[x] = SIMD4(light(color.x), light(color.y), light(color.z), 0)
            }
            for column in 0..<columns {
                var sum = SIMD4<Double>()
                for x in 0..<width { sum += line[x] * across[column][x] }
                for row in 0..<rows { waves[row * columns + column] += sum * down[row][y] }
            }
        }
        let count = Double(width * height)
        return waves.enumerated().map { $1 * ($0 == 0 ? 1 : 2) / count }
    }

    private static func digits(of waves: [SIMD4<Double>], _ columns: Int, _ rows: Int) -> [UInt8] {
        var digits: [UInt8] = []
        func append(_ number: Int, _ count: Int) {
            var (number, reversed) = (number, [UInt8]())
            for _ in 0..<count {
                reversed.append(UInt8(number % 83))
                number /= 83
            }
            digits += reversed.reversed()
        }
        func components(_ wave: SIMD4<Double>) -> [Double] { [wave.x, wave.y, wave.z] }
        append(columns - 1 + (rows - 1) * 9, 1)
        let strongest = waves.dropFirst().flatMap(components).map(abs).max()
        let step = strongest.map { min(max(Int($0 * 166 - 0.5), 0), 82) } ?? 0
        append(step, 1)
        append(components(waves[0]).reduce(0) { $0 << 8 | Int(SRGBLight.byte($1)) }, 4)
        let scale = Double(step + 1) / 166
        for wave in waves.dropFirst() {
            let steps = components(wave).map { part in
                let root = (abs(part) / scale).squareRoot() * (part < 0 ? -1 : 1)
                return min(max(Int((root * 9 + 9.5).rounded(.down)), 0), 18)
            }
            append(steps.reduce(0) { $0 * 19 + $1 }, 2)
        }
        return digits
    }
}
