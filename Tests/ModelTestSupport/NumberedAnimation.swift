package import FoundationEssentials
package import WebImageModel

/// An animation of 2 × 2 frames whose scale gives their number, and which counts its calls.
package final class NumberedAnimation: AnimatedImageProvider {
    package let frameCount: Int
    package let loopCount: Int
    package let bad: Set<Int>
    private let log = Lock<(frames: [Int], releases: Int)>(([], 0))

    package init(count: Int, loops: Int = 0, bad: Set<Int> = []) {
        (frameCount, loopCount, self.bad) = (count, loops, bad)
    }

    /// Decoded frames, in order.
    package var requests: [Int] { log.withLock { $0.frames } }
    package var releaseCount: Int { log.withLock { $0.releases } }
    package var animatedImageData: Data? { nil }
    package func duration(at index: Int) -> Double { 0.1 }
    package func releaseDecoder() { log.withLock { $0.releases += 1 } }

    package func frame(at index: Int) throws(WebImageError) -> Image {
        log.withLock { $0.frames.append(index) }
        guard index < frameCount, !bad.contains(index) else { throw WebImageError(.badImageData, "bad") }
        return Image(
            bitmap: try .allocate(width: 2, height: 2, pixelFormat: .bgra8Premultiplied),
            scale: Double(index + 1)
        )
    }

    /// The bytes of one frame.
    package static let frameByteCount = 16
}
