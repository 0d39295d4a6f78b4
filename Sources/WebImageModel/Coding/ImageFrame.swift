public import FoundationEssentials

/// One frame of an animation that is composed of images.
public struct ImageFrame: Sendable {
    /// The image of the frame.
    public let image: Image
    /// The duration in seconds. Less than 11 ms counts as 100 ms, as in every program.
    public let duration: Double

    /// Creates a frame from an image and a duration.
    public init(image: Image, duration: Double) {
        self.image = image
        self.duration = duration
    }
}

/// An animation of images in memory.
public final class ImageFrameSequence: AnimatedImageProvider {
    /// The frames, at least one.
    package let frames: [ImageFrame]
    /// The number of times the animation plays; 0 means forever.
    public let loopCount: Int

    /// Creates an animation of these frames; nil if there are none.
    ///
    /// - Parameters:
    ///   - frames: all frames, of one size if they are to be encoded.
    ///   - loopCount: the number of times it plays; 0 means forever, and so do negative numbers.
    public init?(frames: [ImageFrame], loopCount: Int = 0) {
        guard !frames.isEmpty else { return nil }
        self.frames = frames
        self.loopCount = max(loopCount, 0)
    }

    /// Nil: there is no encoded animation.
    public var animatedImageData: Data? { nil }
    /// The number of frames.
    public var frameCount: Int { frames.count }

    /// Returns a frame's image.
    public func frame(at index: Int) throws(WebImageError) -> Image {
        guard frames.indices.contains(index) else {
            throw WebImageError(.badImageData, "there is no frame \(index) in an animation of \(frames.count)")
        }
        return frames[index].image
    }

    /// Returns the duration of a frame in seconds; 0 for a frame that does not exist.
    public func duration(at index: Int) -> Double {
        frames.indices.contains(index) ? FrameDuration.usable(frames[index].duration) : 0
    }
}
