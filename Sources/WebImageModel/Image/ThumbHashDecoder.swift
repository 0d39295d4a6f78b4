import CPixels
import Glibc

/// Decodes the bytes of a ``ThumbHash`` into an image.
struct ThumbHashDecoder {
    let lightness: Double
    let yellowBlue: Double
    let redGreen: Double
    let alpha: Double
    let hasAlpha: Bool
    /// The numbers of frequencies across and down, which determine the shape.
    let aspect: (x: Int, y: Int)
    private let scales: (lightness: Double, yellowBlue: Double, redGreen: Double, alpha: Double)
    private let bytes: [UInt8]

    /// - Parameter bytes: at least 5, and at least 6 if they declare alpha; missing ones count as 0.
    init(_ bytes: [UInt8]) {
        func byte(_ index: Int) -> Int { index < bytes.count ? Int(bytes[index]) : 0 }
        let first = byte(0) | byte(1) << 8 | byte(2) << 16
        let second = byte(3) | byte(4) << 8
        self.bytes = bytes
        hasAlpha = first >> 23 != 0
        lightness = Double(first & 63) / 63
        yellowBlue = Double(first >> 6 & 63) / 31.5 - 1
        redGreen = Double(first >> 12 & 63) / 31.5 - 1
        alpha = hasAlpha ? Double(byte(5) & 15) / 15 : 1
        // Colours are a little stronger than stored, to compensate for rounding.
        scales = (
            Double(first >> 18 & 31) / 31, Double(second >> 3 & 63) / 63 * 1.25, Double(second >> 9 & 63) / 63 * 1.25,
            Double(byte(5) >> 4) / 15
        )
        let isLandscape = second >> 15 != 0
        let longer = hasAlpha ? 5 : 7
        let shorter = max(1, second & 7)
        aspect = isLandscape ? (longer, shorter) : (shorter, longer)
    }

    /// Returns the number of bytes of a hash that starts with these five or more.
    static func byteCount(forHeader bytes: [UInt8]) -> Int {
        let decoder = ThumbHashDecoder(bytes)
        let light = waveCount(max(3, decoder.aspect.x), max(3, decoder.aspect.y))
        let waves = light + 2 * waveCount(3, 3) + (decoder.hasAlpha ? waveCount(5, 5) : 0)
        return (decoder.hasAlpha ? 6 : 5) + (waves + 1) / 2
    }

    private static func waveCount(_ columns: Int, _ rows: Int) -> Int {
        (0..<rows).reduce(-1) { sum, row in sum + (columns * (rows - row) + rows - 1) / rows }
    }

    static func rgb(_ lightness: Double, _ yellowBlue: Double, _ redGreen: Double) -> (
        red: Double, green: Double, blue: Double
    ) {
        let blue = lightness - 2 / 3 * yellowBlue
        let red = (3 * lightness - blue + redGreen) / 2
        let green = red - redGreen
        func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }
        return (clamped(red), clamped(green), clamped(blue))
    }

    /// The waves of one channel, with their frequencies.
    private struct Channel {
        var constant: Double
        var waves: [(x: Int, y: Int, strength: Double)] = []

        func value(_ across: [Double], _ down: [Double]) -> Double {
            waves.reduce(constant) { $0 + $1.strength * across[$1.x] * down[$1.y] * 2 }
        }
    }

    private func channel(
        _ constant: Double,
        _ scale: Double,
        _ columns: Int,
        _ rows: Int,
        _ nibble: inout Int
    ) -> Channel {
        var channel = Channel(constant: constant)
        for row in 0..<rows {
            var column = row > 0 ? 0 : 1
            while column * rows < columns * (rows - row) {
                let index = (hasAlpha ? 6 : 5) + nibble / 2
                let byte = index < bytes.count ? bytes[index] : 0
                let stored = nibble % 2 == 0 ? byte & 15 : byte >> 4
                channel.waves.append((column, row, (Double(stored) / 7.5 - 1) * scale))
                nibble += 1
                column += 1
            }
        }
        return channel
    }

    func bitmap() throws(WebImageError) -> Bitmap {
        let ratio = Double(aspect.x) / Double(aspect.y)
        let width = max(1, Int((ratio > 1 ? 32 : 32 * ratio).rounded(.toNearestOrAwayFromZero)))
        let height = max(1, Int((ratio > 1 ? 32 / ratio : 32).rounded(.toNearestOrAwayFromZero)))
        var nibble = 0
        let light = channel(lightness, scales.lightness, max(3, aspect.x), max(3, aspect.y), &nibble)
        let yellow = channel(yellowBlue, scales.yellowBlue, 3, 3, &nibble)
        let red = channel(redGreen, scales.redGreen, 3, 3, &nibble)
        let clear = hasAlpha ? channel(alpha, scales.alpha, 5, 5, &nibble) : Channel(constant: 1)
        let format = hasAlpha ? PixelFormat.bgra8Premultiplied : .rgb8
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: format)
        for y in 0..<height {
            let down = Self.cosines(y, height)
            let row = bitmap.mutableRow(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let across = Self.cosines(x, width)
                let color = Self.rgb(light.value(across, down), yellow.value(across, down), red.value(across, down))
                let pixel = row + x * format.bytesPerPixel
                pixel[0] = UInt8(255 * color.red)
                pixel[1] = UInt8(255 * color.green)
                pixel[2] = UInt8(255 * color.blue)
                if hasAlpha { pixel[3] = UInt8(255 * min(max(clear.value(across, down), 0), 1)) }
            }
            if hasAlpha { cpixels_premultiply_rgba_to_bgra(row, row, width) }
        }
        return bitmap
    }

    private static func cosines(_ position: Int, _ length: Int) -> [Double] {
        (0..<7).map { cos(.pi / Double(length) * (Double(position) + 0.5) * Double($0)) }
    }
}
