import CJPEGXL
import FoundationEssentials
import WebImageCodecs

/// Decodes the frames of one file in order. For one thread at a time.
final class JPEGXLDecoder {
    private let events: JPEGXLEvents
    private let pixels: JPEGXLPixels
    /// The profile of the decoded pixels; known once a frame was decoded.
    private(set) var colorProfile: Data?

    /// A Boolean value that indicates whether the whole image is available at an eighth of its size, and not only some parts of it.
    private(set) var hasOverview = false

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ data: Data, pixels: JPEGXLPixels, threadCount: Int = 1) throws(WebImageError) {
        events = try JPEGXLEvents(data, JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue)
        events.useThreads(threadCount)
        self.pixels = pixels
    }

    /// Continues with events that have been read up to the colours.
    init(arriving events: JPEGXLEvents, pixels: JPEGXLPixels, limits: ImageLimits) {
        self.events = events
        self.pixels = pixels
        settleColors(limits)
    }

    func rewind(toFrame index: Int) { events.rewind(toFrame: index) }
    func skip(_ count: Int) { events.skip(count) }

    /// Reads up to the colours.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    func readColors(_ limits: ImageLimits) throws(WebImageError) {
        guard try events.next() == JXL_DEC_COLOR_ENCODING else { throw Self.noImage }
        settleColors(limits)
    }

    /// Decodes the next frame, into memory of `bytesPerRow` bytes for each row, including the last one.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    func decode(into base: UnsafeMutableRawPointer, bytesPerRow: Int, limits: ImageLimits) throws(WebImageError) {
        guard try advance(into: base, bytesPerRow: bytesPerRow, limits: limits) else {
            throw WebImageError(.badImageData, "JPEG XL: the data ends too early")
        }
    }

    /// Renders the image decoded so far into its memory.
    ///
    /// - Returns: whether any pixels are available.
    func flush() -> Bool { JxlDecoderFlushImage(events.decoder) == JXL_DEC_SUCCESS }

    /// Decodes the available data of the next frame, each time into the same memory.
    ///
    /// - Returns: whether the frame is complete.
    /// - Throws: ``WebImageError/Code/badImageData``.
    func advance(
        into base: UnsafeMutableRawPointer,
        bytesPerRow: Int,
        limits: ImageLimits
    ) throws(WebImageError) -> Bool {
        var format = pixels.format(alignment: bytesPerRow == pixels.bytesPerRow ? 0 : 4)
        while let event = try events.nextIfThere() {
            switch event {
            case JXL_DEC_COLOR_ENCODING: settleColors(limits)
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                let capacity = bytesPerRow * pixels.height
                var needed = 0
                guard JxlDecoderImageOutBufferSize(events.decoder, &format, &needed) == JXL_DEC_SUCCESS,
                    needed <= capacity,
                    JxlDecoderSetImageOutBuffer(events.decoder, &format, base, needed) == JXL_DEC_SUCCESS
                else { throw WebImageError(.badImageData, "JPEG XL: a frame's size differs from the image's") }
            case JXL_DEC_FRAME_PROGRESSION: hasOverview = true
            case JXL_DEC_FULL_IMAGE:
                straighten(base, bytesPerRow)
                return true
            default: throw Self.noImage
            }
        }
        return false
    }

    private static var noImage: WebImageError { WebImageError(.badImageData, "JPEG XL: the file has no image") }

    private func settleColors(_ limits: ImageLimits) {
        if pixels.asksForSRGB {
            var encoding = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&encoding, pixels.isGray ? 1 : 0)
            if JxlDecoderSetPreferredColorProfile(events.decoder, &encoding) == JXL_DEC_SUCCESS { return }
        }
        // If the file has code points, its pixels are decoded in those colours.
        guard pixels.color == nil else { return }
        colorProfile = JPEGXLHeader.profile(events.decoder, JXL_COLOR_PROFILE_TARGET_DATA, limits)
    }

    private func straighten(_ base: UnsafeMutableRawPointer, _ bytesPerRow: Int) {
        guard pixels.isPremultiplied else { return }
        for row in 0..<pixels.height { pixels.straighten(base + row * bytesPerRow) }
    }
}
