public import FoundationEssentials

/// One frame of an animation that is put together from images.
public struct ImageFrame: Sendable {
    /// What is seen.
    public let image: Image
    /// How long, in seconds. Less than 11 ms counts as 100 ms, as every program shows it.
    public let duration: Double

    /// An image that is shown for some time.
    public init(image: Image, duration: Double) {
        self.image = image
        self.duration = duration
    }
}

/// An animation of images in memory.
public final class ImageFrameSequence: AnimatedImageProvider {
    /// The frames, at least one.
    public let frames: [ImageFrame]
    /// How often it plays; 0 is for ever.
    public let loopCount: Int

    /// An animation of these frames; nil without any.
    ///
    /// - Parameters:
    ///   - frames: all frames, of one size if they are to be encoded.
    ///   - loopCount: how often it plays; 0 is for ever, and less counts as that.
    public init?(frames: [ImageFrame], loopCount: Int = 0) {
        guard !frames.isEmpty else { return nil }
        self.frames = frames
        self.loopCount = max(loopCount, 0)
    }

    /// Nil: nothing is encoded.
    public var animatedImageData: Data? { nil }
    /// Number of frames.
    public var frameCount: Int { frames.count }

    /// A frame's image.
    public func frame(at index: Int) throws(WebImageError) -> Image {
        guard frames.indices.contains(index) else {
            throw WebImageError(.badImageData, "there is no frame \(index) in an animation of \(frames.count)")
        }
        return frames[index].image
    }

    /// How long a frame is shown, in seconds; 0 for one that does not exist.
    public func duration(at index: Int) -> Double {
        frames.indices.contains(index) ? FrameDuration.usable(frames[index].duration) : 0
    }
}
