public import FoundationEssentials

/// Decodes pictures in worker processes, and everything else as another coder does.
///
/// Results are those of decoding in this process, to the bit, as far as the worker has the same coders: those that were registered before
/// ``DecodeWorker/runIfRequested(coder:)`` in the worker's program, whatever this process has. Nothing of a picture of an isolated format is
/// read by a decoder of this process: header, frames and what a decode needs of memory come from workers, too, and there are no previews of
/// it while it arrives. Options of coders of one's own (``ImageDecodeOptions/values``) do not reach workers.
///
/// Loads do not need it: see ``WebImageContext/decoding``. Methods block the thread that calls them, as those of every coder. A decode
/// that nobody waits for any more is not broken off.
public final class IsolatedImageCoder: AnimatedImageCoder, AnimatedImageEncoder {
    /// How pictures are decoded.
    public let isolation: DecodeIsolation
    /// What encodes, and decodes what is not isolated.
    public let base: any ImageCoder
    /// What a program can do that has no worker: the end of that error's message.
    private let advice: String

    /// A coder.
    ///
    /// - Parameters:
    ///   - isolation: what is decoded in workers, and how.
    ///   - base: what encodes, and decodes other formats in this process.
    public convenience init(_ isolation: DecodeIsolation = DecodeIsolation(), base: any ImageCoder) {
        self.init(isolation, base: base, advice: "")
    }

    package init(_ isolation: DecodeIsolation, base: any ImageCoder, advice: String) {
        (self.isolation, self.base, self.advice) = (isolation, base, advice)
    }

    /// Whether bytes are decoded in a worker.
    func isolates(_ data: Data) -> Bool {
        guard !DecodingPlace.isWorker else { return false }
        guard let formats = isolation.formats else { return true }
        return formats.contains(ImageFormat(detecting: data))
    }

    /// Whether the coder that it takes the place of takes the data.
    public func canDecode(_ data: Data) -> Bool { base.canDecode(data) }

    /// What a worker finds in the header.
    ///
    /// - Throws: also ``WebImageError/Code/decoderCrashed``, ``WebImageError/Code/decodeTimedOut``,
    ///   ``WebImageError/Code/decoderUnavailable``.
    public func properties(of data: Data, limits: ImageLimits) throws(WebImageError) -> ImageProperties {
        guard isolates(data) else { return try base.properties(of: data, limits: limits) }
        guard case .properties(let properties) = try ask(.properties(limits), data).0 else { throw Self.otherAnswer }
        return properties
    }

    /// What a worker says that the decode takes: of its memory, and of this process's the pixels.
    ///
    /// - Throws: as ``properties(of:limits:)``.
    public func memoryNeed(of data: Data, options: ImageDecodeOptions) throws(WebImageError) -> DecodeMemoryNeed {
        guard isolates(data) else { return try base.memoryNeed(of: data, options: options) }
        guard case .need(let need) = try ask(.need(options), data).0 else { throw Self.otherAnswer }
        return need
    }

    /// The picture that a worker makes. Its pixels lie in memory of the worker's, which outlives that.
    ///
    /// - Throws: as ``properties(of:limits:)``, and what the worker's coder throws.
    public func decode(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) -> Image {
        guard isolates(data) else { return try base.decode(data, options: options) }
        return try image(.decode(options), data, options)
    }

    /// The frames, each made by a worker when it is asked for. One worker keeps what the next frame is drawn on, until others need it.
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

    /// Whether the other coder writes the format.
    public func canEncode(to format: ImageFormat) -> Bool { base.canEncode(to: format) }

    /// Encodes in this process, with the other coder.
    public func encode(
        _ image: Image,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data { try base.encode(image, to: format, options: options) }

    /// Whether the other coder writes animations in the format.
    public func canEncodeAnimation(to format: ImageFormat) -> Bool {
        (base as? any AnimatedImageEncoder)?.canEncodeAnimation(to: format) ?? false
    }

    /// Encodes in this process, with the other coder.
    public func encode(
        _ animation: any AnimatedImageProvider,
        to format: ImageFormat,
        options: ImageEncodeOptions
    ) throws(WebImageError) -> Data {
        guard let base = base as? any AnimatedImageEncoder else {
            throw WebImageError(.unsupportedFormat, "the coder writes no animations")
        }
        return try base.encode(animation, to: format, options: options)
    }
}

extension IsolatedImageCoder: ProgressiveImageCoder {
    /// False for what is decoded in workers; else as the other coder says.
    public func canDecodeIncrementally(_ data: Data) -> Bool {
        !isolates(data) && (base as? any ProgressiveImageCoder)?.canDecodeIncrementally(data) ?? false
    }

    /// The other coder's, for pictures that it can begin with.
    public func makeProgressiveDecoder(options: ImageDecodeOptions) -> any ProgressiveImageDecoder {
        (base as? any ProgressiveImageCoder)?.makeProgressiveDecoder(options: options) ?? NoPreviews()
    }
}

/// Refuses: nobody who asked whether there are previews gets here.
private final class NoPreviews: ProgressiveImageDecoder {
    var properties: ImageProperties? { nil }

    func update(_ data: Data, isFinished: Bool) throws(WebImageError) {
        throw WebImageError(.unsupportedFormat, "the coder decodes nothing while it arrives")
    }

    func image(maximumPreviewPixelCount: Int) throws(WebImageError) -> Image? { nil }
}

extension IsolatedImageCoder: PlacedCoder {
    /// The queue whose threads wait for workers that decode such data; nil for what is decoded in this process.
    package func queue(for data: Data) -> WorkQueue? {
        isolates(data) ? pool(for: data).queue : (base as? any PlacedCoder)?.queue(for: data)
    }

    package var memoryDomain: String { isolation.domain }
}

extension IsolatedImageCoder {
    private static let otherAnswer = WebImageError(.decoderCrashed, "the decoder answered another question")

    func pool(for data: Data) -> WorkerPool { WorkerPools.pool(isolation, WorkerKind(ImageFormat(detecting: data))) }

    /// Has a worker do it; what the decoder says is wrong with the picture is thrown.
    func ask(_ task: IsolationTask, _ data: Data) throws(WebImageError) -> (IsolationAnswer, PixelStorage?) {
        guard !data.isEmpty else { throw WebImageError(.badImageData, "there is no data") }
        let most = task.limits.maximumEncodedByteCount
        guard data.count <= most else {
            throw .limitExceeded("maximumEncodedByteCount", allowed: most, required: data.count)
        }
        let seconds = seconds(for: data, task.limits)
        let answer: (IsolationAnswer, PixelStorage?)
        do throws(WebImageError) {
            answer = try pool(for: data).perform(task, data, seconds: seconds > 0.01 ? min(seconds, 1e6) : 0.01)
        } catch {
            guard error.code == .decoderUnavailable, !advice.isEmpty else { throw error }
            throw WebImageError(error.code, "\(error.message); \(advice)")
        }
        if case .failure(let error) = answer.0 { throw error }
        return answer
    }

    /// Decoders look at the time that the limits leave them. What draws SVG does not, so its worker is ended.
    private func seconds(for data: Data, _ limits: ImageLimits) -> Double {
        let seconds = isolation.maximumDecodeDuration
        guard let limit = limits.maximumDecodeDuration, ImageFormat(detecting: data) == .svg else { return seconds }
        return min(seconds, limit)
    }

    /// The picture that a worker makes.
    func image(_ task: IsolationTask, _ data: Data, _ options: ImageDecodeOptions) throws(WebImageError) -> Image {
        guard case (.image(let picture), let pixels?) = try ask(task, data) else { throw Self.otherAnswer }
        // That they fit into the memory has been checked.
        let bitmap = Bitmap(
            width: picture.width,
            height: picture.height,
            bytesPerRow: picture.bytesPerRow,
            pixelFormat: picture.pixelFormat,
            storage: pixels,
            byteOffset: picture.byteOffset
        )
        return Image(
            bitmap: bitmap,
            scale: options.scaleFactor,
            orientation: picture.orientation,
            metadata: picture.metadata,
            decodeOptions: options
        )
    }
}
