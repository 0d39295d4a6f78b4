import Glibc
import LoadingTestSupport
import ModelTestSupport
import WebImageLoading

/// Returns the peak signal-to-noise ratio of the colours of two images in dB; 0 if they have other sizes, infinity if they are equal.
func psnr(_ left: Bitmap, _ right: Bitmap) -> Double {
    guard left.width == right.width, left.height == right.height else { return 0 }
    var squares = 0
    for y in 0..<left.height {
        for x in 0..<left.width {
            let pair = zip(left.premultipliedRGBA(x: x, y: y), right.premultipliedRGBA(x: x, y: y))
            for (a, b) in pair.prefix(3) { squares += (Int(a) - Int(b)) * (Int(a) - Int(b)) }
        }
    }
    guard squares > 0 else { return .infinity }
    return 10 * log10(255 * 255 * Double(left.width * left.height * 3) / Double(squares))
}
