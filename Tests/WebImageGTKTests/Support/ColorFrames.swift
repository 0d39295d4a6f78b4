import FoundationEssentials
import TestSupport
import WebImage

/// An animation whose frames have one colour each, and which counts them.
final class ColorFrames: AnimatedImageProvider {
    static let red: [UInt8] = [255, 0, 0, 255]
    static let green: [UInt8] = [0, 255, 0, 255]
    static let blue: [UInt8] = [0, 0, 255, 255]
    static let white: [UInt8] = [255, 255, 255, 255]

    let colors: [[UInt8]]
    let seconds: Double
    let loopCount: Int
    let (width, height): (Int, Int)
    private let log = Lock<[Int]>([])

    init(
        _ colors: [[UInt8]] = [red, green, blue, white],
        seconds: Double = 0.1,
        loops: Int = 0,
        size: (width: Int, height: Int) = (40, 30)
    ) {
        (self.colors, self.seconds, loopCount, (width, height)) = (colors, seconds, loops, size)
    }

    /// Decoded frames, in order. The first one is that of the poster.
    var requests: [Int] { log.withLock { $0 } }

    var animatedImageData: Data? { nil }
    var frameCount: Int { colors.count }
    func duration(at index: Int) -> Double { seconds }

    func frame(at index: Int) throws(WebImageError) -> Image {
        log.withLock { $0.append(index) }
        guard colors.indices.contains(index) else { throw WebImageError(.badImageData, "there is no such frame") }
        let bitmap = try Bitmap.allocate(width: width, height: height, pixelFormat: .bgra8Premultiplied)
        let color = colors[index]
        for row in 0..<height {
            let pixels = bitmap.mutableRow(row).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                (pixels[x * 4], pixels[x * 4 + 1], pixels[x * 4 + 2], pixels[x * 4 + 3]) =
                    (color[2], color[1], color[0], color[3])
            }
        }
        return Image(bitmap: bitmap)
    }

    /// An image with this animation.
    func image(isIncremental: Bool = false) throws -> Image {
        let animation = try AnimatedImage(provider: self)
        var metadata = animation.image.metadata
        metadata.isIncremental = isIncremental
        return Image(bitmap: animation.image.bitmap, metadata: metadata, animation: animation)
    }
}
