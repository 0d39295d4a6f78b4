import FoundationEssentials
import WebImageCodecs

/// Rows of pixels that LibRaw has made.
final class RAWRows: ScanlineSource {
    let width: Int
    let height: Int
    let layout: ScanlineLayout
    let extent: (width: Double, height: Double)
    var colorProfile: Data? { nil }
    private let bytes: UnsafeRawPointer
    private let colors: Int
    /// Samples of 16 bits, which become floats.
    private let isWide: Bool
    private var row = 0

    /// - Parameters:
    ///   - bytes: packed rows, which must stay valid and be as long as the size says.
    ///   - colors: 1 or 3.
    ///   - extent: the part of the size that the image covers; nil for everything.
    init(
        _ bytes: UnsafeRawPointer,
        width: Int,
        height: Int,
        colors: Int,
        isWide: Bool,
        extent: (width: Double, height: Double)? = nil
    ) {
        (self.bytes, self.width, self.height, self.colors, self.isWide) = (bytes, width, height, colors, isWide)
        self.extent = extent ?? (Double(width), Double(height))
        layout = isWide ? .rgbaFloat : colors == 1 ? .gray8 : .rgb8
    }

    func readRows(_ count: Int, into base: UnsafeMutableRawPointer, bytesPerRow: Int) {
        let samples = width * colors
        for index in 0..<count {
            let output = base + index * bytesPerRow
            if isWide {
                widen(bytes + row * samples * 2, into: output.assumingMemoryBound(to: Float.self))
            } else {
                output.copyMemory(from: bytes + row * samples, byteCount: samples)
            }
            row += 1
        }
    }

    private func widen(_ input: UnsafeRawPointer, into output: UnsafeMutablePointer<Float>) {
        for x in 0..<width {
            for color in 0..<3 {
                let sample = x * colors + min(color, colors - 1)
                output[4 * x + color] = Float(input.load(fromByteOffset: 2 * sample, as: UInt16.self)) / 65_535
            }
            output[4 * x + 3] = 1
        }
    }
}
