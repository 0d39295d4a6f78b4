package import FoundationEssentials

/// An incremental decode of one image of a certain format, from which ``IncrementalImageDecoder`` makes a progressive decoder.
package protocol IncrementalImage: AnyObject {
    /// The properties of the file, once its size is known.
    var properties: ImageProperties? { get }

    /// Continues with newly received data.
    ///
    /// - Returns: false when the image must be complete to be decoded: no call follows.
    /// - Throws: the errors of decoding. With `isFinished`, also an error for missing bytes.
    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool

    /// Returns an image of the pixels decoded so far.
    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image?

    /// Returns the image, after the call of ``advance(_:isFinished:)`` that finished it.
    func image() throws(WebImageError) -> Image

    /// Sets the deadline of the next call. Decoders that decode in few steps may only check it after one.
    func limit(to deadline: DecodeDeadline)

    /// The cost of a preview for the missing part of the image, as a fraction of decoding that part; see ``ProgressiveImageDecoder``.
    var missingPartPreviewCost: Double { get }
}

extension IncrementalImage {
    package var missingPartPreviewCost: Double { 0 }
    package func limit(to deadline: DecodeDeadline) {}
}

/// Decodes an image incrementally, or at the end if its format cannot be decoded in parts.
///
/// ``ImageLimits/maximumDecodeDuration`` limits the total time of all calls, including previews.
package final class IncrementalImageDecoder: ProgressiveImageDecoder {
    private struct State {
        /// Nil when the image has to be complete, after an error, and after the end.
        var incremental: (any IncrementalImage)?
        var properties: ImageProperties?
        /// Nil without a time limit.
        var watch: DecodeStopwatch?
        var byteCount = 0
        var isFinished = false
        var image: Image?
        var error: WebImageError?
    }

    private let coder: any ImageCoder
    private let options: ImageDecodeOptions
    // Held while decoding: all other calls have to wait for its result anyway.
    private let state: Lock<State>

    /// - Parameter coder: decodes the complete data if the image cannot be decoded in parts.
    package init(_ incremental: sending any IncrementalImage, coder: any ImageCoder, options: ImageDecodeOptions) {
        self.coder = coder
        self.options = options
        state = Lock(State(incremental: incremental, watch: DecodeStopwatch(options.limits)))
    }

    package var properties: ImageProperties? { state.withLock { $0.properties } }

    package var missingPartPreviewCost: Double { state.withLock { $0.incremental?.missingPartPreviewCost ?? 0 } }

    package func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
        try state.withLock { (state) throws(WebImageError) in
            if let error = state.error { throw error }
            guard !state.isFinished else { return }
            do throws(WebImageError) {
                guard data.count >= state.byteCount else {
                    throw WebImageError(.badImageData, "the data shrank from \(state.byteCount) to \(data.count) bytes")
                }
                state.byteCount = data.count
                try Self.timed(&state) { (state) throws(WebImageError) in
                    try advance(&state, data, isFinished: isFinished)
                }
                state.isFinished = isFinished
            } catch {
                state.error = error
                state.incremental = nil
                throw error
            }
        }
    }

    /// Makes a call within the remaining time.
    private static func timed<Value>(
        _ state: inout State,
        _ body: (inout State) throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value {
        guard var watch = state.watch else { return try body(&state) }
        defer { state.watch = watch }
        return try watch.measure { (deadline) throws(WebImageError) in
            state.incremental?.limit(to: deadline)
            return try body(&state)
        }
    }

    private func advance(_ state: inout State, _ data: Data, isFinished: Bool) throws(WebImageError) {
        if let incremental = state.incremental {
            defer { state.properties = incremental.properties }
            if try !incremental.advance(data, isFinished: isFinished) { state.incremental = nil }
        }
        guard isFinished, state.incremental == nil else { return }
        state.image = try coder.decode(data, options: options)
        state.properties = (try? coder.properties(of: data, limits: options.limits)) ?? state.properties
    }

    package func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? {
        try state.withLock { (state) throws(WebImageError) in
            if let image = state.image { return image }
            guard state.isFinished else {
                return try Self.timed(&state) { (state) throws(WebImageError) in
                    try state.incremental?.preview(maximumPixelCount: maximumPreviewPixelCount)
                }
            }
            state.image = try Self.timed(&state) { (state) throws(WebImageError) in try state.incremental?.image() }
            state.incremental = nil
            return state.image
        }
    }
}
