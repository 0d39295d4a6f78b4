import FoundationEssentials
import WebImage

/// An animation of 2 × 2 frames whose scale tells their number, and which counts what is asked of it.
final class NumberedAnimation: AnimatedImageProvider {
    let frameCount: Int
    let loopCount: Int
    let bad: Set<Int>
    private let log = Lock<(frames: [Int], releases: Int)>(([], 0))

    init(count: Int, loops: Int = 0, bad: Set<Int> = []) { (frameCount, loopCount, self.bad) = (count, loops, bad) }

    /// Frames that were decoded, in order.
    var requests: [Int] { log.withLock { $0.frames } }
    var releaseCount: Int { log.withLock { $0.releases } }
    var animatedImageData: Data? { nil }
    func duration(at index: Int) -> Double { 0.1 }
    func releaseDecoder() { log.withLock { $0.releases += 1 } }

    func frame(at index: Int) throws(WebImageError) -> Image {
        log.withLock { $0.frames.append(index) }
        guard index < frameCount, !bad.contains(index) else { throw WebImageError(.badImageData, "bad") }
        return Image(
            bitmap: try .allocate(width: 2, height: 2, pixelFormat: .bgra8Premultiplied),
            scale: Double(index + 1)
        )
    }

    /// The bytes of one frame.
    static let frameByteCount = 16
}
