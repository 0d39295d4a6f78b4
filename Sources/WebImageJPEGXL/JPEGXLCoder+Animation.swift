public import FoundationEssentials
public import WebImageCodecs

extension JPEGXLCoder: AnimatedImageCoder {
    /// Opens an animation by reading the headers of its frames.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        try JPEGXLAnimation(data, options: options)
    }
}

/// The frames of a JPEG XL file.
///
/// Holds the encoded bytes and one decoder, which composes the frames. In order, each frame is decoded once. A step back restarts at the first frame,
/// and libjxl decodes the frames on which the requested one depends.
final class JPEGXLAnimation: MeasuredAnimation {
    private struct State {
        var decoder: JPEGXLDecoder?
        /// The next frame of the decoder.
        var next = 0
    }

    let animatedImageData: Data?
    let frameCount: Int
    let loopCount: Int
    private let durations: [Double]
    private let data: Data
    private let properties: ImageProperties
    private let plan: DecodePlan
    private let options: ImageDecodeOptions
    private let pixels: JPEGXLPixels
    let frameMemoryNeed: FrameMemoryNeed?
    // Held while a frame is decoded.
    private let state = Lock(State())

    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``.
    init(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) {
        let header = try JPEGXLHeader(data, limits: options.limits, wantsFrames: !options.decodeFirstFrameOnly)
        properties = header.properties
        plan = try DecodePlan.make(for: properties, options: options)
        pixels = try JPEGXLPixels(header, options: options)
        durations = properties.frameDurations
        frameCount = properties.frameCount
        loopCount = properties.loopCount
        let (need, kept) = JPEGXLCoder.memoryNeed(header, plan, pixels, options)
        frameMemoryNeed = FrameMemoryNeed(need, keptBesides: kept)
        animatedImageData = data
        self.data = data
        self.options = options
    }

    func duration(at index: Int) -> Double { durations.indices.contains(index) ? durations[index] : 0 }

    func releaseDecoder() {
        // Released outside the lock.
        let former = state.withLock { state in
            defer { state = State() }
            return state.decoder
        }
        _ = former
    }

    func frame(at index: Int) throws(WebImageError) -> Image {
        guard index >= 0, index < frameCount else {
            throw WebImageError(.badImageData, "frame index \(index) is out of range (frame count \(frameCount))")
        }
        let image = try state.withLock { (state) throws(WebImageError) in try decode(index, &state) }
        var metadata = image.metadata
        (metadata.frameCount, metadata.loopCount) = (1, 0)
        return image.with(metadata: metadata)
    }

    private func decode(_ index: Int, _ state: inout State) throws(WebImageError) -> Image {
        let decoder = try decoder(at: index, &state)
        // The state of the decoder is unknown until the frame is complete.
        state = State()
        let rows = JPEGXLRows(decoder, pixels: pixels, limits: options.limits)
        let image = try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        state = State(decoder: decoder, next: index + 1)
        return image
    }

    private func decoder(at index: Int, _ state: inout State) throws(WebImageError) -> JPEGXLDecoder {
        guard let decoder = state.decoder else {
            let decoder = try JPEGXLDecoder(data, pixels: pixels)
            try decoder.readColors(options.limits)
            decoder.skip(index)
            return decoder
        }
        if index < state.next {
            decoder.rewind(toFrame: index)
        } else {
            decoder.skip(index - state.next)
        }
        return decoder
    }
}
