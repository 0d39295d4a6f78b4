import CTIFFShims
import WebImageCodecs

/// Converts the samples of a row, of any size, to bytes, rounded to nearest.
struct TIFFSamples {
    /// The samples of one channel.
    struct Place {
        let raw: UnsafeRawPointer
        /// The index of the first sample in `raw`, and the distance between samples.
        let first: Int
        let step: Int
    }

    let pixels: TIFFPixels
    /// The byte for each value of a sample of up to 16 bits; empty for wider samples.
    private let levels: [UInt8]
    /// The same for alpha, which is never inverted, or for the signed samples of L*a*b*.
    private let otherLevels: [UInt8]
    /// Red, green and blue of a palette.
    private let palette: [[UInt8]]

    init(_ pixels: TIFFPixels, _ info: webimage_tiff_info) {
        self.pixels = pixels
        let isTable = pixels.bits <= 16 && !pixels.isFloat
        levels = isTable ? Self.levels(pixels, isInverted: pixels.isInverted, isSigned: pixels.isSigned) : []
        otherLevels =
            isTable && (pixels.isInverted || pixels.hasSignedColors)
            ? Self.levels(pixels, isInverted: false, isSigned: pixels.isSigned || pixels.hasSignedColors) : levels
        palette = pixels.model == .palette ? Self.palette(info, bits: pixels.bits) : []
    }

    private static func levels(_ pixels: TIFFPixels, isInverted: Bool, isSigned: Bool) -> [UInt8] {
        let top = (1 << pixels.bits) - 1
        // Signed numbers are ordered from the smallest to the largest.
        let sign = isSigned ? 1 << (pixels.bits - 1) : 0
        return (0...top).map { value in
            let level = ((value ^ sign) * 255 + top / 2) / top
            return UInt8(isInverted ? 255 - level : level)
        }
    }

    /// Returns the palette. Its colours have 16 bits; if none is above 255, a program wrote 8.
    private static func palette(_ info: webimage_tiff_info, bits: Int) -> [[UInt8]] {
        let count = 1 << bits
        let tables = [info.palette.0, info.palette.1, info.palette.2].map { table -> [UInt16] in
            table.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? [UInt16](repeating: 0, count: count)
        }
        let isHighBitDepth = tables.contains { $0.contains { $0 > 255 } }
        return tables.map { $0.map { isHighBitDepth ? UInt8((Int($0) * 255 + 32767) / 65535) : UInt8($0) } }
    }

    /// Converts a channel of some pixels. A palette index becomes three rows, `rowLength` apart.
    func convert(
        _ place: Place,
        count: Int,
        channel: Int,
        to output: UnsafeMutablePointer<UInt8>,
        rowLength: Int
    ) {
        guard palette.isEmpty || channel == pixels.alpha else {
            forEachNumber(place, count) { index, number in
                for channel in 0..<3 { output[channel * rowLength + index] = palette[channel][number] }
            }
            return
        }
        let isOther = channel == pixels.alpha || pixels.hasSignedColors && channel > 0
        guard !levels.isEmpty else { return convertHighBitDepth(place, count, isOther, output) }
        (isOther ? otherLevels : levels).withUnsafeBufferPointer { levels in
            forEachNumber(place, count) { index, number in output[index] = levels[number] }
        }
    }

    /// Calls `body` with each integer: bytes, words in this machine's order, or bits from the top of each byte down.
    @inline(__always)
    func forEachNumber(_ place: Place, _ count: Int, _ body: (Int, Int) -> Void) {
        let (raw, first, step) = (place.raw, place.first, place.step)
        switch pixels.bits {
        case 8:
            for index in 0..<count { body(index, Int(raw.load(fromByteOffset: first + index * step, as: UInt8.self))) }
        case 16:
            for index in 0..<count {
                body(index, Int(raw.loadUnaligned(fromByteOffset: 2 * (first + index * step), as: UInt16.self)))
            }
        case 32:
            for index in 0..<count {
                body(index, Int(raw.loadUnaligned(fromByteOffset: 4 * (first + index * step), as: UInt32.self)))
            }
        default:
            for index in 0..<count { body(index, bits(raw, at: (first + index * step) * pixels.bits)) }
        }
    }

    @inline(__always)
    private func bits(_ raw: UnsafeRawPointer, at position: Int) -> Int {
        var value = 0
        var taken = 0
        while taken < pixels.bits {
            let bit = position + taken
            let byte = Int(raw.load(fromByteOffset: bit >> 3, as: UInt8.self))
            let available = min(8 - (bit & 7), pixels.bits - taken)
            let shifted = byte >> (8 - (bit & 7) - available)
            value = value << available | shifted & ((1 << available) - 1)
            taken += available
        }
        return value
    }

    /// Converts wide samples: floating point from 0 to 1; 32-bit integers over their whole range.
    private func convertHighBitDepth(
        _ place: Place,
        _ count: Int,
        _ isAlpha: Bool,
        _ output: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<count {
            let value: Double
            if pixels.isFloat {
                value = Self.real(place, index, bits: pixels.bits)
            } else {
                let offset = 4 * (place.first + index * place.step)
                let number = place.raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                value = Double(pixels.isSigned ? number ^ 0x8000_0000 : number) / 4_294_967_295
            }
            // NaN becomes black.
            let level = UInt8((value > 0 ? min(value, 1) * 255 : 0).rounded())
            output[index] = pixels.isInverted && !isAlpha ? 255 - level : level
        }
    }

    /// Returns a floating-point sample.
    @inline(__always)
    static func real(_ place: Place, _ index: Int, bits: Int) -> Double {
        let offset = (place.first + index * place.step) * (bits / 8)
        switch bits {
        case 16: return Double(float(half: place.raw.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        case 32: return Double(place.raw.loadUnaligned(fromByteOffset: offset, as: Float.self))
        default: return place.raw.loadUnaligned(fromByteOffset: offset, as: Double.self)
        }
    }

    private static func float(half: UInt16) -> Float {
        let exponent = Int(half >> 10 & 31)
        let fraction = Float(half & 1023) / 1024
        let sign: Float = half >> 15 == 1 ? -1 : 1
        switch exponent {
        case 0: return sign * fraction / 16384
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * Float(sign: .plus, exponent: exponent - 15, significand: 1 + fraction)
        }
    }
}
