public import FoundationEssentials

/// The frames of an animation, made on demand.
///
/// Methods may be called from several threads at once and never on a thread of Swift's cooperative pool: they decode. In order,
/// each frame is decoded once; a step back may have to decode earlier ones again.
public protocol AnimatedImageProvider: AnyObject, Sendable {
    /// The encoded animation; nil if the frames do not come from encoded data.
    var animatedImageData: Data? { get }
    /// The number of frames, at least 1.
    var frameCount: Int { get }
    /// The number of times the animation plays; 0 means forever.
    var loopCount: Int { get }

    /// Returns a complete frame: on the whole canvas, upright, in sRGB.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for a frame that is damaged or does not exist,
    ///   ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    func frame(at index: Int) throws(WebImageError) -> Image

    /// Returns the duration of a frame in seconds; 0 for a frame that does not exist. Durations below 11 ms are already replaced by
    /// 100 ms, as browsers do. Cost: a list lookup.
    func duration(at index: Int) -> Double

    /// Releases the state that makes the next frame fast, such as the canvas; it is made again when it is needed. Call it when
    /// nothing plays, or when memory is short. Players do not call it while they play, except for providers of this library, which
    /// keep the canvas then. The default implementation does nothing.
    func releaseDecoder()
}

extension AnimatedImageProvider {
    /// Does nothing.
    public func releaseDecoder() {}
}
