package import FoundationEssentials

/// One picture of a certain format while it arrives: what ``ArrivingPictureDecoder`` makes a progressive decoder of.
package protocol ArrivingPicture: AnyObject {
    /// What is known of the file, from when the size is.
    var properties: ImageProperties? { get }

    /// Goes on with what has come.
    ///
    /// - Returns: false when the picture is one that must be whole to be decoded: no call follows.
    /// - Throws: what decoding throws. With `isFinished`, also that bytes are missing.
    func advance(_ data: Data, isFinished: Bool) throws(WebImageError) -> Bool

    /// What there is to see.
    func preview(maximumPixelCount: Int) throws(WebImageError) -> Image?

    /// The picture, after a call of ``advance(_:isFinished:)`` that finished it.
    func image() throws(WebImageError) -> Image

    /// Says when the next call must be over. Decoders that make a picture in few steps end only after one.
    func limit(to deadline: DecodeDeadline)

    /// What a preview costs for what is missing, as a part of decoding that; see ``ProgressiveImageDecoder``.
    var missingPartPreviewCost: Double { get }
}

extension ArrivingPicture {
    package var missingPartPreviewCost: Double { 0 }
    package func limit(to deadline: DecodeDeadline) {}
}

/// Decodes a picture while it arrives, or at its end if it is one that cannot be decoded in parts.
///
/// ``ImageLimits/maximumDecodeDuration`` bounds what all calls take together, previews among them.
package final class ArrivingPictureDecoder: ProgressiveImageDecoder {
    private struct State {
        /// Nil when the picture has to be whole, after an error, and after the end.
        var picture: (any ArrivingPicture)?
        var properties: ImageProperties?
        /// Nil without a limit of time.
        var watch: DecodeStopwatch?
        var byteCount = 0
        var isFinished = false
        var image: Image?
        var error: WebImageError?
    }

    private let coder: any ImageCoder
    private let options: ImageDecodeOptions
    // Held while decoding: nobody else has anything to do here meanwhile.
    private let state: Lock<State>

    /// - Parameter coder: decodes the whole where that is needed.
    package init(_ picture: sending any ArrivingPicture, coder: any ImageCoder, options: ImageDecodeOptions) {
        self.coder = coder
        self.options = options
        state = Lock(State(picture: picture, watch: DecodeStopwatch(options.limits)))
    }

    package var properties: ImageProperties? { state.withLock { $0.properties } }

    package var missingPartPreviewCost: Double { state.withLock { $0.picture?.missingPartPreviewCost ?? 0 } }

    package func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
        try state.withLock { (state) throws(WebImageError) in
            if let error = state.error { throw error }
            guard !state.isFinished else { return }
            do throws(WebImageError) {
                guard data.count >= state.byteCount else {
                    throw WebImageError(.badImageData, "of \(state.byteCount) bytes there are only \(data.count) left")
                }
                state.byteCount = data.count
                try Self.timed(&state) { (state) throws(WebImageError) in
                    try advance(&state, data, isFinished: isFinished)
                }
                state.isFinished = isFinished
            } catch {
                state.error = error
                state.picture = nil
                throw error
            }
        }
    }

    /// Makes a call within the time that is left.
    private static func timed<Value>(
        _ state: inout State,
        _ body: (inout State) throws(WebImageError) -> Value
    ) throws(WebImageError) -> Value {
        guard var watch = state.watch else { return try body(&state) }
        defer { state.watch = watch }
        return try watch.measure { (deadline) throws(WebImageError) in
            state.picture?.limit(to: deadline)
            return try body(&state)
        }
    }

    private func advance(_ state: inout State, _ data: Data, isFinished: Bool) throws(WebImageError) {
        if let picture = state.picture {
            defer { state.properties = picture.properties }
            if try !picture.advance(data, isFinished: isFinished) { state.picture = nil }
        }
        guard isFinished, state.picture == nil else { return }
        state.image = try coder.decode(data, options: options)
        state.properties = (try? coder.properties(of: data, limits: options.limits)) ?? state.properties
    }

    package func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? {
        try state.withLock { (state) throws(WebImageError) in
            if let image = state.image { return image }
            guard state.isFinished else {
                return try Self.timed(&state) { (state) throws(WebImageError) in
                    try state.picture?.preview(maximumPixelCount: maximumPreviewPixelCount)
                }
            }
            state.image = try Self.timed(&state) { (state) throws(WebImageError) in try state.picture?.image() }
            state.picture = nil
            return state.image
        }
    }
}
