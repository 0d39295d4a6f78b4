public import FoundationEssentials

/// The frames of an animation, made when they are asked for.
///
/// Methods may be called from several threads at once and never on a thread of Swift's cooperative pool: they decode. In order,
/// each frame is decoded once; a step back may have to go over earlier ones.
public protocol AnimatedImageProvider: AnyObject, Sendable {
    /// The encoded animation; nil when the frames come from elsewhere.
    var animatedImageData: Data? { get }
    /// Number of frames, at least 1.
    var frameCount: Int { get }
    /// How often it plays; 0 is for ever.
    var loopCount: Int { get }

    /// A frame as it is seen, on the whole canvas, upright, in sRGB.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for a frame that is damaged or does not exist,
    ///   ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func frame(at index: Int) throws(WebImageError) -> Image

    /// How long a frame is shown, in seconds; 0 for one that does not exist. Times below 11 ms were replaced by 100 ms, as browsers
    /// do. Cost: a look into a list.
    func duration(at index: Int) -> Double

    /// Lets go of what is kept to make the next frame quickly, such as the canvas; it is made again when it is needed. For times
    /// when nothing plays, or when memory is short. Players do not call it while they play, except for providers of this library, which
    /// keep the canvas then. By default nothing.
    func releaseDecoder()
}

extension AnimatedImageProvider {
    /// Nothing is kept.
    public func releaseDecoder() {}
}
