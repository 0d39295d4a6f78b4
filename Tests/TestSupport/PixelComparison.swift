import CTestSupport
import Glibc
public import WebImageModel

/// The difference between the pixels of an image and expected ones.
public struct PixelDifference: Sendable, CustomStringConvertible {
    /// The largest difference of a sample.
    public var maximum = 0
    /// The mean of the differences of all samples.
    public var mean = 0.0
    /// Peak signal-to-noise ratio in decibels; infinite for equal pixels.
    public var psnr = Double.infinity
    /// A Boolean value that indicates whether the sizes differ; then nothing else is compared.
    public var sizesDiffer = false

    /// Compares; expected alpha is premultiplied here, exactly rounded.
    public init(_ bitmap: Bitmap, _ expected: PortableAnymap) {
        guard bitmap.width == expected.width, bitmap.height == expected.height else {
            sizesDiffer = true
            maximum = 255
            mean = 255
            psnr = 0
            return
        }
        let (sum, squares) =
            bitmap.pixelFormat == .rgbaHalfPremultiplied
            ? compareHalves(bitmap, expected) : compareBytes(bitmap, expected)
        let samples = Double(bitmap.width * bitmap.height * (expected.channels % 2 == 0 ? 4 : 3))
        mean = Double(sum) / samples
        if squares > 0 { psnr = 10 * log10(255 * 255 * samples / Double(squares)) }
    }

    /// Returns the sums of the differences and of their squares, as does the next.
    private mutating func compareBytes(_ bitmap: Bitmap, _ expected: PortableAnymap) -> (sum: Int, squares: Int) {
        let found = bitmap.withUnsafeBytes { bytes in
            ctest_compare_pixels(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                bitmap.bytesPerRow,
                Int32(bitmap.pixelFormat.bytesPerPixel),
                expected.samples,
                Int32(expected.channels),
                bitmap.width,
                bitmap.height
            )
        }
        maximum = Int(found.maximum)
        return (found.sum, found.squares)
    }

    private mutating func compareHalves(_ bitmap: Bitmap, _ expected: PortableAnymap) -> (sum: Int, squares: Int) {
        var (sum, squares) = (0, 0)
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                var wanted = expected.rgba(x: x, y: y).map(Int.init)
                for channel in 0..<3 { wanted[channel] = (wanted[channel] * wanted[3] * 2 + 255) / 510 }
                let found = bitmap.premultipliedRGBA(x: x, y: y)
                for channel in 0..<4 {
                    let difference = abs(wanted[channel] - Int(found[channel]))
                    maximum = max(maximum, difference)
                    sum += difference
                    squares += difference * difference
                }
            }
        }
        return (sum, squares)
    }

    /// The figures.
    public var description: String {
        sizesDiffer ? "sizes differ" : "max \(maximum), mean \(mean), PSNR \(psnr) dB"
    }
}

extension Bitmap {
    /// The components of a pixel in the order red, green, blue, alpha; colours premultiplied as stored.
    public func premultipliedRGBA(x: Int, y: Int) -> [UInt8] {
        withUnsafeBytes { bytes in
            let pixel = y * bytesPerRow + x * pixelFormat.bytesPerPixel
            return switch pixelFormat {
            case .rgb8: [bytes[pixel], bytes[pixel + 1], bytes[pixel + 2], 255]
            case .bgra8Premultiplied: [bytes[pixel + 2], bytes[pixel + 1], bytes[pixel], bytes[pixel + 3]]
            case .rgbaHalfPremultiplied:
                halfComponents(x: x, y: y).map { UInt8(min(max($0, 0), 1) * 255 + 0.5) }
            }
        }
    }
}

extension Bitmap {
    /// The components of a pixel of half floats: red, green, blue, alpha, colours premultiplied as stored.
    public func halfComponents(x: Int, y: Int) -> [Float] {
        withUnsafeBytes { bytes in
            (0..<4).map { component in
                let bits = bytes.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 8 + component * 2, as: UInt16.self)
                // IEEE 754 binary16, by its definition.
                let (exponent, fraction) = (Int(bits >> 10 & 31), Float(bits & 1023))
                let size =
                    exponent == 0
                    ? fraction / 1024 / 16384
                    : (1 + fraction / 1024) * Float(sign: .plus, exponent: exponent - 15, significand: 1)
                return bits & 0x8000 == 0 ? size : -size
            }
        }
    }
}
