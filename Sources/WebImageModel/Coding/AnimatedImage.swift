public import FoundationEssentials

/// A picture that moves: its first frame as an ``Image``, and the others when they are asked for.
///
/// Memory: the encoded bytes, the first frame, and one canvas; all frames only between ``preloadAllFrames()`` and
/// ``unloadAllFrames()``. When frames are not asked for in order, up to 32 MiB of canvases of other moments, which make the next step
/// back or aside short, until ``releaseDecoder()``. Frames are decoded by the thread that asks, so never ask on a thread of Swift's
/// cooperative pool.
public final class AnimatedImage: AnimatedImageProvider {
    /// The first frame.
    public let image: Image
    /// Where the frames come from.
    public let provider: any AnimatedImageProvider
    private let frames = Lock<[Image]?>(nil)

    /// A picture from encoded data; a still one has one frame.
    ///
    /// - Parameters:
    ///   - data: any format that `coder` knows. Kept as long as there is more than one frame.
    ///   - options: hold for every frame.
    ///   - coder: what decodes.
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

    /// A picture with the frames of a provider.
    ///
    /// - Throws: what the provider throws for its first frame.
    public convenience init(provider: any AnimatedImageProvider) throws(WebImageError) {
        let first = try provider.frame(at: 0)
        guard provider.frameCount > 1 else {
            // Of one frame everything is known.
            self.init(still: first)
            return
        }
        self.init(provider: provider, first: first)
    }

    /// A picture with the frames of a provider, more than one, and the first of them as it was decoded already.
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

    /// The encoded animation; nil for a still picture.
    public var animatedImageData: Data? { provider.animatedImageData }
    /// Number of frames, at least 1.
    public var frameCount: Int { provider.frameCount }
    /// How often it plays; 0 is for ever.
    public var loopCount: Int { provider.loopCount }
    /// The container that the frames come from.
    public var format: ImageFormat { image.format }
    /// How long a frame is shown, in seconds; 0 for one that does not exist.
    public func duration(at index: Int) -> Double { provider.duration(at: index) }

    /// A frame: one that was loaded before, or decoded now.
    ///
    /// - Throws: what the provider throws.
    public func frame(at index: Int) throws(WebImageError) -> Image {
        if let loaded = frames.withLock({ $0 }), loaded.indices.contains(index) { return loaded[index] }
        return try provider.frame(at: index)
    }

    /// The frames that are in memory, all or none.
    var loadedFrames: [Image] { frames.withLock { $0 } ?? [] }

    /// Whether all frames are in memory.
    public var isAllFramesLoaded: Bool { frames.withLock { $0 != nil } || frameCount == 1 }

    /// Decodes all frames and keeps them. Does nothing when that was done before. A frame that cannot be decoded is shown as the
    /// one before it.
    ///
    /// - Throws: ``WebImageError/Code/limitExceeded`` when all frames together have more bytes than
    ///   ``ImageLimits/maximumDecodedByteCount`` of the options, and then keeps none; ``WebImageError/Code/outOfMemory``.
    public func preloadAllFrames() throws(WebImageError) {
        guard !isAllFramesLoaded else { return }
        let limits = image.decodeOptions?.limits ?? ImageLimits()
        var loaded: [Image] = []
        var byteCount = 0
        for index in 0..<frameCount {
            // The first frame may be smaller than the others, being opaque: what is known best is the one before.
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

    /// Lets go of all frames but the first, and of what the decoder keeps between frames.
    public func unloadAllFrames() {
        // They go outside the lock.
        let former = frames.withLock { frames in
            defer { frames = nil }
            return frames
        }
        withExtendedLifetime(former) {}
        provider.releaseDecoder()
    }

    /// Lets go of what the decoder keeps between frames; frames that were loaded stay. While a player plays, what its next frame is drawn
    /// on stays as well.
    public func releaseDecoder() { provider.releaseDecoder() }

    /// Bytes of the pixels that are in memory, those of the frames once they are loaded and of the first one until then, and of the
    /// encoded animation.
    public var memoryCost: Int {
        var pixels = image.pixelByteCount
        if let loaded = frames.withLock({ $0 }) {
            // A frame that stands for a damaged one is there once.
            pixels = loaded.indices.reduce(0) { sum, index in
                index > 0 && loaded[index] === loaded[index - 1] ? sum : sum + loaded[index].pixelByteCount
            }
        }
        return pixels + (animatedImageData?.count ?? 0)
    }
}

extension AnimatedImage: GradualAnimation {
    package var decoder: any AnimatedImageProvider { provider.frameDecoder }

    package func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        if let loaded = frames.withLock({ $0 }), loaded.indices.contains(index) { return loaded[index] }
        return try provider.partOfFrame(at: index, while: goesOn)
    }

    package func beginPlaying() { (provider as? any GradualAnimation)?.beginPlaying() }
    package func endPlaying() { (provider as? any GradualAnimation)?.endPlaying() }
}

/// One picture as an animation that does not move.
private final class StillProvider: AnimatedImageProvider {
    private let image: Image
    init(_ image: Image) { self.image = image }

    var animatedImageData: Data? { nil }
    var frameCount: Int { 1 }
    var loopCount: Int { 0 }
    func duration(at index: Int) -> Double { 0 }

    func frame(at index: Int) throws(WebImageError) -> Image {
        guard index == 0 else { throw WebImageError(.badImageData, "there is no frame \(index) in a still picture") }
        return image
    }
}
