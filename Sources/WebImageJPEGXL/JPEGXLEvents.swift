import CJPEGXL
import FoundationEssentials
import WebImageCodecs

/// A libjxl decoder that reads one file from memory and stops at events. For one thread at a time.
///
/// The bytes are passed again for each step, since their address may change in between.
final class JPEGXLEvents {
    let decoder: OpaquePointer
    private var data: Data
    private let wanted: Int32
    private var readCount = 0
    /// The largest number of bytes offered so far.
    private var readableCount: Int
    /// The number of events until the file is rejected: a file can contain endless boxes.
    private var eventsLeft: Int

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ data: Data, _ events: UInt32) throws(WebImageError) {
        guard let decoder = JxlDecoderCreate(nil) else {
            throw WebImageError(.outOfMemory, "no memory to decode JPEG XL")
        }
        self.decoder = decoder
        self.data = data
        readableCount = data.count
        wanted = Int32(bitPattern: events)
        eventsLeft = Self.mostEvents(data.count)
        configure()
    }

    /// Cannot fail before decoding has begun.
    private func configure() {
        _ = JxlDecoderSubscribeEvents(decoder, wanted)
        // The assembler applies the orientation.
        _ = JxlDecoderSetKeepOrientation(decoder, 1)
    }

    deinit { JxlDecoderDestroy(decoder) }

    /// Decodes on the caller's thread and others, `count` in all; to be called before decoding has begun.
    func useThreads(_ count: Int) {
        guard count > 1 else { return }
        _ = JxlDecoderSetParallelRunner(decoder, webimage_jxl_run, UnsafeMutableRawPointer(bitPattern: count))
    }

    /// Returns the maximum number of events of a file: a generous bound, since each event needs at least a byte.
    private static func mostEvents(_ byteCount: Int) -> Int { byteCount * 4 + 64 }

    /// Sets the available bytes: at least as many as before, with the same beginning. They are kept until the next call.
    func offer(_ data: Data) {
        eventsLeft += max(data.count - readableCount, 0) * 4
        readableCount = max(data.count, readableCount)
        self.data = data
    }

    /// Decodes up to the next event.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for damaged data, and for data that ends too early.
    func next() throws(WebImageError) -> JxlDecoderStatus {
        guard let status = try nextIfThere() else {
            throw WebImageError(.badImageData, "JPEG XL: the data ends too early")
        }
        return status
    }

    /// Decodes up to the next event; returns nil when its bytes are not there.
    ///
    /// - Throws: ``WebImageError/Code/badImageData`` for damaged data.
    func nextIfThere() throws(WebImageError) -> JxlDecoderStatus? {
        eventsLeft -= 1
        guard eventsLeft >= 0 else { throw WebImageError(.badImageData, "JPEG XL: too many boxes or frames") }
        let status = data.withUnsafeBytes { bytes -> JxlDecoderStatus in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[min(readCount, bytes.count)...])
            let start = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard JxlDecoderSetInput(decoder, start, rest.count) == JXL_DEC_SUCCESS else { return JXL_DEC_ERROR }
            let status = JxlDecoderProcessInput(decoder)
            readCount = bytes.count - JxlDecoderReleaseInput(decoder)
            return status
        }
        switch status {
        case JXL_DEC_ERROR: throw WebImageError(.badImageData, "JPEG XL: the file is damaged")
        case JXL_DEC_NEED_MORE_INPUT: return nil
        default: return status
        }
    }

    /// Goes back to the beginning, and skips to a frame without returning those before it.
    func rewind(toFrame index: Int) {
        // JxlDecoderRewind of libjxl 0.7 leaves the decoder at its end.
        JxlDecoderReset(decoder)
        configure()
        readCount = 0
        skip(index)
    }

    /// Skips frames; decodes only those that later frames need.
    func skip(_ count: Int) {
        eventsLeft = Self.mostEvents(readableCount)
        if count > 0 { JxlDecoderSkipFrames(decoder, count) }
    }
}
