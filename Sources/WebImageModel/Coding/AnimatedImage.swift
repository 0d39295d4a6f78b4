public import FoundationEssentials

/// An animated image: its first frame as an ``Image``, and the others on demand.
///
/// Memory: the encoded bytes, the first frame, and one canvas; all frames only between ``preloadAllFrames()`` and
/// ``unloadAllFrames()``. When frames are requested out of order, up to 32 MiB of canvases of other frames (keyframes), which make
/// seeking fast, until ``releaseDecoder()``. Frames are decoded on the calling thread, so never request them on a thread of Swift's
/// cooperative pool.
public final class AnimatedImage: AnimatedImageProvider {
    /// The first frame.
    public let image: Image
    /// The source of the frames.
    package let provider: any AnimatedImageProvider
    private let frames = Lock<[Image]?>(nil)

    /// Creates an animated image from encoded data; a still image has one frame.
    ///
    /// - Parameters:
    ///   - data: any format that `coder` supports. Kept as long as there is more than one frame.
    ///   - options: apply to every frame.
    ///   - coder: the coder that decodes.
    /// - Throws: ``WebImageError`` as ``ImageCoder/decode(_:options:)`` does. Cost: decodes the first frame.
    public convenience init(
        data: Data,
        options: ImageDecodeOptions = ImageDecodeOptions(),
        coder: any AnimatedImageCoder
    ) throws(WebImageError) {
        let properties = try coder.properties(of: data, limits: options.limits)
        guard properties.frameCount > 1, !options.decodeFirstFrameOnly else {
            self.init(still: try coder.decode(data, options: options))
            return
        }
        do throws(WebImageError) {
            try self.init(provider: try coder.animation(of: data, options: options))
        } catch  where error.code == .unsupportedFormat {
            self.init(still: try coder.decode(data, options: options))
        }
    }

    /// Creates an animated image with the frames of a provider.
    ///
    /// - Throws: what the provider throws for its first frame.
    public convenience init(provider: any AnimatedImageProvider) throws(WebImageError) {
        let first = try provider.frame(at: 0)
        guard provider.frameCount > 1 else {
            // A single frame needs no provider.
            self.init(still: first)
            return
        }
        self.init(provider: provider, first: first)
    }

    /// Creates an animated image with the frames of a provider, more than one, the first of which is already decoded.
    package init(provider: any AnimatedImageProvider, first: Image) {
        var metadata = first.metadata
        (metadata.frameCount, metadata.loopCount) = (provider.frameCount, provider.loopCount)
        image = first.with(metadata: metadata)
        self.provider = provider
    }

    private init(still image: Image) {
        self.image = image
        provider = StillProvider(image)
    }

    /// The encoded animation; nil for a still image.
    public var animatedImageData: Data? { provider.animatedImageData }
    /// The number of frames, at least 1.
    public var frameCount: Int { provider.frameCount }
    /// The number of times the animation plays; 0 means forever.
    public var loopCount: Int { provider.loopCount }
    /// The container format of the frames.
    public var format: ImageFormat { image.format }
    /// Returns the duration of a frame in seconds; 0 for a frame that does not exist.
    public func duration(at index: Int) -> Double { provider.duration(at: index) }

    /// Returns a frame: loaded before, or decoded now.
    ///
    /// - Throws: what the provider throws.
    public func frame(at index: Int) throws(WebImageError) -> Image {
        if let loaded = frames.withLock({ $0 }), loaded.indices.contains(index) { return loaded[index] }
        return try provider.frame(at: index)
    }

    /// The frames that are in memory, all or none.
    var loadedFrames: [Image] { frames.withLock { $0 } ?? [] }

    /// Indicates whether all frames are in memory.
    public var isAllFramesLoaded: Bool { frames.withLock { $0 != nil } || frameCount == 1 }

    /// Decodes all frames and keeps them. Idempotent. A frame that cannot be decoded repeats the one before it.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` if all frames together have more bytes than
    ///   ``ImageLimits/maximumDecodedByteCount`` of the options, and then keeps none; ``WebImageError/Code/outOfMemory``.
    public func preloadAllFrames() throws(WebImageError) {
        guard !isAllFramesLoaded else { return }
        let limits = image.decodeOptions?.limits ?? ImageLimits()
        var loaded: [Image] = []
        var byteCount = 0
        for index in 0..<frameCount {
            // The first frame may have fewer bytes than the others, as it may be opaque; the previous frame is the best estimate.
            let expected = (loaded.last ?? image).pixelByteCount
            let (rest, overflow) = expected.multipliedReportingOverflow(by: frameCount - index)
            let (total, overflows) = byteCount.addingReportingOverflow(rest)
            try limits.check(decodedByteCount: overflow || overflows ? .max : total)
            do throws(WebImageError) {
                let frame = try provider.frame(at: index)
                byteCount += frame.pixelByteCount
                loaded.append(frame)
            } catch {
                guard error.code == .badImageData, let last = loaded.last else { throw error }
                loaded.append(last)
            }
        }
        try limits.check(decodedByteCount: byteCount)
        frames.withLock { $0 = loaded }
    }

    /// Releases all frames but the first, and the decoder's state between frames.
    public func unloadAllFrames() {
        // The frames are released outside the lock.
        let former = frames.withLock { frames in
            defer { frames = nil }
            return frames
        }
        withExtendedLifetime(former) {}
        provider.releaseDecoder()
    }

    /// Releases the decoder's state between frames; frames that were loaded stay. While a player plays, the canvas for its next
    /// frame stays as well.
    public func releaseDecoder() { provider.releaseDecoder() }

    /// The number of bytes in memory: the pixels (of all frames if they are loaded, else of the first one) and the encoded
    /// animation.
    package var memoryCost: Int {
        var pixels = image.pixelByteCount
        if let loaded = frames.withLock({ $0 }) {
            // A frame that repeats for a damaged one counts once.
            pixels = loaded.indices.reduce(0) { sum, index in
                index > 0 && loaded[index] === loaded[index - 1] ? sum : sum + loaded[index].pixelByteCount
            }
        }
        return pixels + (animatedImageData?.count ?? 0)
    }
}

extension AnimatedImage: StepwiseAnimation {
    package var decoder: any AnimatedImageProvider { provider.frameDecoder }

    package func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        if let loaded = frames.withLock({ $0 }), loaded.indices.contains(index) { return loaded[index] }
        return try provider.partOfFrame(at: index, while: goesOn)
    }

    package func beginPlaying() { (provider as? any StepwiseAnimation)?.beginPlaying() }
    package func endPlaying() { (provider as? any StepwiseAnimation)?.endPlaying() }
}

/// A still image as an animation of one frame.
private final class StillProvider: AnimatedImageProvider {
    private let image: Image
    init(_ image: Image) { self.image = image }

    var animatedImageData: Data? { nil }
    var frameCount: Int { 1 }
    var loopCount: Int { 0 }
    func duration(at index: Int) -> Double { 0 }

    func frame(at index: Int) throws(WebImageError) -> Image {
        guard index == 0 else { throw WebImageError(.badImageData, "there is no frame \(index) in a still image") }
        return image
    }
}
