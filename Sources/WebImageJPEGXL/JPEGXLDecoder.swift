import CJPEGXL
import CPixels
import FoundationEssentials
import WebImage

/// Decodes the frames of one file one after the other. For one thread at a time.
final class JPEGXLDecoder {
    private let events: JPEGXLEvents
    private let pixels: JPEGXLPixels
    /// The profile of the pixels as they come; known once a frame was decoded.
    private(set) var colorProfile: Data?

    /// - Throws: ``WebImageError/Code/outOfMemory``.
    init(_ data: Data, pixels: JPEGXLPixels) throws(WebImageError) {
        events = try JPEGXLEvents(data, JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue)
        self.pixels = pixels
    }

    func rewind(toFrame index: Int) { events.rewind(toFrame: index) }
    func skip(_ count: Int) { events.skip(count) }

    /// Reads up to what the colours are.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    func readColors(_ limits: ImageLimits) throws(WebImageError) {
        guard try events.next() == JXL_DEC_COLOR_ENCODING else { throw Self.noPicture }
        settleColors(limits)
    }

    /// Decodes the next frame, into memory of `bytesPerRow` bytes for each row, the last one too.
    ///
    /// - Throws: ``WebImageError/Code/badImageData``.
    func decode(into base: UnsafeMutableRawPointer, bytesPerRow: Int, limits: ImageLimits) throws(WebImageError) {
        var format = pixels.format(alignment: bytesPerRow == pixels.bytesPerRow ? 0 : 4)
        while true {
            switch try events.next() {
            case JXL_DEC_COLOR_ENCODING: settleColors(limits)
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                let capacity = bytesPerRow * pixels.height
                var needed = 0
                guard JxlDecoderImageOutBufferSize(events.decoder, &format, &needed) == JXL_DEC_SUCCESS,
                    needed <= capacity,
                    JxlDecoderSetImageOutBuffer(events.decoder, &format, base, needed) == JXL_DEC_SUCCESS
                else { throw WebImageError(.badImageData, "JPEG XL: a frame has not the size of the picture") }
            case JXL_DEC_FULL_IMAGE: return straighten(base, bytesPerRow)
            default: throw Self.noPicture
            }
        }
    }

    private static var noPicture: WebImageError { WebImageError(.badImageData, "JPEG XL: the file has no picture") }

    private func settleColors(_ limits: ImageLimits) {
        if pixels.asksForSRGB {
            var encoding = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&encoding, pixels.isGray ? 1 : 0)
            if JxlDecoderSetPreferredColorProfile(events.decoder, &encoding) == JXL_DEC_SUCCESS { return }
        }
        // Where the file has code points, pixels come in their colours.
        guard pixels.color == nil else { return }
        colorProfile = JPEGXLHeader.profile(events.decoder, JXL_COLOR_PROFILE_TARGET_DATA, limits)
    }

    private func straighten(_ base: UnsafeMutableRawPointer, _ bytesPerRow: Int) {
        guard pixels.isPremultiplied else { return }
        for row in 0..<pixels.height {
            let line = base + row * bytesPerRow
            if pixels.layout == .rgbaFloat {
                cpixels_unpremultiply_floats(line.assumingMemoryBound(to: Float.self), pixels.width)
            } else {
                // The order of the colours does not matter to it.
                let bytes = line.assumingMemoryBound(to: UInt8.self)
                cpixels_unpremultiply_bgra_to_bgra(bytes, bytes, pixels.width)
            }
        }
    }
}
