public import FoundationEssentials
public import WebImageCodecs

extension AVIFCoder: AnimatedImageCoder {
    /// Opens a sequence. A file without a loop count plays infinitely.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``, ``WebImageError/Code/outOfMemory``.
    public func animation(
        of data: Data,
        options: ImageDecodeOptions
    ) throws(WebImageError) -> any AnimatedImageProvider {
        try AVIFAnimation(data, options: options)
    }
}

/// The frames of an AVIF sequence.
///
/// Holds the encoded bytes and one decoder. In order, each frame is decoded once; a step back starts at the nearest key frame.
final class AVIFAnimation: MeasuredAnimation {
    let animatedImageData: Data?
    let frameCount: Int
    let loopCount: Int
    private let durations: [Double]
    private let properties: ImageProperties
    private let plan: DecodePlan
    private let options: ImageDecodeOptions
    // libavif requires the bytes to stay at one address.
    private let bytes: PixelStorage
    let frameMemoryNeed: FrameMemoryNeed?
    /// The decoder; nil after it has failed or was released. The lock is held while a frame is decoded.
    private let file: Lock<AVIFFile?>

    /// - Throws: ``WebImageError/Code/badImageData``, ``WebImageError/Code/limitExceeded``,
    ///   ``WebImageError/Code/outOfMemory``.
    init(_ data: Data, options: ImageDecodeOptions) throws(WebImageError) {
        guard !data.isEmpty else { throw WebImageError(.badImageData, "the data is empty") }
        bytes = try .allocate(byteCount: data.count)
        data.withUnsafeBytes { [bytes] in
            UnsafeMutableRawBufferPointer(start: bytes.base, count: bytes.byteCount).copyMemory(from: $0)
        }
        let file = try AVIFFile(bytes.withUnsafeBytes { $0 }, limits: options.limits)
        var properties = file.properties
        if options.decodeFirstFrameOnly { (properties.frameCount, properties.loopCount) = (1, 0) }
        plan = try DecodePlan.make(for: properties, options: options)
        self.properties = properties
        durations = properties.frameDurations
        frameCount = properties.frameCount
        loopCount = properties.loopCount
        animatedImageData = data
        self.options = options
        let kept = file.keptByteCount
        frameMemoryNeed = try? FrameMemoryNeed(AVIFCoder.memoryNeed(file, plan, options), keptBesides: kept)
        self.file = Lock(file)
    }

    func duration(at index: Int) -> Double {
        index >= 0 && index < frameCount && index < durations.count ? durations[index] : 0
    }

    func releaseDecoder() {
        // Released outside the lock.
        let former = file.withLock { file in
            defer { file = nil }
            return file
        }
        _ = former
    }

    func frame(at index: Int) throws(WebImageError) -> Image {
        guard index >= 0, index < frameCount else {
            throw WebImageError(.badImageData, "frame index \(index) is out of range (frame count \(frameCount))")
        }
        let image = try file.withLock { (file) throws(WebImageError) in try decode(index, &file) }
        var metadata = image.metadata
        (metadata.frameCount, metadata.loopCount) = (1, 0)
        return image.with(metadata: metadata)
    }

    private func decode(_ index: Int, _ file: inout AVIFFile?) throws(WebImageError) -> Image {
        let opened: AVIFFile
        if let file {
            opened = file
        } else {
            opened = try AVIFFile(bytes.withUnsafeBytes { $0 }, limits: options.limits)
        }
        // After a failure the state of a decoder is unknown.
        file = nil
        try opened.decode(index)
        let rows = try AVIFRows(opened, options: options)
        let image = try ImageAssembler.makeImage(from: rows, properties: properties, plan: plan, options: options)
        file = opened
        return image
    }
}
