public import FoundationEssentials

/// Decodes images in worker processes, and uses another coder for everything else.
///
/// Results are identical, to the bit, to decoding in this process, as far as the worker has the same coders: those that were
/// registered before ``DecodeWorker/runIfRequested(coder:)`` in the worker's program, whatever this process has. No decoder of this
/// process reads any part of an image of an isolated format: header, frames and the memory estimate also come from workers, and
/// there are no previews of it during the download. Options of custom coders (``ImageDecodeOptions/values``) are not sent to
/// workers.
///
/// Loads do not need it: see ``WebImageContext/decoding``. Methods block the calling thread, like those of every coder. A running
/// decode is not stopped when its load is cancelled.
public final class IsolatedImageCoder: AnimatedImageCoder, AnimatedImageEncoder {
    /// The settings of the workers.
    package let isolation: DecodeIsolation
    /// The coder that encodes, and decodes formats that are not isolated.
    package let base: any ImageCoder
    /// The advice for a program without a worker, appended to that error's message.
    private let advice: String

    /// Creates a coder.
    ///
    /// - Parameters:
    ///   - isolation: the formats that are decoded in workers, and the settings of the workers.
    ///   - base: the coder that encodes, and decodes other formats in this process.
    public convenience init(_ isolation: DecodeIsolation = DecodeIsolation(), base: any ImageCoder) {
        self.init(isolation, base: base, advice: "")
    }

    package init(_ isolation: DecodeIsolation, base: any ImageCoder, advice: String) {
        (self.isolation, self.base, self.advice) = (isolation, base, advice)
    }

    /// Returns whether the data is decoded in a worker.
    func isolates(_ data: Data) -> Bool {
        guard !DecodingPlace.isWorker else { return false }
        guard let formats = isolation.formats else { return true }
        return formats.contains(ImageFormat(detecting: data))
    }

    /// Returns whether the base coder decodes the data.
    public func canDecode(_ data: Data) -> Bool { base.canDecode(data) }

    /// Reads the header in a worker.
    ///
    /// - Throws: also ``WebImageError/Code/decoderCrashed``, ``WebImageError/Code/decodeTimedOut``,
    ///   ``WebImageError/Code/decoderUnavailable``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        guard isolates(data) else { return try base.properties(of: data, limits: limits) }
        return try checked(try ask(.properties(limits), data).0, of: data, limits)
    }

    /// Returns a worker's memory estimate for the decode: the working memory is the worker's, the pixels also count in this
    /// process.
    ///
    /// - Throws: as ``properties(of:limits:)``.
    public func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        guard isolates(data) else { return try base.memoryNeed(of: data, options: options) }
        guard case .need(let need) = try ask(.need(options), data).0 else { throw Self.otherAnswer }
        return need
    }

    /// Decodes the image in a worker. Its pixels are in the worker's shared memory, which outlives the worker.
    ///
    /// - Throws: as ``properties(of:limits:)``, and what the worker's coder throws.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        guard isolates(data) else { return try base.decode(data, options: options) }
        return try image(.decode(options), data, options)
    }

    /// Opens an animation whose frames are decoded by workers on demand. One worker keeps the canvas for the next frame, until
    /// other images need it.
    ///
    /// - Throws: as ``properties(of:limits:)``, and what the worker's coder throws.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        if isolates(data) { return try IsolatedAnimation(self, data, options) }
        guard let base = base as? any AnimatedImageCoder else {
            throw WebImageError(.unsupportedFormat, "the coder decodes only the first frame of animations")
        }
        return try base.animation(of: data, options: options)
    }

    /// Returns whether the base coder encodes the format.
    public func canEncode(to format: ImageFormat) -> Bool { base.canEncode(to: format) }

    /// Encodes in this process, with the base coder.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data { try base.encode(image, to: format, options: options) }

    /// Returns whether the base coder encodes animations in the format.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool {
        (base as? any AnimatedImageEncoder)?.canEncodeAnimation(to: format) ?? false
    }

    /// Encodes in this process, with the base coder.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard let base = base as? any AnimatedImageEncoder else {
            throw WebImageError(.unsupportedFormat, "the coder cannot encode animations")
        }
        return try base.encode(animation, to: format, options: options)
    }
}

extension IsolatedImageCoder: ProgressiveImageCoder {
    /// Returns false for data that is decoded in workers; else the result of the base coder.
    public func canDecodeIncrementally(_ data: Data) -> Bool {
        !isolates(data) && (base as? any ProgressiveImageCoder)?.canDecodeIncrementally(data) ?? false
    }

    /// Returns the base coder's decoder, for images that it can decode progressively.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        (base as? any ProgressiveImageCoder)?.makeProgressiveDecoder(options: options) ?? NoPreviews()
    }
}

/// Refuses all data. Not reached by callers that check ``canDecodeIncrementally(_:)``.
private final class NoPreviews: ProgressiveImageDecoder {
    var properties: ImageProperties? { nil }

    func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
        throw WebImageError(.unsupportedFormat, "the coder does not decode progressively")
    }

    func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? { nil }
}

extension IsolatedImageCoder: OutOfProcessCoder {
    /// The queue whose threads wait for workers that decode such data; nil for data that is decoded in this process.
    package func queue(for data: Data) -> WorkQueue? {
        isolates(data) ? pool(for: data).queue : (base as? any OutOfProcessCoder)?.queue(for: data)
    }

    package var memoryDomain: String { isolation.domain }
}

extension IsolatedImageCoder {
    static let otherAnswer = WebImageError(.decoderCrashed, "the decoder answered another request")

    func pool(for data: Data) -> WorkerPool { WorkerPools.pool(isolation, WorkerKind(ImageFormat(detecting: data))) }

    /// Performs a task in a worker; throws the errors that the decoder reports about the image.
    func ask(_ task: IsolationTask, _ data: Data) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        guard !data.isEmpty else { throw WebImageError(.badImageData, "there is no data") }
        let most = task.limits.maximumEncodedByteCount
        guard data.count <= most else {
            throw .limitExceeded("maximumEncodedByteCount", allowed: most, required: data.count)
        }
        return try ask(task, .data(data), beginning: data)
    }

    /// - Parameter data: the first bytes, from which the format is detected.
    private func ask(
        _ task: IsolationTask,
        _ input: WorkerInput,
        beginning data: Data
    ) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        let seconds = seconds(for: data, task.limits)
        let answer = try advised { () throws(WebImageError) in
            try pool(for: data).perform(task, input, seconds: seconds > 0.01 ? min(seconds, 1e6) : 0.01)
        }
        if case .failure(let error) = answer.0 { throw error }
        return answer
    }

    /// Appends the advice to an error about a missing worker.
    func advised<Value>(_ body: () throws(WebImageError) -> Value) throws(WebImageError) -> Value {
        do throws(WebImageError) { return try body() } catch {
            guard error.code == .decoderUnavailable, !advice.isEmpty else { throw error }
            throw WebImageError(error.code, "\(error.message); \(advice)")
        }
    }

    /// Returns the properties in an answer.
    private func checked(
        _ answer: IsolationAnswer,
        of beginning: Data,
        _ limits: ImageLimits
    ) throws(WebImageError) -> ImageProperties {
        guard case .properties(let properties) = answer else { throw Self.otherAnswer }
        // The size of a raw file's sensor is not limited, but a compromised worker may call anything a raw file.
        if properties.format == .raw, ImageFormat(detecting: beginning) != .raw {
            try limits.check(width: properties.width, height: properties.height)
        }
        return properties
    }

    /// Decoders check the time limit themselves. Those of SVG, PDF and videos do not, so their workers are killed.
    private func seconds(for data: Data, _ limits: ImageLimits) -> Double {
        let seconds = isolation.maximumDecodeDuration
        guard let limit = limits.maximumDecodeDuration, !ImageFormat(detecting: data).decoderChecksTime else {
            return seconds
        }
        return min(seconds, limit)
    }

    /// Returns the image that a worker decodes.
    func image(_ task: IsolationTask, _ data: Data, _ options: ImageDecodeOptions) throws(WebImageError) -> Image {
        try Self.image(try ask(task, data), options)
    }

    static func image(
        _ answer: (IsolationAnswer, PixelStorage?),
        _ options: ImageDecodeOptions
    ) throws(WebImageError) -> Image {
        guard case (.image(let header), let pixels?) = answer else { throw otherAnswer }
        // It has been checked that they fit into the memory.
        let bitmap = Bitmap(
            width: header.width,
            height: header.height,
            bytesPerRow: header.bytesPerRow,
            pixelFormat: header.pixelFormat,
            storage: pixels,
            byteOffset: header.byteOffset
        )
        return Image(
            bitmap: bitmap,
            scale: options.scaleFactor,
            orientation: header.orientation,
            metadata: header.metadata,
            decodeOptions: options
        )
    }
}

extension IsolatedImageCoder: ByteSourceCoder {
    package func properties(
        of source: any ImageByteSource,
        limits: ImageLimits
    ) throws(WebImageError) -> ImageProperties {
        guard isolates(source.beginning) else { return try sourceBase(source).properties(of: source, limits: limits) }
        return try checked(try ask(.properties(limits), source).0, of: source.beginning, limits)
    }

    package func memoryNeed(
        of source: any ImageByteSource,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> DecodeMemoryNeed {
        guard isolates(source.beginning) else { return try sourceBase(source).memoryNeed(of: source, options: options) }
        guard case .need(let need) = try ask(.need(options), source).0 else { throw Self.otherAnswer }
        return need
    }

    package func decode(_ source: any ImageByteSource, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        guard isolates(source.beginning) else { return try sourceBase(source).decode(source, options: options) }
        return try Self.image(try ask(.decode(options), source), options)
    }

    private func sourceBase(_ source: any ImageByteSource) throws(WebImageError) -> any ByteSourceCoder {
        try base.decodingSources(of: ImageFormat(detecting: source.beginning))
    }

    private func ask(
        _ task: IsolationTask,
        _ source: any ImageByteSource
    ) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        try ask(task, .source(source), beginning: source.beginning)
    }
}
