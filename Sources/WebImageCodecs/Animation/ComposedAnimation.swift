package import FoundationEssentials

/// The frames of a format that stores frames as parts of the canvas. Decodes the parts and draws them on one canvas.
///
/// Holds the encoded bytes and one canvas, independent of the number of frames. When frames are not requested in order, it also caches canvases at
/// other frames, of at most 32 MiB together. Frames are drawn one at a time; concurrent requests wait.
package final class ComposedAnimation: StepwiseAnimation {
    /// Decodes the stored pixels of one frame's rectangle.
    package typealias Decode = @Sendable (_ index: Int) throws(WebImageError) -> Bitmap

    /// The maximum number of bytes of cached canvases.
    static let keyframeByteCount = 32 << 20

    package let animatedImageData: Data?
    package let loopCount: Int
    private let script: CompositionPlan
    private let properties: ImageProperties
    private let plan: DecodePlan
    private let options: ImageDecodeOptions
    private let decode: Decode
    private let decoderByteCount: Int
    private let canvas: SharedCanvas

    /// The canvas of an animation, and of those that continue it with more frames.
    private final class SharedCanvas: Sendable {
        struct Use {
            var playerCount = 0
            /// The animation with the most frames.
            weak var longest: ComposedAnimation?
        }

        // Held while a frame is drawn: the next one is drawn over its result.
        let painter: Lock<FrameCompositor>
        /// This lock is only held briefly.
        let use = Lock(Use())

        init(_ painter: FrameCompositor) { self.painter = Lock(painter) }
    }

    /// - Parameters:
    ///   - frames: all frames of the file; with ``ImageDecodeOptions/decodeFirstFrameOnly`` the rest is left out.
    ///   - properties: the properties from the header; their size is that of the canvas.
    ///   - decoderByteCount: the maximum number of bytes that `decode` allocates beside its result.
    ///   - former: an animation of the same file with fewer frames; the canvas is shared with it. Ignored if its frames differ.
    ///   - decode: called on the thread that requests a frame.
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    package init(
        _ data: Data,
        frames: [AnimationFrame],
        properties: ImageProperties,
        options: ImageDecodeOptions,
        decoderByteCount: Int = 0,
        continuing former: ComposedAnimation? = nil,
        decode: @escaping Decode
    ) throws(WebImageError) {
        var properties = properties
        if options.decodeFirstFrameOnly { (properties.frameCount, properties.loopCount) = (1, 0) }
        // The canvas always has 8 bits, whatever the file holds.
        (properties.bitsPerComponent, properties.isHighDynamicRange) = (8, false)
        plan = try DecodePlan.make(for: properties, options: options)
        // The canvas has the size of the file, even if a smaller size is requested.
        let canvasByteCount = properties.width * properties.height * 4
        try options.limits.check(decodedByteCount: canvasByteCount)
        animatedImageData = data
        loopCount = properties.loopCount
        script = CompositionPlan(
            width: properties.width,
            height: properties.height,
            frames: options.decodeFirstFrameOnly ? Array(frames.prefix(1)) : frames
        )
        if let former, script.continues(former.script) {
            canvas = former.canvas
        } else {
            let room = options.limits.maximumDecodedByteCount - canvasByteCount
            let painter = FrameCompositor(script, byteCount: min(Self.keyframeByteCount, room))
            canvas = SharedCanvas(painter)
        }
        self.properties = properties
        self.options = options
        self.decode = decode
        self.decoderByteCount = decoderByteCount
        canvas.use.withLock { use in
            if use.longest.map({ $0.frameCount <= frameCount }) ?? true { use.longest = self }
        }
    }

    package var frameCount: Int { script.frames.count }

    /// The number of cached canvases beside the current one.
    var keptCanvasCount: Int { canvas.painter.withLock { $0.keyframeCount } }

    package func duration(at index: Int) -> Double {
        script.frames.indices.contains(index) ? script.frames[index].duration : 0
    }

    package func frame(at index: Int) throws(WebImageError) -> Image {
        while true {
            if let image = try frame(at: index, while: { true }) { return image }
        }
    }

    package func frame(at index: Int, while goesOn: () -> Bool) throws(WebImageError) -> Image? {
        guard script.frames.indices.contains(index) else {
            throw WebImageError(.badImageData, "frame index \(index) is out of range (frame count \(frameCount))")
        }
        let pixels = try canvas.painter.withLock { (painter) throws(WebImageError) in
            try makeBitmap(of: index, by: &painter, while: goesOn)
        }
        guard let pixels else { return nil }
        let isHighBitDepth = options.pixelFormat == .rgbaHalfPremultiplied
        return Image(
            bitmap: isHighBitDepth ? try pixels.converted(to: .rgbaHalfPremultiplied) : pixels,
            scale: options.scaleFactor,
            metadata: metadata,
            decodeOptions: options
        )
    }

    private func makeBitmap(
        of index: Int,
        by painter: inout FrameCompositor,
        while goesOn: () -> Bool
    ) throws(WebImageError) -> Bitmap? {
        try painter.head(for: index, in: script)
        while try !painter.step(to: index, in: script, decode: decode) {
            guard goesOn() else { return nil }
        }
        return try painter.makeBitmap(
            of: index,
            width: plan.width,
            height: plan.height,
            isOpaque: script.isOpaque && options.pixelFormat != .bgra8Premultiplied,
            quality: options.scalingQuality
        )?
        .upright(from: plan.orientation)
    }

    // MARK: Playing

    package var decoder: any AnimatedImageProvider { self }
    package func beginPlaying() { canvas.use.withLock { $0.playerCount += 1 } }
    package func endPlaying() { canvas.use.withLock { $0.playerCount -= 1 } }

    package func releaseDecoder() {
        let (playerCount, longest) = canvas.use.withLock { ($0.playerCount, $0.longest) }
        // An animation with more frames may still draw on this canvas; its own call releases the canvas.
        guard longest == nil || longest === self else { return }
        canvas.painter.withLock { $0.release(keepsCurrent: playerCount > 0) }
    }

    /// Metadata of a frame as a still image.
    private var metadata: ImageMetadata {
        var metadata = ImageAssembler.metadata(properties, plan, options)
        (metadata.frameCount, metadata.loopCount) = (1, 0)
        return metadata
    }
}

extension ComposedAnimation: MeasuredAnimation {
    /// The memory cost of a frame. Kept: the canvas, and the covered pixels if frames restore them. Cached canvases at other frames are not
    /// counted.
    package var frameMemoryNeed: FrameMemoryNeed? {
        let canvas = AssemblyNeed.block(script.width * script.height * 4)
        let part = script.frames.reduce(0) { max($0, AssemblyNeed.block($1.width * $1.height * 4)) }
        let need = DecodeMemoryNeed.composed(properties, plan, options, decoder: part + decoderByteCount)
        let once = FrameMemoryNeed(need, keeping: canvas)
        guard script.restores else { return once }
        // A frame covers at most its own rectangle.
        return FrameMemoryNeed(
            keptByteCount: once.keptByteCount + part,
            workingByteCount: once.workingByteCount,
            outputByteCount: once.outputByteCount
        )
    }
}
