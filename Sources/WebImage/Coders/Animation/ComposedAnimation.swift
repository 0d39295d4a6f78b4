package import FoundationEssentials

/// The frames of a format that stores parts of pictures: decodes the parts and draws them on one canvas.
///
/// Holds the encoded bytes and one canvas, however many frames there are. Frames are made one after the other; who asks for
/// another at the same time waits.
package final class ComposedAnimation: AnimatedImageProvider {
    /// Decodes the pixels of one frame's rectangle, as they are stored.
    package typealias Decode = @Sendable (_ index: Int) throws(WebImageError) -> Bitmap

    private struct State {
        var canvas: AnimationCanvas?
        /// The frame that is seen on the canvas.
        var current: Int?
    }

    package let animatedImageData: Data?
    package let loopCount: Int
    private let script: CompositionScript
    private let properties: ImageProperties
    private let plan: DecodePlan
    private let options: ImageDecodeOptions
    private let decode: Decode
    // Held while a frame is made: the next one is drawn on what it leaves.
    private let state = Lock(State())

    /// - Parameters:
    ///   - frames: all that the file has; with ``ImageDecodeOptions/decodeFirstFrameOnly`` the rest is left out.
    ///   - properties: what the header says; its size is that of the canvas.
    ///   - decode: called on the thread that asks for a frame.
    /// - Throws: ``WebImageError/Code/limitExceeded``.
    package init(
        _ data: Data,
        frames: [AnimationFrame],
        properties: ImageProperties,
        options: ImageDecodeOptions,
        decode: @escaping Decode
    ) throws(WebImageError) {
        var properties = properties
        if options.decodeFirstFrameOnly { (properties.frameCount, properties.loopCount) = (1, 0) }
        plan = try DecodePlan.make(for: properties, options: options)
        // The canvas has the size of the file, whatever size is asked for.
        try options.limits.check(decodedByteCount: properties.width * properties.height * 4)
        animatedImageData = data
        loopCount = properties.loopCount
        script = CompositionScript(
            width: properties.width,
            height: properties.height,
            frames: options.decodeFirstFrameOnly ? Array(frames.prefix(1)) : frames
        )
        self.properties = properties
        self.options = options
        self.decode = decode
    }

    package var frameCount: Int { script.frames.count }

    package func releaseDecoder() { state.withLock { $0 = State() } }

    package func duration(at index: Int) -> Double {
        script.frames.indices.contains(index) ? script.frames[index].duration : 0
    }

    package func frame(at index: Int) throws(WebImageError) -> Image {
        guard script.frames.indices.contains(index) else {
            throw WebImageError(.badImageData, "there is no frame \(index) in an animation of \(frameCount)")
        }
        let pixels = try state.withLock { (state) throws(WebImageError) in try picture(of: index, &state) }
        let isWide = options.pixelFormat == .rgbaHalfPremultiplied
        return Image(
            bitmap: isWide ? try pixels.converted(to: .rgbaHalfPremultiplied) : pixels,
            scale: options.scaleFactor,
            metadata: metadata,
            decodeOptions: options
        )
    }

    private func picture(of index: Int, _ state: inout State) throws(WebImageError) -> Bitmap {
        var canvas: AnimationCanvas
        if let existing = state.canvas {
            canvas = existing
        } else {
            canvas = try AnimationCanvas(width: script.width, height: script.height)
        }
        let steps = script.steps(to: index, from: state.current)
        // Until all is drawn it shows nothing of use.
        state = State(canvas: canvas, current: nil)
        for step in steps { try perform(step, on: &canvas) }
        let upright = try canvas.picture(
            width: plan.width,
            height: plan.height,
            isOpaque: script.isOpaque && options.pixelFormat != .bgra8Premultiplied,
            quality: options.scalingQuality
        )
        .upright(from: plan.orientation)
        state = State(canvas: canvas, current: index)
        return upright
    }

    private func perform(_ step: CompositionScript.Step, on canvas: inout AnimationCanvas) throws(WebImageError) {
        switch step {
        case .clear: canvas.clear()
        case .draw(let index, let saves):
            let frame = script.frames[index]
            // Nothing is stored of an empty one.
            guard frame.width > 0, frame.height > 0 else { return }
            try canvas.draw(try decode(index), frame, saves: saves)
        case .erase(let index): canvas.erase(script.frames[index])
        case .restore: canvas.restore()
        }
    }

    /// Each frame is a picture of its own.
    private var metadata: ImageMetadata {
        var metadata = ImageAssembler.metadata(properties, plan, options)
        (metadata.frameCount, metadata.loopCount) = (1, 0)
        return metadata
    }
}
